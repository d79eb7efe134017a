// SPDX-License-Identifier: MIT
// Runs a plan: one arena, one table of pointers, one walk over the steps. Everything a session does that does not
// depend on the network's type.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "dnnkit/core/error.hpp"
#include "dnnkit/runtime/border.hpp"
#include "dnnkit/runtime/bound_plan.hpp"
#include "dnnkit/runtime/extents_to_symbols.hpp"
#include "dnnkit/runtime/packed_weights.hpp"
#include "dnnkit/runtime/parallel_for.hpp"
#include "dnnkit/runtime/run_argument.hpp"

namespace dnnkit {

// Something that run() tells of every kernel: before(plan, number of the step), whose false stops the run, and after
// it. Both are called by the thread that calls run(). What they throw leaves run(), which can be called again; run() is
// noexcept only where they are.
template <class T>
concept observer = requires(T& x, const plan_view& plan, std::size_t step) {
  { x.before(plan, step) } -> std::convertible_to<bool>;
  x.after(plan, step);
};
template <class T>
concept nothrow_observer = observer<T> && requires(T& x, const plan_view& plan, std::size_t step) {
  { x.before(plan, step) }
  noexcept;
  { x.after(plan, step) }
  noexcept;
};

// The default tells nobody, and the calls are compiled out.
struct no_observer {
  static constexpr bool before(const plan_view&, std::size_t) noexcept { return true; }
  static constexpr void after(const plan_view&, std::size_t) noexcept {}
};

class execution {
 public:
  execution(const plan_view& plan, std::span<const cpu::kernel_entry> kernels,
            std::shared_ptr<const packed_tables> weights)
      : plan_(plan), kernels_(kernels), weights_(std::move(weights)), table_(table_of(plan)) {
    if (weights_ == nullptr) throw error("they have been moved from", "packed weights");
    if (plan_.is_static) bind({});
  }

  // Gives every symbol its value, plans memory and takes what it needs of it (kept when it is enough already; else the
  // old is given back once the new is there). Throws dnnkit::error for a symbol that is unknown, missing, given twice
  // or out of its bounds, and for values with which an extent would be negative or there is not enough memory; what was
  // bound before then stays, whatever is thrown.
  void bind(std::span<const binding> bindings) {
    require_weights();
    tables_ = detail::plan_binder(plan_, table_, kernels_, *weights_).bind(bindings, arena_);
  }

  // Other weights of the same network, from the next run on. What was there stays when there is not enough memory.
  void load(std::shared_ptr<const packed_tables> weights) {
    require_weights();
    if (weights == nullptr) throw error("they have been moved from", "packed weights");
    if (tables_) {
      std::vector<binding> present;
      for (std::size_t i = 0; i < plan_.symbols.size(); ++i)
        present.push_back({plan_.symbols[i].name.view(), tables_->values[i]});
      tables_ = detail::plan_binder(plan_, table_, kernels_, *weights).bind(present, arena_);
    }
    weights_ = std::move(weights);
  }

  // Throws dnnkit::error before the first bind(), and when the session has been moved from.
  void require_bound() const {
    require_weights();
    if (!tables_) throw error("the symbols have no values yet; call bind()", "session");
  }
  // Gives symbols the values with which inputs have these extents, each a list as in run_argument.hpp. Throws as bind()
  // does, and where there are no such values.
  void bind_to(std::span<const detail::extent_list> inputs) {
    require_weights();
    bind(detail::extents_to_symbols(plan_, table_).solve(inputs));
  }

  // Throws dnnkit::error when an argument of these extents does not fit the port under the present binding.
  void check_extents(std::size_t port, const detail::extent_list& found) const {
    static_vector<std::int64_t, max_rank> dims;
    for (dim d : detail::buffer_of_port(plan_, port).type.dims)
      dims.push_back(table_.evaluate(d, tables_->values.data()));
    detail::check_extents(plan_, port, dims, found);
  }

  // Elements of a port under the present binding: the inputs in order, then the outputs.
  std::int64_t elements(std::size_t port) const {
    require_bound();
    std::int64_t n = 1;
    for (dim d : detail::buffer_of_port(plan_, port).type.dims) n *= table_.evaluate(d, tables_->values.data());
    return n;
  }
  // Of the plan's symbols, once require_bound() has passed.
  std::span<const std::int64_t> values() const noexcept { return tables_->values; }
  std::size_t arena_bytes() const noexcept { return arena_.size(); }

  // Pointers of all graph inputs and outputs, in order, once require_bound() has passed. Returns false when the
  // observer stopped it, which does not hear of steps in a branch that is not taken.
  template <observer Observer>
  bool run(std::byte* const* inputs, std::byte* const* outputs, const parallel_for& loop,
           Observer& observer) noexcept(nothrow_observer<Observer>) {
    for (const bound_tables::port& p : tables_->ports)
      tables_->operands[p.operand] = (p.is_input ? inputs : outputs)[p.number];
    for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
      if (!is_taken(i)) continue;
      if (!observer.before(plan_, i)) return false;
      if (const bound_tables::strips* s = strips_from(i)) {  // two steps in turns, seen as one by the observer
        run_strips(*s, loop);
        observer.after(plan_, i++);
        if (!observer.before(plan_, i)) return false;
      } else {
        run_step(i, loop);
      }
      observer.after(plan_, i);
    }
    return true;
  }

 private:
  void require_weights() const {
    if (weights_ == nullptr) throw error("it has been moved from", "session");
  }

