// SPDX-License-Identifier: MIT
// A network's kernels and weights on an OpenCL device: the program is built, weights are copied, and what depends on
// weights alone is computed there, once. Immutable afterwards, so several sessions in several threads may share one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dnnkit/core/error.hpp"
#include "dnnkit/opencl/kernels.hpp"
#include "dnnkit/plan/plan.hpp"
#include "dnnkit/runtime/cl_device.hpp"
#include "dnnkit/runtime/stored_data.hpp"
#include "dnnkit/weights/weight_file.hpp"

namespace dnnkit {

namespace detail {

// Where an operand lies: in which buffer of the device, and how many elements behind its beginning.
struct cl_operand {
  cl_mem memory = nullptr;
  cl_uint first = 0;
};

// The kernel of a step, ready to be started again and again.
class cl_launch {
 public:
  cl_launch(cl_program program, std::size_t recipe, const opencl::kernel_text& text,
            std::span<const cl_operand> operands)
      : groups_(static_cast<std::size_t>(text.groups)), group_size_(static_cast<std::size_t>(text.group_size)) {
    const std::string name = "k" + std::to_string(recipe);
    kernel_ = cl_created("making kernel " + name,
                         [&](cl_int* status) { return clCreateKernel(program, name.c_str(), status); });
    cl_uint i = 0;
    for (const cl_operand& o : operands) {
      cl_check(clSetKernelArg(kernel_.get(), i++, sizeof o.memory, &o.memory), "giving kernel " + name + " a buffer");
      cl_check(clSetKernelArg(kernel_.get(), i++, sizeof o.first, &o.first), "giving kernel " + name + " a number");
    }
  }
  // Starts it behind what is in the queue; a kernel without work is left out.
  void start(cl_command_queue queue) const {
    if (groups_ == 0) return;
    const std::size_t items = groups_ * group_size_;
    cl_check(clEnqueueNDRangeKernel(queue, kernel_.get(), 1, nullptr, &items, &group_size_, 0, nullptr, nullptr),
             "starting a kernel");
  }

 private:
  cl_handle<cl_kernel> kernel_;
  std::size_t groups_, group_size_;
};

// Throws dnnkit::error with the compiler's log when the kernels are no program.
inline cl_handle<cl_program> cl_built(const cl_device& device, std::span<const opencl::kernel_text> kernels) {
  std::vector<const char*> parts{opencl::prelude.data()};
  std::vector<std::size_t> sizes{opencl::prelude.size()};
  for (const opencl::kernel_text& k : kernels) {
    parts.push_back(k.source.data());
    sizes.push_back(k.source.size());
  }
  auto program = cl_created("making a program", [&](cl_int* status) {
    return clCreateProgramWithSource(device.context(), static_cast<cl_uint>(parts.size()), parts.data(), sizes.data(),
                                     status);
  });
  const cl_device_id id = device.id();
  const cl_int status = clBuildProgram(program.get(), 1, &id, "-cl-std=CL1.2", nullptr, nullptr);
  if (status == CL_SUCCESS) return program;
  const std::string log = cl_text(
      program.get(), [&](cl_program p, auto... rest) { return clGetProgramBuildInfo(p, id, rest...); },
      CL_PROGRAM_BUILD_LOG);
  throw error("the kernels could not be built", "OpenCL device '" + device.name() + "'", {},
              "error " + std::to_string(status) + ", and the log:\n" + log);
}

}  // namespace detail

class cl_weights {
 public:
  // `kernels`: one text for each recipe of `plan`; both outlive this object. Throws dnnkit::error listing every tensor
  // that is missing or has another shape or type, and when the platform fails.
  cl_weights(const plan_view& plan, std::span<const opencl::kernel_text> kernels, const weight_file& file,
             cl_device device = {})
      : device_(std::move(device)), data_(plan.buffers.size()) {
    file.check_all(detail::required_weights(plan));
    program_ = detail::cl_built(device_, kernels);
    const auto queue = device_.make_queue();
    for (std::size_t b = 0; b < plan.buffers.size(); ++b) fill(plan, b, file, queue.get());
    for (const plan::step& s : plan.setup_steps)
      detail::cl_launch(program_.get(), s.kernel, kernels[s.kernel], operands(plan, s)).start(queue.get());
    detail::cl_check(clFinish(queue.get()), "computing what depends on weights");
    keep_what_steps_read(plan);
  }

  const cl_device& device() const noexcept { return device_; }
  cl_program program() const noexcept { return program_.get(); }
  // Buffer b of the plan when it is a weight, a constant or computed from such, and kernels read it when they run; else
  // null.
  cl_mem data(std::size_t b) const noexcept { return data_[b].get(); }

 private:
  void fill(const plan_view& plan, std::size_t b, const weight_file& file, cl_command_queue queue) {
    const plan::buffer& x = plan.buffers[b];
    if (x.where != plan::storage::weight && x.where != plan::storage::constant && x.where != plan::storage::setup)
      return;
    data_[b] = device_.make_buffer(detail::bytes_of(x));
    if (x.where == plan::storage::weight) {
      const stored_tensor& t = file.at(plan.text_of(x.name));
      copy(queue, b, t.data);
      file.evict(t);
    } else if (x.where == plan::storage::constant) {
      std::vector<std::byte> elements(detail::bytes_of(x));
      detail::write_constant(plan, x, elements.data());
      copy(queue, b, elements);
    }
  }
  void copy(cl_command_queue queue, std::size_t b, std::span<const std::byte> from) {
    if (from.empty()) return;
    detail::cl_check(
        clEnqueueWriteBuffer(queue, data_[b].get(), CL_TRUE, 0, from.size(), from.data(), 0, nullptr, nullptr),
        "copying weights");
  }
  std::vector<detail::cl_operand> operands(const plan_view& plan, const plan::step& s) const {
    std::vector<detail::cl_operand> list;
    for (std::int32_t b : plan.numbers_of(s.operands)) list.push_back({data_[static_cast<std::size_t>(b)].get(), 0});
    return list;
  }
  void keep_what_steps_read(const plan_view& plan) {
    std::vector<bool> is_read(data_.size());
    for (const plan::step& s : plan.steps)
      for (std::int32_t b : plan.numbers_of(s.operands)) is_read[static_cast<std::size_t>(b)] = true;
    for (std::size_t b = 0; b < data_.size(); ++b)
      if (!is_read[b]) data_[b].reset();
  }

  cl_device device_;
  cl_handle<cl_program> program_;
  std::vector<cl_handle<cl_mem>> data_;
};

}  // namespace dnnkit
