// SPDX-License-Identifier: MIT
// The kernel of a step, with arguments that stay until others are given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include "dnnkit/core/error.hpp"
#include "dnnkit/opencl/kernels.hpp"
#include "dnnkit/plan/plan.hpp"
#include "dnnkit/runtime/cl_device.hpp"
#include "dnnkit/runtime/cl_handover.hpp"

namespace dnnkit::detail {

// Where an operand lies: in which buffer of the device, and how many elements behind its beginning; or in which image.
struct cl_operand {
  cl_mem memory = nullptr;
  cl_uint first = 0;
  bool is_image = false;
};

class cl_launch {
 public:
  // Of step `s` of the plan.
  cl_launch(cl_program program, const plan_view& plan, const plan::step& s, const opencl::kernel_text& text)
      : step_("kernel '" + std::string(plan.text_of(s.name)) + "'"), work_(text.work) {
    const std::string name = "k" + std::to_string(s.kernel);
    kernel_ =
        cl_created("making " + step_, [&](cl_int* status) { return clCreateKernel(program, name.c_str(), status); });
  }
  // Throws dnnkit::error when the kernel, which counts with 32 bits, cannot run with these extents of the step.
  void check(std::span<const std::int64_t> extents) const {
    std::int64_t most = work_.elements(extents);
    for (const std::int64_t e : extents) most = most < e ? e : most;
    if (most >= std::int64_t{1} << 31)
      throw error("kernels for OpenCL count with 32 bits", step_, "fewer than 2^31 elements", std::to_string(most));
  }
  // Operands and extents of the step; and `handover`, of at least the kernels' needs.
  void set(std::span<const cl_operand> operands, std::span<const std::int64_t> extents, const cl_handover& handover) {
    cl_uint i = 0;
    for (const cl_operand& o : operands) {
      cl_check(clSetKernelArg(kernel_.get(), i++, sizeof o.memory, &o.memory), "giving " + step_ + " a buffer");
      if (!o.is_image)
        cl_check(clSetKernelArg(kernel_.get(), i++, sizeof o.first, &o.first), "giving " + step_ + " a number");
    }
    for (const std::int64_t e : extents) {
      const auto extent = static_cast<cl_int>(e);
      cl_check(clSetKernelArg(kernel_.get(), i++, sizeof extent, &extent), "giving " + step_ + " an extent");
    }
    if (work_.counters != 0)
      for (const cl_mem memory : {handover.numbers(), handover.counters()})
        cl_check(clSetKernelArg(kernel_.get(), i++, sizeof memory, &memory), "giving " + step_ + " a buffer");
    groups_ = static_cast<std::size_t>(work_.groups(extents));
  }
  // Starts it behind what is in the queue; a kernel without work is left out. With `event`, which is that of its end.
  void start(cl_command_queue queue, cl_event* event = nullptr) const {
    if (groups_ == 0) return;
    const auto size = static_cast<std::size_t>(work_.group_size);
    const std::size_t items = groups_ * size;
    const cl_int status = clEnqueueNDRangeKernel(queue, kernel_.get(), 1, nullptr, &items, &size, 0, nullptr, event);
    if (status != CL_SUCCESS) cl_check(status, "starting " + step_);  // no text is made of a run that is right
  }

 private:
  std::string step_;
  opencl::work_size work_;
  cl_handle<cl_kernel> kernel_;
  std::size_t groups_ = 0;
};

}  // namespace dnnkit::detail
