// SPDX-License-Identifier: MIT
// The values of a graph's symbols, read off the shapes of its inputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dnnkit/core/error.hpp"
#include "dnnkit/tensor/check_assumptions.hpp"
#include "dnnkit/tensor/shape.hpp"

namespace dnnkit {

class symbol_values {
 public:
  symbol_values() = default;
  explicit symbol_values(const symbol_table& table) : table_(&table), values_(table.symbols.size()) {}

  // Gives every symbol that stands alone in one of `dims`, or in a multiple and a sum with a number, the value that the
  // extent found there says. Throws dnnkit::error, naming `input`, when the ranks differ, there is no such value, it is
  // out of the symbol's bounds, or the symbol already has another one.
  void bind(const shape& dims, const std::vector<std::int64_t>& extents, const std::string& input) {
    if (dims.size() != extents.size())
      throw error("rank differs", input, std::to_string(dims.size()), std::to_string(extents.size()));
    for (std::size_t d = 0; d < dims.size(); ++d) {
      const std::optional<linear_dim> x = table_->linear_of(dims[d]);
      if (!x) continue;
      const symbol& s = table_->symbols[x->symbol];
      const std::string culprit = input + ", symbol '" + s.name.str() + "'";
      const std::optional<std::int64_t> found = x->solve(extents[d]);
      if (!found)
        throw error("extent is not of the form it must have", culprit, table_->print(dims[d]).str(),
                    std::to_string(extents[d]));
      if (*found < s.limits.min || *found > s.limits.max)
        throw error("extent is out of bounds", culprit,
                    std::to_string(s.limits.min) + " to " + std::to_string(s.limits.max), std::to_string(*found));
      std::optional<std::int64_t>& value = values_[x->symbol];
      if (value && *value != *found)
        throw error("symbol has two values", culprit, std::to_string(*value), std::to_string(*found));
      value = found;
    }
  }

  // To be called when all inputs have been bound: symbols that follow from what is assumed get their values. Throws
  // dnnkit::error where extents that are assumed to be equal are not.
  void check_assumed() {
    if (table_->assumptions.empty()) return;
    detail::find_assumed(*table_, values_);
    detail::check_assumptions(*table_, all());
  }

  // d itself unless it is an expression, and then its value. Throws dnnkit::error naming a symbol that has none, and
  // where the value is negative, as no extent is.
  dim of(dim d) const {
    if (!d.is_expression()) return d;
    const std::int64_t value = number(d);
    if (value < 0) throw error("extent is negative", table_->print(d).str(), {}, std::to_string(value));
    return value;
  }
  // The number that d stands for, of either sign. Throws dnnkit::error naming a symbol that has no value.
  // @pre !d.is_unknown()
  std::int64_t number(dim d) const {
    if (!d.is_expression()) return d.value();
    std::vector<std::int64_t> known;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (!values_[i] && table_->uses(d, i))
        throw error("symbol has no value: no input has it for an extent",
                    "symbol '" + table_->symbols[i].name.str() + "'");
      known.push_back(values_[i].value_or(0));
    }
    return table_->evaluate(d, known.data());
  }

  // The values of all symbols. Throws dnnkit::error naming one that has none.
  std::vector<std::int64_t> all() const {
    std::vector<std::int64_t> known;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (!values_[i])
        throw error("symbol has no value: no input has it for an extent",
                    "symbol '" + table_->symbols[i].name.str() + "'");
      known.push_back(*values_[i]);
    }
    return known;
  }

  text print(const shape& s) const { return dnnkit::print(*table_, s); }

 private:
  const symbol_table* table_ = nullptr;
  std::vector<std::optional<std::int64_t>> values_;
};

}  // namespace dnnkit
