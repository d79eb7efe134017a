// SPDX-License-Identifier: MIT
// Runs a plan on an OpenCL device, whose commands are copies and starts of kernels. What kernels hand to each other is
// in one buffer, laid out as the plan's arena.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "dnnkit/core/error.hpp"
#include "dnnkit/runtime/binding.hpp"
#include "dnnkit/runtime/cl_weights.hpp"
#include "dnnkit/runtime/command.hpp"
#include "dnnkit/runtime/observer.hpp"
#include "dnnkit/runtime/parallel_for.hpp"
#include "dnnkit/runtime/run_argument.hpp"

namespace dnnkit {

namespace detail {

// What a run does on a device: inputs are copied there, kernels started, outputs copied back.
struct cl_copy {
  cl_mem memory;
  std::size_t bytes;
  bool is_input;
  std::size_t number;  // of the input or output
};
struct cl_start {
  const cl_launch* kernel;
};

struct cl_caller {
  cl_command_queue queue;
  std::byte* const* inputs;
  std::byte* const* outputs;

  void operator()(const cl_copy& c) const {
    if (c.is_input)
      cl_check(clEnqueueWriteBuffer(queue, c.memory, CL_FALSE, 0, c.bytes, inputs[c.number], 0, nullptr, nullptr),
               "copying an input");
    else
      cl_check(clEnqueueReadBuffer(queue, c.memory, CL_FALSE, 0, c.bytes, outputs[c.number], 0, nullptr, nullptr),
               "copying an output");
  }
  void operator()(const cl_start& c) const { c.kernel->start(queue); }
  void finish() const { cl_check(clFinish(queue), "running the kernels"); }
};

// Tells another observer of a step's end when that has happened on the device.
template <class Observer> struct cl_observer {
  Observer& told;
  const cl_caller& device;

  auto before(const plan_view& plan, std::size_t step) const { return told.before(plan, step); }
  void after(const plan_view& plan, std::size_t step) const {
    if constexpr (!std::is_same_v<Observer, no_observer>) device.finish();
    told.after(plan, step);
  }
};

}  // namespace detail

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
    static_cast<void>(detail::values_of_symbols(plan_, table_of(plan_), bindings));  // plans have none
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
    const detail::cl_caller device{state_.queue.get(), inputs, outputs};
    const detail::cl_observer<Observer> told{observer, device};
    const bool all = detail::carry_out(state_.commands, plan_, told, device);
    device.finish();
    return all;
  }

 private:
  // All that belongs to the device of some weights.
  struct state {
    std::shared_ptr<const cl_weights> weights;  // null when moved from
    cl_handle<cl_command_queue> queue;
    cl_handle<cl_mem> arena;
    std::vector<cl_handle<cl_mem>> ports;  // by buffer: inputs and outputs
    std::vector<detail::cl_launch> launches;
    std::vector<detail::command<detail::cl_copy, detail::cl_start>> commands;

    state() = default;
    state(const plan_view& plan, std::span<const opencl::kernel_text> kernels, std::shared_ptr<const cl_weights> w)
        : weights(std::move(w)),
          queue(weights->device().make_queue()),
          arena(weights->device().make_buffer(static_cast<std::size_t>(plan.arena_bytes))),
          ports(plan.buffers.size()) {
      for (std::size_t b = 0; b < plan.buffers.size(); ++b)
        if (const plan::buffer& x = plan.buffers[b];
            x.where == plan::storage::input || x.where == plan::storage::output)
          ports[b] = weights->device().make_buffer(detail::bytes_of(x));
      launches.reserve(plan.steps.size());  // commands point to them
      detail::command_list<detail::cl_copy, detail::cl_start> list;
      for (std::size_t i = 0; i < plan.inputs.size(); ++i) add_copy(list, plan, plan.inputs[i], true, i);
      for (std::size_t i = 0; i < plan.steps.size(); ++i) {
        const plan::step& s = plan.steps[i];
        std::vector<detail::cl_operand> operands;
        for (std::int32_t b : plan.numbers_of(s.operands))
          operands.push_back(operand(plan, static_cast<std::size_t>(b)));
        launches.emplace_back(weights->program(), s.kernel, kernels[s.kernel], operands);
        list.add(detail::begin_step{i});
        list.add(detail::cl_start{&launches.back()});
        list.add(detail::end_step{i});
      }
      for (std::size_t i = 0; i < plan.results.size(); ++i) add_copy(list, plan, plan.results[i], false, i);
      commands = list.finished();
    }
    void add_copy(auto& list, const plan_view& plan, std::int32_t b, bool is_input, std::size_t number) const {
      const auto i = static_cast<std::size_t>(b);
      const std::size_t bytes = detail::bytes_of(plan.buffers[i]);
      if (bytes != 0) list.add(detail::cl_copy{ports[i].get(), bytes, is_input, number});
    }
    detail::cl_operand operand(const plan_view& plan, std::size_t b) const {
      const plan::buffer& x = plan.buffers[b];
      if (x.where == plan::storage::arena)
        return {arena.get(), static_cast<cl_uint>(static_cast<std::size_t>(x.offset) / size_of(x.type.type))};
      return {ports[b] != nullptr ? ports[b].get() : weights->data(b), 0};
    }
  };

  plan_view plan_;
  std::span<const opencl::kernel_text> kernels_;
  state state_;
};

}  // namespace dnnkit
