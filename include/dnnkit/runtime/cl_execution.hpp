// SPDX-License-Identifier: MIT
// Runs a plan on an OpenCL device: all that a session asks of an execution (execution.hpp), and runs that it does not
// wait for.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "dnnkit/core/error.hpp"
#include "dnnkit/runtime/binding.hpp"
#include "dnnkit/runtime/cl_bound.hpp"
#include "dnnkit/runtime/cl_commands.hpp"
#include "dnnkit/runtime/cl_run.hpp"
#include "dnnkit/runtime/cl_weights.hpp"
#include "dnnkit/runtime/extents_to_symbols.hpp"
#include "dnnkit/runtime/observer.hpp"
#include "dnnkit/runtime/parallel_for.hpp"
#include "dnnkit/runtime/run_argument.hpp"

namespace dnnkit {

class cl_execution {
 public:
  // Throws dnnkit::error when the platform fails.
  cl_execution(const plan_view& plan, std::span<const opencl::kernel_text> kernels,
               std::shared_ptr<const cl_weights> weights)
      : fixed_(std::make_unique<fixed>(fixed{plan, plan::table_of(plan), kernels})) {
    bound_ = made(std::move(weights));
    if (plan.is_static) bind({});
  }

  // Gives every symbol its value and takes the memory that is needed, as execution::bind() does: what was bound before
  // stays, whatever is thrown. Waits for a run that has begun.
  void bind(std::span<const binding> bindings) {
    require_session();
    bound_->bind(detail::values_of_symbols(fixed_->plan, fixed_->table, bindings), true);
  }
  void bind_to(std::span<const detail::extent_list> inputs) { bind(bindings_for(inputs)); }
  std::vector<binding> bindings_for(std::span<const detail::extent_list> inputs) const {
    require_session();
    return detail::extents_to_symbols(fixed_->plan, fixed_->table).solve(inputs);
  }
  // Other values in the memory that there is; false, and all as it was, where more is needed.
  bool resize(std::span<const std::int64_t> values) {
    require_bound();
    for (std::size_t i = 0; i < values.size(); ++i) detail::check_bounds(fixed_->plan.symbols[i], values[i]);
    detail::check_assumptions(fixed_->table, values);
    return bound_->bind(values, false);
  }

  // Other weights of the same network, from the next run on; what was there stays when anything is thrown. They may be
  // on another device.
  void load(std::shared_ptr<const cl_weights> weights) {
    require_session();
    std::unique_ptr<detail::cl_bound> other = made(std::move(weights));
    if (bound_->is_bound()) other->bind(bound_->values(), true);
    bound_ = std::move(other);
  }

  // Throws dnnkit::error before the first bind(), when the session has been moved from, and when its device is lost.
  void require_bound() const {
    require_session();
    if (!bound_->is_bound()) throw error("the symbols have no values yet; call bind()", "session");
  }
  // Throws dnnkit::error when an argument of these extents does not fit the port under the present binding.
  void check_extents(std::size_t number, const detail::extent_list& found) const {
    static_vector<std::int64_t, max_rank> dims;
    for (dim d : detail::buffer_of_port(fixed_->plan, number).type.dims) dims.push_back(value_of(d));
    detail::check_extents(fixed_->plan, number, dims, found);
  }
  // Elements of port number i under the present binding: the inputs in order, then the outputs.
  std::int64_t elements(std::size_t i) const {
    require_bound();
    std::int64_t n = 1;
    for (dim d : detail::buffer_of_port(fixed_->plan, i).type.dims) n *= value_of(d);
    return n;
  }
  std::span<const std::int64_t> values() const noexcept { return bound_->values(); }
  std::size_t arena_bytes() const noexcept { return bound_ == nullptr ? 0 : bound_->arena_bytes(); }
  const plan_view& plan() const noexcept { return fixed_->plan; }
  const symbol_table& symbols() const noexcept { return fixed_->table; }

  // Pointers of all graph inputs and outputs, in order. Returns false when the observer stopped it. Throws
  // dnnkit::error when the platform fails; the session can be used again if its device can (cl_run.hpp). The device
  // divides the work, whatever threads the caller has.
  template <observer Observer>
  bool run(std::byte* const* inputs, std::byte* const* outputs, const parallel_for&, Observer& observer) {
    detail::cl_bound& b = *bound_;
    b.end_pending();
    if constexpr (takes_times<Observer>) b.measure();
    return b.line().guarded([&] {
      b.set_conditions(inputs);
      std::vector<detail::cl_timed_start> starts;
      const auto begin = std::chrono::steady_clock::now();
      detail::cl_caller device{b.line().queue(), inputs, outputs};
      bool all = true;
      if constexpr (takes_times<Observer>) {
        device.timed = &starts;
        no_observer nobody;
        all = detail::carry_out(b.commands(), fixed_->plan, nobody, device);
      } else {
        const detail::cl_observer<Observer> told{observer, device};
        all = detail::carry_out(b.commands(), fixed_->plan, told, device);
      }
      device.finish();
      if (all) b.copy_results(outputs);
      if constexpr (takes_times<Observer>) detail::tell_times(fixed_->plan, starts, begin, observer);
      return all;
    });
  }
  // The same, but returns when all is in the queue of the device. Where a branch of an If is chosen by what the device
  // computes, that is waited for.
  cl_run start(std::byte* const* inputs, std::byte* const* outputs) {
    detail::cl_bound& b = *bound_;
    b.end_pending();
    return cl_run(b.line().guarded([&] {
      b.set_conditions(inputs);
      no_observer nobody;
      static_cast<void>(
          detail::carry_out(b.commands(), fixed_->plan, nobody, detail::cl_caller{b.line().queue(), inputs, outputs}));
      return b.add_pending(outputs);
    }));
  }

 private:
  // What does not change, and stays where it is.
  struct fixed {
    plan_view plan;
    symbol_table table;
    std::span<const opencl::kernel_text> kernels;
  };

  std::unique_ptr<detail::cl_bound> made(std::shared_ptr<const cl_weights> weights) const {
    if (weights == nullptr) throw error("they have been moved from", "packed weights");
    return std::make_unique<detail::cl_bound>(fixed_->plan, fixed_->table, fixed_->kernels, std::move(weights));
  }
  std::int64_t value_of(dim d) const { return fixed_->table.evaluate(d, bound_->values().data()); }
  void require_session() const {
    if (bound_ == nullptr) throw error("it has been moved from", "session");
    bound_->line().require_device();
  }

  std::unique_ptr<const fixed> fixed_;
  std::unique_ptr<detail::cl_bound> bound_;  // null when moved from
};

}  // namespace dnnkit
