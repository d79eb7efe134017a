// SPDX-License-Identifier: MIT
// Values of a plan's symbols, as they are given.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "dnnkit/core/error.hpp"
#include "dnnkit/plan/plan.hpp"
#include "dnnkit/tensor/check_assumptions.hpp"

namespace dnnkit {

// A symbol and the value it takes; or the value of what it is a part of: the symbol of an imported model whose height
// must be a multiple of 32 is height/32, and {"height", 320} gives it 10.
struct binding {
  std::string_view symbol;
  std::int64_t value;
};

namespace detail {

// The number n when `name` is "WHOLE/n": what the whole is a multiple of. "H/2/2" is a quarter.
inline std::optional<std::int64_t> divisor(std::string_view name, std::string_view whole) {
  if (!name.starts_with(whole) || name.size() < whole.size() + 2 || name[whole.size()] != '/') return std::nullopt;
  std::int64_t factor = 1;
  while (name.size() > whole.size()) {
    const std::size_t slash = name.rfind('/');
    const std::string_view digits = name.substr(slash + 1);
    std::int64_t n = 0;
    const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), n);
    if (failure != std::errc() || end != digits.data() + digits.size() || n < 1) return std::nullopt;
    if (__builtin_mul_overflow(factor, n, &factor)) return std::nullopt;
    name = name.substr(0, slash);
  }
  return factor;
}

// A symbol by its number, and its value.
struct symbol_value {
  std::size_t symbol;
  std::int64_t value;
};
// Throws dnnkit::error for a name that stands for nothing, and a whole that is no such multiple.
inline symbol_value value_of_binding(std::span<const symbol> symbols, const binding& given) {
  std::string known;
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    if (symbols[i].name.view() == given.symbol) return {i, given.value};
    known += (i ? ", " : "") + symbols[i].name.str();
  }
  for (std::size_t i = 0; i < symbols.size(); ++i)
    if (const std::optional<std::int64_t> n = divisor(symbols[i].name.view(), given.symbol)) {
      if (given.value % *n != 0)
        throw error("is no extent that the network can have", "bind, '" + std::string(given.symbol) + "'",
                    "a multiple of " + std::to_string(*n), std::to_string(given.value));
      return {i, given.value / *n};
    }
  throw error("no such symbol", "bind", known.empty() ? "none" : known, std::string(given.symbol));
}

// Throws dnnkit::error when the symbol has no value, or one out of its bounds.
inline void check_bounds(const symbol& s, std::optional<std::int64_t> value) {
  if (!value || *value < s.limits.min || *value > s.limits.max)
    throw error(value ? "symbol is out of its bounds"
                      : "symbol is not given a value, as by bind({{\"" + s.name.str() + "\", NUMBER}, ...})",
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
    const symbol_value found = value_of_binding(plan.symbols, b);
    std::optional<std::int64_t>& value = given[found.symbol];
    if (value) throw error("symbol is given two values", "symbol '" + plan.symbols[found.symbol].name.str() + "'");
    value = found.value;
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
