// SPDX-License-Identifier: MIT
// What follows from a plan and values of its symbols: extents, places in the arena, tables of pointers. Made as a whole
// or not at all, so that a session whose bind() fails still has what it had before.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dnnkit/core/error.hpp"
#include "dnnkit/cpu/kernel.hpp"
#include "dnnkit/plan/placement.hpp"
#include "dnnkit/runtime/packed_weights.hpp"

namespace dnnkit {

// A symbol and the value it takes.
struct binding {
  std::string_view symbol;
  std::int64_t value;
};

// What a session has besides its arena; read by execution.hpp.
struct bound_tables {
  struct step_place {
    std::size_t operands = 0,
                extents = 0;  // first entry of each; behind the operands come the conditions of its guards
    bool idle = false;        // all that it writes is without elements
  };
  struct border {
    std::size_t step;
    const buffer* of;
    std::byte* data;
    std::size_t extents;
  };
  // Step `first` and the one after it, handing over a windowed buffer.
  struct strips {
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

  std::vector<std::int64_t> values;   // of the symbols
  std::vector<std::int64_t> extents;  // of the steps' kernels
  std::vector<std::int64_t> border_extents;
  std::vector<step_place> steps;
  std::vector<border> borders;
  std::vector<strips> strip_pairs;
  std::vector<std::byte*> operands;
  std::vector<port> ports;
  std::byte* scratch = nullptr;
  // Where each step's workers have scratch memory of their own, and how far it is from one's to the next one's.
  struct worker_scratch {
    std::byte* data = nullptr;
    std::ptrdiff_t stride = 0;  // 0: they have none
  };
  std::vector<worker_scratch> workers;
  static constexpr std::size_t most_workers = 16;
};

namespace detail {

class plan_binder {
 public:
  plan_binder(const plan_view& plan, const symbol_table& table, std::span<const cpu::kernel_entry> kernels,
              const packed_tables& weights)
      : plan_(plan), table_(table), kernels_(kernels), weights_(weights) {}

  // The tables for these values, with pointers into `arena`, which is replaced when it is too small; if anything is
  // thrown, it is as it was.
  bound_tables bind(std::span<const binding> bindings, aligned_memory& arena) {
    find_values(bindings);
    check_extents();
    find_extents();
    find_strips();
    find_idle_steps();
    find_bytes();
    const placement placed = placement_of(plan_, [&](const buffer& b) { return bytes_[number_of(b)]; });
    const std::int64_t bytes = placed.bytes;
    aligned_memory larger;
    const auto needed =
        static_cast<std::size_t>(bytes + scratch_bytes() + arena_alignment);  // kernels may read a vector further
    if (arena.size() < needed) larger = allocated(needed);
    const bool is_larger = arena.size() < needed;
    std::byte* const base = is_larger ? larger.data() : arena.data();
    t_.scratch = base + bytes;
    for (std::size_t i = 0; i < plan_.steps.size(); ++i)
      t_.workers.push_back({t_.scratch + scratch_of(i), static_cast<std::ptrdiff_t>(worker_bytes_of(i))});
    set_pointers(placed, base);
    if (is_larger) arena = std::move(larger);
    return std::move(t_);
  }

 private:
  static constexpr std::int64_t most_bytes = std::int64_t{1} << 48;

  std::int64_t evaluate(dim d) const { return table_.evaluate(d, t_.values.data()); }
  std::size_t number_of(const buffer& b) const { return static_cast<std::size_t>(&b - plan_.buffers.data()); }
  const buffer& buffer_at(std::int32_t b) const { return plan_.buffers[static_cast<std::size_t>(b)]; }

  // --- values
  void find_values(std::span<const binding> bindings) {
    std::vector<std::optional<std::int64_t>> given(plan_.symbols.size());
    for (const binding& b : bindings) {
      std::optional<std::int64_t>& value = given[index_of(b.symbol)];
      if (value) throw error("symbol is given two values", "symbol '" + std::string(b.symbol) + "'");
      value = b.value;
    }
    for (std::size_t i = 0; i < given.size(); ++i) t_.values.push_back(checked_value(plan_.symbols[i], given[i]));
  }
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

