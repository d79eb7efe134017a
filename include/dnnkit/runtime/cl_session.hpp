// SPDX-License-Identifier: MIT
// Sessions (runtime/session.hpp) of networks that are compiled for OpenCL. They choose their device when their weights
// are prepared (runtime/cl_device.hpp); run() throws dnnkit::error when the platform fails.
#pragma once

#include <span>

#include "dnnkit/opencl/kernels.hpp"
#include "dnnkit/runtime/cl_execution.hpp"
#include "dnnkit/runtime/session.hpp"

namespace dnnkit {

template <> struct backend<targets::opencl> {
  using weights = cl_weights;
  using execution = cl_execution;
  static constexpr bool is_nothrow = false;
  template <class Net> static constexpr const plan_view& plan() noexcept { return Net::plan; }
  template <class Net> static std::span<const opencl::kernel_text> kernels() noexcept {
    return opencl::kernel_texts<Net>;
  }
};

}  // namespace dnnkit
