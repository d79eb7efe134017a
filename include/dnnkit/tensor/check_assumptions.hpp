// SPDX-License-Identifier: MIT
// What is assumed of extents, once symbols have values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dnnkit/core/error.hpp"
#include "dnnkit/tensor/dim.hpp"

namespace dnnkit::detail {

// " where H = 3 and W = 4": the symbols in d; empty for a symbol alone and for a number.
inline std::string values_in(const symbol_table& table, dim d, std::span<const std::int64_t> values) {
  std::string text;
  if (table.symbol_of(d)) return text;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (table.uses(d, i))
      text += (text.empty() ? " where " : " and ") + table.symbols[i].name.str() + " = " + std::to_string(values[i]);
  return text;
}

// Nothing where the assumption holds; else the error that names what needs two extents to be equal (or otherwise
// related) that are not, the extents and their values.
inline std::optional<error> assumption_error(const symbol_table& table, const assumption& a,
                                             std::span<const std::int64_t> values) {
  const std::int64_t left = table.evaluate(a.left, values.data()), right = table.evaluate(a.right, values.data());
  if (holds(left, a.is, right)) return std::nullopt;
  const auto said = [&](dim d, std::int64_t value) {
    if (d.is_known()) return std::to_string(value);
    return table.print(d).str() + " = " + std::to_string(value) + values_in(table, d, values);
  };
  if (a.is == relation::equal && a.right.is_known())
    return error("an extent is not what it needs", a.needed_by.str(), said(a.right, right), said(a.left, left));
  if (a.is == relation::equal)
    return error("extents that it needs to be equal differ", a.needed_by.str(), said(a.left, left),
                 said(a.right, right));
  return error("extents are not as it needs them", a.needed_by.str(),
               table.print(a.left).str() + " " + std::string(sign_of(a.is)) + " " + table.print(a.right).str(),
               said(a.left, left) + " and " + said(a.right, right));
}
// Throws it for the first of the table's assumptions that does not hold.
inline void check_assumptions(const symbol_table& table, std::span<const std::int64_t> values) {
  for (const assumption& a : table.assumptions)
    if (std::optional<error> wrong = assumption_error(table, a, values)) throw std::move(*wrong);
}

// The value of d; nothing where that depends on a symbol without one.
inline std::optional<std::int64_t> value_of(const symbol_table& table, dim d,
                                            std::span<const std::optional<std::int64_t>> values) {
  std::vector<std::int64_t> present;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!values[i] && table.uses(d, i)) return std::nullopt;
    present.push_back(values[i].value_or(0));
  }
  return table.evaluate(d, present.data());
}

// Gives symbols that have no value those that they must have for what is assumed to hold, where there is no other.
inline void find_assumed(const symbol_table& table, std::span<std::optional<std::int64_t>> values) {
  bool learnt = true;
  const auto learn = [&](dim open, dim known) {
    const std::optional<linear_dim> x = table.linear_of(open);
    if (!x || values[x->symbol]) return;
    if (const auto value = value_of(table, known, values)) values[x->symbol] = x->solve(*value);
    learnt = learnt || values[x->symbol];
  };
  while (std::exchange(learnt, false)) {
    for (const assumption& a : table.assumptions) {
      if (a.is != relation::equal) continue;
      learn(a.left, a.right);
      learn(a.right, a.left);
    }
    for (std::size_t i = 0; i < values.size(); ++i)
      if (const assumption* const a = values[i] ? nullptr : table.replacement_of(i))
        if (values[i] = value_of(table, a->by, values); values[i]) learnt = true;
  }
}

}  // namespace dnnkit::detail