  // --- extents
  // Every tensor that is stored, and every kernel's iteration space, has extents of 0 or more.
  void check_extents() const {
    for (const buffer& b : plan_.buffers)
      for (dim d : b.type.dims)
        if (evaluate(d) < 0) refuse_extent(d, writer_of(b), ", tensor '" + std::string(plan_.text_of(b.name)) + "'");
    for (const step& s : plan_.steps)
      for (dim d : plan_.dims_of(plan_.recipes[s.kernel].space))
        if (!d.is_known())
          if (const dim extent = plan_.dims_of(s.extents)[d.expression()]; evaluate(extent) < 0)
            refuse_extent(extent, operator_of(s), "");
  }
  [[noreturn]] void refuse_extent(dim d, std::string where, const std::string& tensor) const {
    where += tensor;
    if (where.starts_with(", ")) where.erase(0, 2);
    throw error("an extent would be negative: what is computed does not fit its input", where,
                table_.print(d).str() + " of 0 or more", std::to_string(evaluate(d)) + values_of(d));
  }
  // " where H = 3"
  std::string values_of(dim d) const {
    std::string text;
    for (std::size_t i = 0; i < plan_.symbols.size(); ++i)
      if (table_.uses(d, i))
        text +=
            (text.empty() ? " where " : " and ") + plan_.symbols[i].name.str() + " = " + std::to_string(t_.values[i]);
    return text;
  }
  // "Conv 'conv1'": the operator a kernel is built around; "kernel 'add'" when there is none.
  std::string operator_of(const step& s) const {
    const recipe& r = plan_.recipes[s.kernel];
    const std::string_view type = r.anchor.id == operator_id::none ? "kernel" : r.anchor.name;
    const std::string_view name = plan_.text_of(s.name);
    return std::string(type) + (name == type ? "" : " '" + std::string(name) + "'");
  }
  // The operator that computes b; empty for inputs and the like.
  std::string writer_of(const buffer& b) const {
    for (const step& s : plan_.steps)
      for (std::int32_t written : written_by(s))
        if (number_of(b) == static_cast<std::size_t>(written)) return operator_of(s);
    return {};
  }
  std::vector<std::int32_t> written_by(const step& s) const {
    std::vector<std::int32_t> list;
    for (const recipe_output& o : plan_view::part<recipe_output>(plan_.outputs, plan_.recipes[s.kernel].outputs))
      list.push_back(plan_.numbers_of(s.operands)[o.operand]);
    return list;
  }

  void find_extents() {
    for (const step& s : plan_.steps) {
      t_.steps.push_back({0, t_.extents.size()});
      for (dim d : plan_.dims_of(s.extents)) t_.extents.push_back(evaluate(d));
    }
  }

  void find_strips() {
    for (std::size_t i = 0; i + 1 < plan_.steps.size(); ++i) {
      const auto written = plan_.numbers_of(plan_.steps[i].operands),
                 read = plan_.numbers_of(plan_.steps[i + 1].operands);
      for (std::size_t w = 0; w < written.size(); ++w) {
        const buffer& b = buffer_at(written[w]);
        if (b.layout.window == 0 || b.first != static_cast<std::int32_t>(i)) continue;
        bound_tables::strips s{i, w, 0, evaluate(b.type.dims[2]), b.layout.window, b.layout.slots, 0, 0};
        while (read[s.read] != written[w]) ++s.read;
        s.slot_bytes = static_cast<std::ptrdiff_t>(room_of(b) / b.layout.slots);
        s.row_bytes = static_cast<std::ptrdiff_t>(size_of(b.type.type));
        for (std::size_t k = b.layout.order.size(); k-- > 0 && b.layout.order[k] != 2;)
          s.row_bytes *= evaluate(b.type.dims[b.layout.order[k]]);
        t_.strip_pairs.push_back(s);
      }
    }
  }

  // --- memory
  bool is_empty(const buffer& b) const {
    return std::ranges::any_of(b.type.dims, [&](dim d) { return evaluate(d) == 0; });
  }
  // Bytes with border and slots; what does not fit 63 bits is their largest number.
  std::int64_t room_of(const buffer& b) const {
    std::int64_t bytes = static_cast<std::int64_t>(size_of(b.type.type)) * b.layout.slots;
    bool empty = false;
    for (std::size_t i = 0; i < b.type.dims.size(); ++i) {
      const bool windowed = b.layout.window != 0 && i == 2;
      const std::int64_t n =
          windowed ? b.layout.window
          : i < b.layout.before.size()
              ? detail::saturating_add(evaluate(b.type.dims[i]), b.layout.before[i] + b.layout.after[i])
              : evaluate(b.type.dims[i]);
      empty = empty || n == 0;
      bytes = detail::saturating_mul(bytes, n);
    }
    return empty ? 0 : bytes;
  }

  // A step that writes nothing is left out, unless it takes turns with one that does.
  void find_idle_steps() {
    for (std::size_t i = 0; i < plan_.steps.size(); ++i)
      t_.steps[i].idle =
          std::ranges::all_of(written_by(plan_.steps[i]), [&](std::int32_t b) { return is_empty(buffer_at(b)); });
    for (const bound_tables::strips& s : t_.strip_pairs)
      t_.steps[s.first].idle = t_.steps[s.first + 1].idle = t_.steps[s.first].idle && t_.steps[s.first + 1].idle;
  }

