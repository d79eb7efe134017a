// SPDX-License-Identifier: MIT
// The OpenCL target as passes see it. Its kernels are text (opencl/kernels.hpp), run by runtime/cl_execution.hpp.
#pragma once

namespace dnnkit::targets {

// Kernels that compute each element on its own read buffers row-major and test where a window leaves its input.
struct opencl {
  static constexpr bool channels_last = false;  // nor halos
};

}  // namespace dnnkit::targets
