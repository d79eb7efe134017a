// SPDX-License-Identifier: MIT
// The OpenCL target as passes see it. Its kernels are text (opencl/kernels.hpp), run by runtime/cl_execution.hpp.
#pragma once

#include "dnnkit/cost/gpu_facts.hpp"
#include "dnnkit/opencl/attention_family.hpp"
#include "dnnkit/opencl/planned/kernels.hpp"
#include "dnnkit/plan/kernel_family.hpp"

namespace dnnkit::targets {

// Kernels that compute each element on its own read buffers row-major and test where a window leaves its input.
struct opencl {
  static constexpr bool channels_last = false;  // nor halos

  // Stages are joined where the kernel that there is for them is expected to take less time than kernels of their own.
  struct joins {
    static constexpr const gpu_facts& facts = devices::h200;
    static constexpr auto families =
        family_list<dnnkit::opencl::planned::register_tiles, dnnkit::opencl::planned::channel_windows,
                    dnnkit::opencl::planned::group_rows, dnnkit::opencl::planned::work_items,
                    dnnkit::opencl::planned::one_group, dnnkit::opencl::attention>{};
  };
};

}  // namespace dnnkit::targets
