// SPDX-License-Identifier: MIT
// Runs a plan: one arena, one list of commands, one walk over it. Everything a session does that does not depend on the
// network's type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "dnnkit/core/error.hpp"
#include "dnnkit/runtime/bound_plan.hpp"
#include "dnnkit/runtime/command.hpp"
#include "dnnkit/runtime/extents_to_symbols.hpp"
#include "dnnkit/runtime/kernel_commands.hpp"
#include "dnnkit/runtime/observer.hpp"
#include "dnnkit/runtime/packed_weights.hpp"
#include "dnnkit/runtime/parallel_for.hpp"
#include "dnnkit/runtime/plan_resizer.hpp"
#include "dnnkit/runtime/run_argument.hpp"

namespace dnnkit {

class execution {
 public:
  execution(const plan_view& plan, std::span<const cpu::kernel_entry> kernels,
            std::shared_ptr<const packed_tables> weights)
      : plan_(plan), kernels_(kernels), weights_(std::move(weights)), table_(plan::table_of(plan)) {
    if (weights_ == nullptr) throw error("they have been moved from", "packed weights");
    if (plan_.is_static) bind({});
  }

  // Gives every symbol its value, plans memory and takes what it needs of it (kept when it is enough already; else the
  // old is given back once the new is there). Throws dnnkit::error for a symbol that is unknown, missing, given twice
  // or out of its bounds, and for values with which an extent would be negative or there is not enough memory; what was
  // bound before then stays, whatever is thrown.
  void bind(std::span<const binding> bindings) {
    require_weights();
    bound_ = detail::plan_binder(plan_, table_, kernels_, *weights_).bind(bindings, arena_);
  }

  // Gives symbols other values in the memory that the last bind() planned: nothing is planned, and nothing allocated.
  // False, and all as it was, where more is needed; throws dnnkit::error for values that bind() refuses.
  bool resize(std::span<const std::int64_t> values) {
    require_bound();
    return detail::plan_resizer(plan_, table_, kernels_, *bound_).resize(values);
  }

  // Other weights of the same network, from the next run on. What was there stays when there is not enough memory.
  void load(std::shared_ptr<const packed_tables> weights) {
    require_weights();
    if (weights == nullptr) throw error("they have been moved from", "packed weights");
    if (bound_) {
      std::vector<binding> present;
      for (std::size_t i = 0; i < plan_.symbols.size(); ++i)
        present.push_back({plan_.symbols[i].name.view(), bound_->planned_values[i]});
      const std::vector<std::int64_t> values = bound_->values;
      bound_ = detail::plan_binder(plan_, table_, kernels_, *weights).bind(present, arena_);
      resize(values);
    }
    weights_ = std::move(weights);
  }

  // Throws dnnkit::error before the first bind(), and when the session has been moved from.
  void require_bound() const {
    require_weights();
    if (!bound_) throw error("the symbols have no values yet; call bind()", "session");
  }
  // Gives symbols the values with which inputs have these extents, each a list as in run_argument.hpp. Throws as bind()
  // does, and where there are no such values.
  void bind_to(std::span<const detail::extent_list> inputs) { bind(bindings_for(inputs)); }
  // Those values, of all symbols in order. An input without a list says nothing.
  std::vector<binding> bindings_for(std::span<const detail::extent_list> inputs) const {
    require_weights();
    return detail::extents_to_symbols(plan_, table_).solve(inputs);
  }

  // Throws dnnkit::error when an argument of these extents does not fit the port under the present binding.
  void check_extents(std::size_t port, const detail::extent_list& found) const {
    static_vector<std::int64_t, max_rank> dims;
    for (dim d : detail::buffer_of_port(plan_, port).type.dims)
      dims.push_back(table_.evaluate(d, bound_->values.data()));
    detail::check_extents(plan_, port, dims, found);
  }

  // Elements of a port under the present binding: the inputs in order, then the outputs.
  std::int64_t elements(std::size_t port) const {
    require_bound();
    std::int64_t n = 1;
    for (dim d : detail::buffer_of_port(plan_, port).type.dims) n *= table_.evaluate(d, bound_->values.data());
    return n;
  }
  // Of the plan's symbols, once require_bound() has passed.
  std::span<const std::int64_t> values() const noexcept { return bound_->values; }
  std::size_t arena_bytes() const noexcept { return arena_.size(); }
  const plan_view& plan() const noexcept { return plan_; }
  const symbol_table& symbols() const noexcept { return table_; }

  // Pointers of all graph inputs and outputs, in order, once require_bound() has passed. Returns false when the
  // observer stopped it, which does not hear of steps in a branch that is not taken. Throws dnnkit::error, before any
  // kernel of it runs, where a branch of an If is taken that has other extents than it needs: symbols decide that.
  template <observer Observer>
  bool run(std::byte* const* inputs, std::byte* const* outputs, const parallel_for& loop, Observer& observer) {
    for (const detail::bound_plan::port& p : bound_->ports) *p.pointer = (p.is_input ? inputs : outputs)[p.number];
    return detail::carry_out(bound_->commands, plan_, observer, detail::kernel_caller(loop));
  }

 private:
  void require_weights() const {
    if (weights_ == nullptr) throw error("it has been moved from", "session");
  }

  plan_view plan_;
  std::span<const cpu::kernel_entry> kernels_;
  std::shared_ptr<const packed_tables> weights_;  // null when moved from
  symbol_table table_;
  aligned_memory arena_;
  std::optional<detail::bound_plan> bound_;
};

}  // namespace dnnkit
