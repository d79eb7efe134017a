// SPDX-License-Identifier: MIT
// Runs a plan on an OpenCL device: copies the inputs there, starts the kernels in order, copies the outputs back. What
// lies between is in one buffer, laid out as the plan's arena.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "dnnkit/core/error.hpp"
#include "dnnkit/runtime/cl_weights.hpp"
#include "dnnkit/runtime/execution.hpp"
#include "dnnkit/runtime/run_argument.hpp"

namespace dnnkit {

// Plans without symbols; all that a session asks of an execution (execution.hpp).
class cl_execution {
 public:
  // Throws dnnkit::error when the platform fails.
  cl_execution(const plan_view& plan, std::span<const opencl::kernel_text> kernels,
               std::shared_ptr<const cl_weights> weights)
      : plan_(plan), kernels_(kernels) {
    load(std::move(weights));
  }

  // Other weights of the same network, from the next run on.
  void load(std::shared_ptr<const cl_weights> weights) {
    if (weights == nullptr) throw error("they have been moved from", "packed weights");
    state_ = state(plan_, kernels_, std::move(weights));
  }

  void bind(std::span<const binding> bindings) const {
    if (!bindings.empty()) throw error("no such symbol", "bind", "none", std::string(bindings[0].symbol));
  }
  void bind_to(std::span<const detail::extent_list> inputs) const {
    for (std::size_t i = 0; i < inputs.size(); ++i) check_extents(i, inputs[i]);
  }
  void require_bound() const {
    if (state_.weights == nullptr) throw error("it has been moved from", "session");
  }
  // Throws dnnkit::error when an argument of these extents does not fit the port.
  void check_extents(std::size_t number, const detail::extent_list& found) const {
    static_vector<std::int64_t, max_rank> dims;
    for (dim d : detail::buffer_of_port(plan_, number).type.dims) dims.push_back(d.value());
    detail::check_extents(plan_, number, dims, found);
  }
  // Elements of port number i: the inputs in order, then the outputs.
  std::int64_t elements(std::size_t i) const { return detail::buffer_of_port(plan_, i).elements.value(); }
  std::span<const std::int64_t> values() const noexcept { return {}; }
  std::size_t arena_bytes() const noexcept { return static_cast<std::size_t>(plan_.arena_bytes); }

  // Pointers of all graph inputs and outputs, in order. Returns false when the observer stopped it. Throws
  // dnnkit::error when the platform fails. The device divides the work, whatever threads the caller has.
  template <observer Observer>
  bool run(std::byte* const* inputs, std::byte* const* outputs, const parallel_for&, Observer& observer) {
    cl_command_queue const queue = state_.queue.get();
    for (std::size_t i = 0; i < plan_.inputs.size(); ++i)
      if (const port p = port_of(plan_.inputs[i]); p.bytes != 0)
        detail::cl_check(clEnqueueWriteBuffer(queue, p.memory, CL_FALSE, 0, p.bytes, inputs[i], 0, nullptr, nullptr),
                         "copying an input");
    for (std::size_t i = 0; i < state_.launches.size(); ++i) {
      if (!observer.before(plan_, i)) return finish(), false;
      state_.launches[i].start(queue);
      if constexpr (!std::is_same_v<Observer, no_observer>) finish();  // so that what it is told of has happened
      observer.after(plan_, i);
    }
    for (std::size_t i = 0; i < plan_.results.size(); ++i)
      if (const port p = port_of(plan_.results[i]); p.bytes != 0)
        detail::cl_check(clEnqueueReadBuffer(queue, p.memory, CL_FALSE, 0, p.bytes, outputs[i], 0, nullptr, nullptr),
                         "copying an output");
    finish();
    return true;
  }

 private:
  // All that belongs to the device of some weights.
  struct state {
    std::shared_ptr<const cl_weights> weights;  // null when moved from
    cl_handle<cl_command_queue> queue;
    cl_handle<cl_mem> arena;
    std::vector<cl_handle<cl_mem>> ports;  // by buffer: inputs and outputs
    std::vector<detail::cl_launch> launches;

    state() = default;
    state(const plan_view& plan, std::span<const opencl::kernel_text> kernels, std::shared_ptr<const cl_weights> w)
        : weights(std::move(w)),
          queue(weights->device().make_queue()),
          arena(weights->device().make_buffer(static_cast<std::size_t>(plan.arena_bytes))),
          ports(plan.buffers.size()) {
      for (std::size_t b = 0; b < plan.buffers.size(); ++b)
        if (const buffer& x = plan.buffers[b]; x.where == storage::input || x.where == storage::output)
          ports[b] = weights->device().make_buffer(detail::bytes_of(x));
      for (const step& s : plan.steps) {
        std::vector<detail::cl_operand> operands;
        for (std::int32_t b : plan.numbers_of(s.operands))
          operands.push_back(operand(plan, static_cast<std::size_t>(b)));
        launches.emplace_back(weights->program(), s.kernel, kernels[s.kernel], operands);
      }
    }
    detail::cl_operand operand(const plan_view& plan, std::size_t b) const {
      const buffer& x = plan.buffers[b];
      if (x.where == storage::arena)
        return {arena.get(), static_cast<cl_uint>(static_cast<std::size_t>(x.offset) / size_of(x.type.type))};
      return {ports[b] != nullptr ? ports[b].get() : weights->data(b), 0};
    }
  };

  struct port {
    cl_mem memory;
    std::size_t bytes;
  };
  port port_of(std::int32_t b) const {
    const auto i = static_cast<std::size_t>(b);
    return {state_.ports[i].get(), detail::bytes_of(plan_.buffers[i])};
  }
  void finish() const { detail::cl_check(clFinish(state_.queue.get()), "running the kernels"); }

  plan_view plan_;
  std::span<const opencl::kernel_text> kernels_;
  state state_;
};

}  // namespace dnnkit
