// SPDX-License-Identifier: MIT
// Runs a plan: one arena, one table of pointers, one walk over the steps. Everything a session does that does not
// depend on the network's type.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dnnkit/core/error.hpp"
#include "dnnkit/plan/make_plan.hpp"
#include "dnnkit/runtime/border.hpp"
#include "dnnkit/runtime/packed_weights.hpp"
#include "dnnkit/runtime/parallel_for.hpp"

namespace dnnkit {

// A symbol and the value it takes.
struct binding {
  std::string_view symbol;
  std::int64_t value;
};

// What run() tells an observer; the default tells nobody, and the calls are compiled out.
struct no_observer {
  static constexpr bool before(const plan_view&, std::size_t) noexcept { return true; }
  static constexpr void after(const plan_view&, std::size_t) noexcept {}
};

class execution {
 public:
  execution(const plan_view& plan, std::span<const cpu::kernel_entry> kernels,
            std::shared_ptr<const packed_tables> weights)
      : plan_(plan), kernels_(kernels), weights_(std::move(weights)) {
    table_.symbols.append(plan.symbols.begin(), plan.symbols.end());
    table_.atoms.append(plan.atoms.begin(), plan.atoms.end());
    table_.polynomials.append(plan.polynomials.begin(), plan.polynomials.end());
    if (plan_.is_static) bind({});
  }

  // Gives every symbol its value, plans memory and takes what it needs of it (kept when it is enough already). Throws
  // dnnkit::error for a symbol that is unknown, missing, given twice or out of its bounds, and for values with which an
  // extent would be negative or a tensor too large for any memory; what was bound before then stays.
  void bind(std::span<const binding> bindings) {
    std::vector<std::optional<std::int64_t>> given(plan_.symbols.size());
    for (const binding& b : bindings) {
      std::optional<std::int64_t>& value = given[index_of(b.symbol)];
      if (value) throw error("symbol is given two values", "symbol '" + std::string(b.symbol) + "'");
      value = b.value;
    }
    std::vector<std::int64_t> values;
    for (std::size_t i = 0; i < given.size(); ++i) values.push_back(checked_value(plan_.symbols[i], given[i]));
    check_extents(values);
    bound_ = false;  // until memory is there
    values_ = values;
    bind_extents();
    place_buffers();
    find_strips();
    bound_ = true;
  }

  bool is_bound() const noexcept { return bound_; }
  // Elements of buffer b under the present binding, border included. Throws dnnkit::error before the first bind().
  std::int64_t elements(std::int32_t b) const {
    if (!bound_) throw error("the symbols have no values yet; call bind()", "session");
    return table_.evaluate(plan_.buffers[static_cast<std::size_t>(b)].elements, values_.data());
  }
  std::size_t arena_bytes() const noexcept { return arena_.size(); }
  const packed_tables& weights() const noexcept { return *weights_; }

