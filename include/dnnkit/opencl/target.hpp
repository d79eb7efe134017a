// SPDX-License-Identifier: MIT
// The OpenCL target as passes see it. Its kernels are text (opencl/kernels.hpp), run by runtime/cl_execution.hpp.
#pragma once

#include <algorithm>
#include <string_view>

#include "dnnkit/cost/gpu_facts.hpp"
#include "dnnkit/opencl/attention_family.hpp"
#include "dnnkit/opencl/planned/kernels.hpp"
#include "dnnkit/plan/kernel_family.hpp"

namespace dnnkit::opencl {

// Softmax and other operators of rows as the kernels of grouped_rows.hpp are, for the question whether stages are
// joined: they come to half the bandwidth of L2. Fitted to the time that attention's three kernels take on an H100
// (bench_opencl attention).
struct rows_apart {
  static constexpr std::string_view name = "grouped_rows";
  static constexpr double bytes_a_microsecond = 2.4e6;

  static constexpr bool carries_out(const plan::operator_tag& anchor) { return gpu_stage::is_of_rows(anchor); }
  static constexpr kernel_match match(const kernel_spec& spec, const gpu_facts& facts) {
    gpu_work w = gpu_stage(spec).work(facts);
    w.compute = std::max(w.compute, (w.near + w.far) / bytes_a_microsecond);
    return planned::choice_of(facts, w, "a work-group a row, or several");
  }
};

}  // namespace dnnkit::opencl

namespace dnnkit::targets {

// Kernels that compute each element on its own read buffers row-major and test where a window leaves its input.
struct opencl {
  static constexpr bool channels_last = false;  // nor halos

  // Stages are joined where the kernel that there is for them is expected to take less time than kernels of their own.
  struct joins {
    static constexpr const gpu_facts& facts = devices::h200;
    static constexpr auto families =
        family_list<dnnkit::opencl::planned::register_tiles, dnnkit::opencl::planned::channel_windows,
                    dnnkit::opencl::rows_apart, dnnkit::opencl::planned::work_items, dnnkit::opencl::planned::one_group,
                    dnnkit::opencl::attention>{};
  };
};

}  // namespace dnnkit::targets
