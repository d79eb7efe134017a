// SPDX-License-Identifier: MIT
// The OpenCL target as passes see it. Its kernels are text (opencl/kernels.hpp), run by runtime/cl_execution.hpp.
#pragma once

#include <algorithm>
#include <string_view>

#include "dnnkit/cost/gpu_facts.hpp"
#include "dnnkit/op/builtin.hpp"
#include "dnnkit/opencl/attention_family.hpp"
#include "dnnkit/opencl/normalised_family.hpp"
#include "dnnkit/opencl/planned/kernels.hpp"
#include "dnnkit/opencl/texels.hpp"
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

namespace dnnkit {

// What a device keeps the values in that its kernels hand to each other.
struct buffers {};
// Images of four numbers a texel, wherever the kernel that computes a value has four neighbours at a time and the value
// fits into one: for devices whose textures are the better memory, as those of phones are (SmartMem, section 3.3).
struct images {
  static constexpr std::int32_t side = 8192;  // texels across and down, which every device of the full profile takes
  static constexpr bool can_write(const plan_view& plan, std::size_t r, const plan::recipe_output& o) {
    return opencl::writes_texels<builtin_set>(plan, r, o);
  }
};

}  // namespace dnnkit

namespace dnnkit::targets {

template <class Memory = buffers> struct opencl_in;
using opencl = opencl_in<>;

// Kernels that compute each element on its own read buffers row-major and test where a window leaves its input.
template <> struct opencl_in<buffers> {
  static constexpr bool channels_last = false;  // nor halos

  // Stages are joined where the kernel that there is for them is expected to take less time than kernels of their own.
  struct joins {
    static constexpr const gpu_facts& facts = devices::h200;
    static constexpr auto families =
        family_list<dnnkit::opencl::planned::register_tiles, dnnkit::opencl::planned::channel_windows,
                    dnnkit::opencl::rows_apart, dnnkit::opencl::planned::work_items, dnnkit::opencl::planned::one_group,
                    dnnkit::opencl::attention, dnnkit::opencl::normalised_rows>{};
  };
};

// The same with values in images: dk::compile<model, dk::targets::opencl_in<dk::images>>.
template <class Images> struct opencl_in : opencl_in<buffers> { using images = Images; };

}  // namespace dnnkit::targets
