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
#include "dnnkit/runtime/cl_cache.hpp"
#include "dnnkit/runtime/cl_device.hpp"
#include "dnnkit/runtime/cl_handover.hpp"
#include "dnnkit/runtime/cl_launch.hpp"
#include "dnnkit/runtime/cl_program.hpp"
#include "dnnkit/runtime/stored_data.hpp"
#include "dnnkit/weights/weight_file.hpp"

namespace dnnkit {

class cl_weights {
 public:
  // `kernels`: one text for each recipe of `plan`; both outlive this object. Throws dnnkit::error listing every tensor
  // that is missing or has another shape or type, and when the platform fails.
  cl_weights(const plan_view& plan, std::span<const opencl::kernel_text> kernels, const weight_file& file,
             cl_device device = {})
      : device_(std::move(device)), data_(plan.buffers.size()) {
    file.check_all(detail::required_weights(plan));
    program_ = detail::cl_builder(device_, kernels).program(detail::cl_cache::of_environment());
    const auto queue = device_.make_queue();
    for (std::size_t b = 0; b < plan.buffers.size(); ++b) fill(plan, b, file, queue.get());
    const detail::cl_handover handover(device_, queue.get(), plan.setup_steps, kernels);
    for (const plan::step& s : plan.setup_steps) compute(plan, s, kernels[s.kernel], queue.get(), handover);
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
    static_cast<void>(detail::extents_of(plan, x));  // which are known
    data_[b] = device_.make_buffer(detail::bytes_of(x), "tensor '" + std::string(plan.text_of(x.name)) + "'");
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
  void compute(const plan_view& plan, const plan::step& s, const opencl::kernel_text& text, cl_command_queue queue,
               const detail::cl_handover& handover) {
    if (s.extents.count != 0)
      throw error("what is computed from weights has a symbolic shape", std::string(plan.text_of(s.name)));
    std::vector<detail::cl_operand> operands;
    for (std::int32_t b : plan.numbers_of(s.operands))
      operands.push_back({data_[static_cast<std::size_t>(b)].get(), 0});
    detail::cl_launch launch(program_.get(), plan, s, text);
    launch.set(operands, {}, handover);
    launch.start(queue);
  }
  void keep_what_steps_read(const plan_view& plan) {
    std::vector<bool> is_read(data_.size());
    for (const plan::step& s : plan.steps) {
      for (std::int32_t b : plan.numbers_of(s.operands)) is_read[static_cast<std::size_t>(b)] = true;
      for (std::size_t k = 0; k < s.guards.count; k += 2)
        is_read[static_cast<std::size_t>(plan.numbers_of(s.guards)[k])] = true;
    }
    for (std::size_t b = 0; b < data_.size(); ++b)
      if (!is_read[b]) data_[b].reset();
  }

  cl_device device_;
  detail::cl_shared_program program_;
  std::vector<cl_handle<cl_mem>> data_;
};

}  // namespace dnnkit
