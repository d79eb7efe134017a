// SPDX-License-Identifier: MIT
// Sessions (runtime/session.hpp) of networks that are compiled for OpenCL. They are on the device of their weights:
//   dk::packed_weights<net> weights(file, dk::cl_device("NVIDIA"));
// or without one that of the environment (runtime/cl_device.hpp). run() throws dnnkit::error when the platform fails.
// start(), which takes ranges as run() does, returns without waiting (runtime/cl_run.hpp).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "dnnkit/opencl/kernels.hpp"
#include "dnnkit/runtime/cl_array.hpp"
#include "dnnkit/runtime/cl_buffer.hpp"
#include "dnnkit/runtime/cl_execution.hpp"
#include "dnnkit/runtime/session.hpp"

namespace dnnkit {

template <class Memory> struct backend<targets::opencl_in<Memory>> {
  using weights = cl_weights;
  using execution = cl_execution;
  using device = cl_device;
  using memory = cl_array<std::byte>;  // for arguments of runs
  static memory make_memory(const cl_weights& weights, std::size_t bytes) { return {weights.device(), bytes}; }
  template <class T> using device_memory = cl_buffer<T>;  // the same, that stays on the device
  static constexpr bool is_nothrow = false;
  static std::vector<std::string> devices() { return cl_devices(); }
  template <class Net> static constexpr const plan_view& plan() noexcept { return Net::plan; }
  template <class Net> static std::span<const opencl::kernel_text> kernels() noexcept {
    return opencl::kernel_texts<Net>;
  }
};

}  // namespace dnnkit