  // A tensor without elements takes no memory, unless somebody reads its border.
  void find_bytes() {
    std::vector<bool> is_used(plan_.buffers.size());
    for (std::size_t i = 0; i < plan_.steps.size(); ++i)
      if (!t_.steps[i].idle)
        for (std::int32_t b : plan_.numbers_of(plan_.steps[i].operands)) is_used[static_cast<std::size_t>(b)] = true;
    for (const buffer& b : plan_.buffers) {
      const bool takes = b.where != storage::tiles && (!is_empty(b) || is_used[number_of(b)]);  // workers have tiles
      bytes_.push_back(takes ? room_of(b) : 0);
      if (bytes_.back() > most_bytes)
        throw error("too large for any memory", "tensor '" + std::string(plan_.text_of(b.name)) + "'", {}, text_of(b));
    }
  }
  // "f32 [1, 8, 2000000000]"
  std::string text_of(const buffer& b) const {
    std::string text = std::string(name(b.type.type)) + " [";
    for (std::size_t i = 0; i < b.type.dims.size(); ++i)
      text += (i ? ", " : "") + std::to_string(evaluate(b.type.dims[i]));
    return text + "]";
  }

  // Of one kernel at a time, behind the buffers.
  std::int64_t scratch_bytes() const {
    std::int64_t most = 0;
    for (std::size_t i = 0; i < plan_.steps.size(); ++i)
      most = std::max(most, scratch_of(i) + static_cast<std::int64_t>(bound_tables::most_workers) * worker_bytes_of(i));
    return most;
  }
  std::int64_t scratch_of(std::size_t i) const { return evaluated(kernels_[plan_.steps[i].kernel].scratch_bytes, i); }
  std::int64_t worker_bytes_of(std::size_t i) const {
    return evaluated(kernels_[plan_.steps[i].kernel].worker_bytes, i);
  }
  std::int64_t evaluated(std::int64_t (*bytes)(const cpu::kernel_call&) noexcept, std::size_t i) const {
    if (bytes == nullptr || t_.steps[i].idle) return 0;
    return aligned(bytes({nullptr, t_.extents.data() + t_.steps[i].extents, nullptr, nullptr, nullptr}));
  }

  aligned_memory allocated(std::size_t bytes) const {
    try {
      return aligned_memory(bytes);
    } catch (const std::bad_alloc&) {
      std::size_t largest = 0;
      for (std::size_t b = 0; b < bytes_.size(); ++b)
        if (plan_.buffers[b].where == storage::arena &&
            (plan_.buffers[largest].where != storage::arena || bytes_[b] > bytes_[largest]))
          largest = b;
      const buffer& b = plan_.buffers[largest];
      throw error("not enough memory for " + std::to_string(bytes) + " bytes", "arena", {},
                  "as its largest tensor '" + std::string(plan_.text_of(b.name)) + "', " + text_of(b));
    }
  }

  // --- pointers
  void set_pointers(const placement& placed, std::byte* base) {
    for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
      t_.steps[i].operands = t_.operands.size();
      for (std::int32_t n : plan_.numbers_of(plan_.steps[i].operands)) add_pointer(n, placed, base);
      const auto guards = plan_.numbers_of(plan_.steps[i].guards);
      for (std::size_t k = 0; k < guards.size(); k += 2) add_pointer(guards[k], placed, base);
      for (std::int32_t n : plan_.numbers_of(plan_.steps[i].borders)) {
        const buffer& x = buffer_at(n);
        if (bytes_[number_of(x)] == 0) continue;
        t_.borders.push_back({i, &x, base + placed.offsets[number_of(x)], t_.border_extents.size()});
        for (dim d : x.type.dims) t_.border_extents.push_back(evaluate(d));
      }
    }
  }
  void add_pointer(std::int32_t n, const placement& placed, std::byte* base) {
    const buffer& x = buffer_at(n);
    if (x.where == storage::input || x.where == storage::output)
      t_.ports.push_back({t_.operands.size(), x.where == storage::input, static_cast<std::size_t>(x.port)});
    t_.operands.push_back(x.where == storage::arena ? base + placed.offsets[number_of(x)]
                                                    : weights_.data(number_of(x)));
  }

  const plan_view& plan_;
  const symbol_table& table_;
  std::span<const cpu::kernel_entry> kernels_;
  const packed_tables& weights_;
  std::vector<std::int64_t> bytes_;  // of each buffer
  bound_tables t_;
};

}  // namespace detail

}  // namespace dnnkit