  // Do the conditions hold on which step i runs? An outer one is looked at before those that only it lets be computed.
  bool is_taken(std::size_t i) const noexcept {
    const step& s = plan_.steps[i];
    const auto guards = plan_.numbers_of(s.guards);
    std::byte* const* condition = tables_->operands.data() + tables_->steps[i].operands + s.operands.count;
    for (std::size_t k = 0; k < guards.size(); k += 2)
      if ((**condition++ != std::byte{0}) != (guards[k + 1] != 0)) return false;
    return true;
  }

  const bound_tables::strips* strips_from(std::size_t step) const noexcept {
    for (const bound_tables::strips& s : tables_->strip_pairs)
      if (s.first == step) return &s;
    return nullptr;
  }

  // Each strip of rows goes through both kernels before the next; strips are independent of each other.
  void run_strips(const bound_tables::strips& s, const parallel_for& loop) noexcept {
    if (tables_->steps[s.first].idle) return;
    clear_borders(s.first);
    clear_borders(s.first + 1);
    const std::size_t threads = loop.concurrency() == 0 ? s.slots : loop.concurrency();
    const std::size_t pieces = std::min(threads, s.slots);
    const std::int64_t count = (s.rows + s.window - 1) / s.window;
    loop(pieces, [&](std::size_t piece) noexcept {
      for (std::int64_t k = static_cast<std::int64_t>(piece); k < count; k += static_cast<std::int64_t>(pieces)) {
        const std::int64_t first = k * s.window, last = std::min(s.rows, first + s.window);
        // the slot's first row stands where row `first` of the whole would
        const std::ptrdiff_t shift = static_cast<std::ptrdiff_t>(piece) * s.slot_bytes - first * s.row_bytes;
        run_rows(s.first, s.written, shift, first, last);
        run_rows(s.first + 1, s.read, shift, first, last);
      }
    });
  }
  void run_rows(std::size_t i, std::size_t windowed, std::ptrdiff_t shift, std::int64_t first,
                std::int64_t last) noexcept {
    std::array<std::byte*, most_strip_operands> operands{};
    std::copy_n(tables_->operands.data() + tables_->steps[i].operands, plan_.steps[i].operands.count, operands.data());
    operands[windowed] += shift;
    kernels_[plan_.steps[i].kernel].run_rows({operands.data(), tables_->extents.data() + tables_->steps[i].extents,
                                              weights_->packed(i), tables_->scratch, nullptr},
                                             first, last);
  }
  static constexpr std::size_t most_strip_operands = 64;

  void clear_borders(std::size_t i) noexcept {
    for (const bound_tables::border& b : tables_->borders)
      if (b.step == i) clear_border(*b.of, tables_->border_extents.data() + b.extents, b.data);
  }

  void run_step(std::size_t i, const parallel_for& loop) noexcept {
    if (tables_->steps[i].idle) return;
    clear_borders(i);
    const cpu::kernel_entry& k = kernels_[plan_.steps[i].kernel];
    const cpu::kernel_call call{tables_->operands.data() + tables_->steps[i].operands,
                                tables_->extents.data() + tables_->steps[i].extents, weights_->packed(i),
                                tables_->scratch, nullptr};
    if (k.prepare != nullptr) divide(call, k.prepare, k.prepare_units(call), loop);
    if (k.worker_bytes != nullptr) divide_among_workers(call, k, i, loop);
    else divide(call, k.run, k.units(call), loop);
  }

  // A piece for each worker, which has scratch memory of its own.
  void divide_among_workers(const cpu::kernel_call& call, const cpu::kernel_entry& k, std::size_t i,
                            const parallel_for& loop) noexcept {
    const bound_tables::worker_scratch& scratch = tables_->workers[i];
    const auto count = static_cast<std::size_t>(k.units(call));
    const std::size_t threads = loop.concurrency() == 0 ? bound_tables::most_workers : loop.concurrency();
    const std::size_t pieces = std::min({count, threads, bound_tables::most_workers});
    const auto run = [&](std::size_t piece) noexcept {
      cpu::kernel_call own = call;
      own.worker = scratch.data + static_cast<std::ptrdiff_t>(piece) * scratch.stride;
      const index_range r = split(count, pieces, piece);
      k.run(own, static_cast<cpu::index_t>(r.begin), static_cast<cpu::index_t>(r.end));
    };
    if (pieces == 1) return run(0);
    loop(pieces, run);
  }

  // A few pieces for each thread, so that threads that are slowed down do not hold up the others.
  static void divide(const cpu::kernel_call& call,
                     void (*run)(const cpu::kernel_call&, cpu::index_t, cpu::index_t) noexcept, cpu::index_t units,
                     const parallel_for& loop) noexcept {
    const std::size_t threads = loop.concurrency() == 0 ? 16 : loop.concurrency();
    const auto count = static_cast<std::size_t>(units);
    const std::size_t pieces = threads == 1 ? 1 : std::min(count, threads * 4);
    if (pieces <= 1) return run(call, 0, units);
    loop(pieces, [&](std::size_t piece) noexcept {
      const index_range r = split(count, pieces, piece);
      run(call, static_cast<cpu::index_t>(r.begin), static_cast<cpu::index_t>(r.end));
    });
  }

  plan_view plan_;
  std::span<const cpu::kernel_entry> kernels_;
  std::shared_ptr<const packed_tables> weights_;  // null when moved from
  symbol_table table_;
  aligned_memory arena_;
  std::optional<bound_tables> tables_;
};

}  // namespace dnnkit