  // Pointers of all graph inputs and outputs, in order. Returns false when the observer stopped it, which does not hear
  // of steps in a branch that is not taken.
  template <class Observer>
  bool run(std::byte* const* inputs, std::byte* const* outputs, const parallel_for& loop, Observer& observer) noexcept {
    for (const port& p : ports_) operands_[p.operand] = (p.is_input ? inputs : outputs)[p.number];
    for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
      if (!is_taken(i)) continue;
      if (!observer.before(plan_, i)) return false;
      if (const bound_strips* s = strips_from(i)) {  // two steps in turns, seen as one by the observer
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
  struct bound_step {
    std::size_t operands, extents;  // first entry of each; behind the operands come the conditions of its guards
  };
  struct bound_border {
    std::size_t step;
    const buffer* of;
    std::byte* data;
    std::size_t extents;
  };
  // Step `first` and the one after it, handing over a windowed buffer.
  struct bound_strips {
    std::size_t first;
    std::size_t written, read;  // positions of the buffer among the operands of the two steps
    std::int64_t rows, window;  // rows in all, and in a strip
    std::size_t slots;
    std::ptrdiff_t row_bytes, slot_bytes;
  };
  // An operand that is the caller's.
  struct port {
    std::size_t operand;
    bool is_input;
    std::size_t number;
  };

  std::size_t index_of(std::string_view symbol) const {
    std::string known;
    for (std::size_t i = 0; i < plan_.symbols.size(); ++i) {
      if (plan_.symbols[i].name.view() == symbol) return i;
      known += (i ? ", " : "") + plan_.symbols[i].name.str();
    }
    throw error("no such symbol", "bind", known.empty() ? "none" : known, std::string(symbol));
  }
  static std::int64_t checked_value(const symbol& s, std::optional<std::int64_t> value) {
    if (value && *value >= s.limits.min && *value <= s.limits.max) return *value;
    throw error("symbol is " + std::string(value ? "out of its bounds" : "not given a value"),
                "symbol '" + s.name.str() + "'", std::to_string(s.limits.min) + " to " + std::to_string(s.limits.max),
                value ? std::to_string(*value) : std::string{});
  }

  // Every tensor that is stored, and every kernel's iteration space, has extents of 0 or more and fits a memory.
  void check_extents(const std::vector<std::int64_t>& values) const {
    constexpr std::int64_t most = std::int64_t{1} << 46;  // elements
    for (const buffer& b : plan_.buffers) {
      for (dim d : b.type.dims) check_extent(table_.evaluate(d, values.data()), "tensor", b.name);
      if (table_.evaluate(b.elements, values.data()) > most)
        throw error("too large for any memory", "tensor '" + std::string(plan_.text_of(b.name)) + "'");
    }
    for (const step& s : plan_.steps)
      for (dim d : plan_.dims_of(plan_.recipes[s.kernel].space))
        if (!d.is_known())
          check_extent(table_.evaluate(plan_.dims_of(s.extents)[d.expression()], values.data()), "kernel", s.name);
  }
  void check_extent(std::int64_t extent, std::string_view what, slice_of name) const {
    if (extent < 0)
      throw error("an extent would be negative", std::string(what) + " '" + std::string(plan_.text_of(name)) + "'", {},
                  std::to_string(extent));
  }

  void bind_extents() {
    steps_.clear();
    extents_.clear();
    for (const step& s : plan_.steps) {
      steps_.push_back({0, extents_.size()});
      for (dim d : plan_.dims_of(s.extents)) extents_.push_back(table_.evaluate(d, values_.data()));
    }
  }

  std::size_t bytes_of(const buffer& b) const {
    return static_cast<std::size_t>(table_.evaluate(b.elements, values_.data())) * size_of(b.type.type);
  }

  void place_buffers() {
    std::vector<memory_block> blocks;
    std::vector<std::int64_t> offsets(plan_.buffers.size(), 0);
    for (const buffer& b : plan_.buffers)
      if (b.where == storage::arena)
        blocks.push_back({aligned(static_cast<std::int64_t>(bytes_of(b))), b.first, b.last, b.offset});
    std::int64_t bytes = plan_.arena_bytes;
    if (!plan_.is_static) bytes = plan_memory(blocks);
    std::size_t next = 0;
    for (std::size_t i = 0; i < plan_.buffers.size(); ++i)
      if (plan_.buffers[i].where == storage::arena) offsets[i] = blocks[next++].offset;
    // scratch of one kernel at a time, behind the buffers
    std::int64_t scratch = 0;
    for (std::size_t i = 0; i < plan_.steps.size(); ++i)
      if (const auto& k = kernels_[plan_.steps[i].kernel]; k.scratch_bytes != nullptr)
        scratch = std::max(scratch,
                           aligned(k.scratch_bytes({nullptr, extents_.data() + steps_[i].extents, nullptr, nullptr})));
    const auto needed =
        static_cast<std::size_t>(bytes + scratch + arena_alignment);  // kernels may read a vector further
    if (arena_.size() < needed) arena_ = aligned_memory(needed);
    scratch_ = arena_.data() + bytes;
    set_pointers(offsets);
  }

  void set_pointers(const std::vector<std::int64_t>& offsets) {
    operands_.clear();
    ports_.clear();
    borders_.clear();
    border_extents_.clear();
    for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
      steps_[i].operands = operands_.size();
      for (std::int32_t n : plan_.numbers_of(plan_.steps[i].operands))
        add_pointer(static_cast<std::size_t>(n), offsets);
      const auto guards = plan_.numbers_of(plan_.steps[i].guards);
      for (std::size_t k = 0; k < guards.size(); k += 2) add_pointer(static_cast<std::size_t>(guards[k]), offsets);
      for (std::int32_t n : plan_.numbers_of(plan_.steps[i].borders)) {
        const buffer& x = plan_.buffers[static_cast<std::size_t>(n)];
        borders_.push_back({i, &x, arena_.data() + offsets[static_cast<std::size_t>(n)], border_extents_.size()});
        for (dim d : x.type.dims) border_extents_.push_back(table_.evaluate(d, values_.data()));
      }
    }
  }

  void add_pointer(std::size_t b, const std::vector<std::int64_t>& offsets) {
    const buffer& x = plan_.buffers[b];
    if (x.where == storage::input || x.where == storage::output)
      ports_.push_back({operands_.size(), x.where == storage::input, static_cast<std::size_t>(x.port)});
    operands_.push_back(x.where == storage::arena ? arena_.data() + offsets[b] : weights_->data(b));
  }

  // Do the conditions hold on which step i runs? An outer one is looked at before those that only it lets be computed.
  bool is_taken(std::size_t i) const noexcept {
    const step& s = plan_.steps[i];
    const auto guards = plan_.numbers_of(s.guards);
    std::byte* const* condition = operands_.data() + steps_[i].operands + s.operands.count;
    for (std::size_t k = 0; k < guards.size(); k += 2)
      if ((**condition++ != std::byte{0}) != (guards[k + 1] != 0)) return false;
    return true;
  }

  void find_strips() {
    strips_.clear();
    for (std::size_t i = 0; i + 1 < plan_.steps.size(); ++i) {
      const auto written = plan_.numbers_of(plan_.steps[i].operands),
                 read = plan_.numbers_of(plan_.steps[i + 1].operands);
      for (std::size_t w = 0; w < written.size(); ++w) {
        const buffer& b = plan_.buffers[static_cast<std::size_t>(written[w])];
        if (b.layout.window == 0 || b.first != static_cast<std::int32_t>(i)) continue;
        bound_strips s{i, w, 0, table_.evaluate(b.type.dims[2], values_.data()), b.layout.window, b.layout.slots, 0, 0};
        while (read[s.read] != written[w]) ++s.read;
        s.slot_bytes = static_cast<std::ptrdiff_t>(bytes_of(b) / s.slots);
        s.row_bytes = static_cast<std::ptrdiff_t>(size_of(b.type.type));
        for (std::size_t k = b.layout.order.size(); k-- > 0 && b.layout.order[k] != 2;)
          s.row_bytes *= table_.evaluate(b.type.dims[b.layout.order[k]], values_.data());
        strips_.push_back(s);
      }
    }
  }
  const bound_strips* strips_from(std::size_t step) const noexcept {
    for (const bound_strips& s : strips_)
      if (s.first == step) return &s;
    return nullptr;
  }

  // Each strip of rows goes through both kernels before the next; strips are independent of each other.
  void run_strips(const bound_strips& s, const parallel_for& loop) noexcept {
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
    std::copy_n(operands_.data() + steps_[i].operands, plan_.steps[i].operands.count, operands.data());
    operands[windowed] += shift;
    kernels_[plan_.steps[i].kernel].run_rows(
        {operands.data(), extents_.data() + steps_[i].extents, weights_->packed(i), scratch_}, first, last);
  }
  static constexpr std::size_t most_strip_operands = 64;

  void clear_borders(std::size_t i) noexcept {
    for (const bound_border& b : borders_)
      if (b.step == i) clear_border(*b.of, border_extents_.data() + b.extents, b.data);
  }

  void run_step(std::size_t i, const parallel_for& loop) noexcept {
    clear_borders(i);
    const cpu::kernel_entry& k = kernels_[plan_.steps[i].kernel];
    const cpu::kernel_call call{operands_.data() + steps_[i].operands, extents_.data() + steps_[i].extents,
                                weights_->packed(i), scratch_};
    if (k.prepare != nullptr) divide(call, k.prepare, k.prepare_units(call), loop);
    divide(call, k.run, k.units(call), loop);
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
  std::shared_ptr<const packed_tables> weights_;
  symbol_table table_;
  std::vector<std::int64_t> values_, extents_, border_extents_;
  std::vector<bound_step> steps_;
  std::vector<bound_border> borders_;
  std::vector<bound_strips> strips_;
  std::vector<std::byte*> operands_;
  std::vector<port> ports_;
  aligned_memory arena_;
  std::byte* scratch_ = nullptr;
  bool bound_ = false;
};

}  // namespace dnnkit
