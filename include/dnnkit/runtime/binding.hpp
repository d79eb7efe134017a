// SPDX-License-Identifier: MIT
// Values of a plan's symbols, as they are given.
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

}  // namespace detail

}  // namespace dnnkit
