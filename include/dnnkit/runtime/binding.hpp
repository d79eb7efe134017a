// SPDX-License-Identifier: MIT
// Values of a plan's symbols: as they are given, and whether all extents make sense with them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dnnkit/core/error.hpp"
#include "dnnkit/plan/plan.hpp"
#include "dnnkit/tensor/check_assumptions.hpp"

namespace dnnkit {

// A symbol and the value it takes.
struct binding {
  std::string_view symbol;
  std::int64_t value;
};

namespace detail {

inline std::size_t symbol_named(const plan_view& plan, std::string_view symbol) {
  std::string known;
  for (std::size_t i = 0; i < plan.symbols.size(); ++i) {
    if (plan.symbols[i].name.view() == symbol) return i;
    known += (i ? ", " : "") + plan.symbols[i].name.str();
  }
  throw error("no such symbol", "bind", known.empty() ? "none" : known, std::string(symbol));
}

// Throws dnnkit::error when the symbol has no value, or one out of its bounds.
inline void check_bounds(const symbol& s, std::optional<std::int64_t> value) {
  if (!value || *value < s.limits.min || *value > s.limits.max)
    throw error("symbol is " + std::string(value ? "out of its bounds" : "not given a value"),
                "symbol '" + s.name.str() + "'", std::to_string(s.limits.min) + " to " + std::to_string(s.limits.max),
                value ? std::to_string(*value) : std::string{});
}

// One value for each symbol of the plan, whose table is `table`, in its order; one that follows from what is assumed
// may be left out. Throws dnnkit::error for a symbol that is unknown, missing, given twice or out of its bounds, and
// for extents that are assumed to be equal and are not.
inline std::vector<std::int64_t> values_of_symbols(const plan_view& plan, const symbol_table& table,
                                                   std::span<const binding> bindings) {
  std::vector<std::optional<std::int64_t>> given(plan.symbols.size());
  for (const binding& b : bindings) {
    std::optional<std::int64_t>& value = given[symbol_named(plan, b.symbol)];
    if (value) throw error("symbol is given two values", "symbol '" + std::string(b.symbol) + "'");
    value = b.value;
  }
  find_assumed(table, given);
  std::vector<std::int64_t> values;
  for (std::size_t i = 0; i < given.size(); ++i) {
    check_bounds(plan.symbols[i], given[i]);
    values.push_back(*given[i]);
  }
  check_assumptions(table, values);
  return values;
}

// Every tensor that is stored, and every kernel's iteration space, must have extents of 0 or more.
class extents_check {
 public:
  extents_check(const plan_view& plan, const symbol_table& table, std::span<const std::int64_t> values)
      : plan_(plan), table_(table), values_(values) {}

  // Throws dnnkit::error naming the operator or tensor that has a negative extent.
  void run() const {
    for (const buffer& b : plan_.buffers)
      for (dim d : b.type.dims)
        if (evaluate(d) < 0) refuse(d, writer_of(b), ", tensor '" + std::string(plan_.text_of(b.name)) + "'");
    for (const step& s : plan_.steps)
      for (local_extent e : plan_.extents_of(plan_.recipes[s.kernel].space))
        if (!e.is_known())
          if (const dim extent = plan_.dims_of(s.extents)[e.of_step()]; evaluate(extent) < 0)
            refuse(extent, operator_of(s), "");
  }

 private:
  std::int64_t evaluate(dim d) const { return table_.evaluate(d, values_.data()); }

  [[noreturn]] void refuse(dim d, std::string where, const std::string& tensor) const {
    where += tensor;
    if (where.starts_with(", ")) where.erase(0, 2);
    throw error("an extent would be negative: what is computed does not fit its input", where,
                table_.print(d).str() + " of 0 or more", std::to_string(evaluate(d)) + values_in(table_, d, values_));
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
    const step* writer = nullptr;
    for (const step& s : plan_.steps)
      for_each_written(plan_, s, [&](std::int32_t written) {
        if (writer == nullptr && &b == &plan_.buffers[static_cast<std::size_t>(written)]) writer = &s;
      });
    return writer == nullptr ? std::string() : operator_of(*writer);
  }

  const plan_view& plan_;
  const symbol_table& table_;
  std::span<const std::int64_t> values_;
};

}  // namespace detail

}  // namespace dnnkit
