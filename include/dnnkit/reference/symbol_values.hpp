// SPDX-License-Identifier: MIT
// The values of a graph's symbols, read off the shapes of its inputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dnnkit/core/error.hpp"
#include "dnnkit/tensor/shape.hpp"

namespace dnnkit {

class symbol_values {
 public:
  symbol_values() = default;
  explicit symbol_values(const symbol_table& table) : table_(&table), values_(table.symbols.size()) {}

  // Gives every symbol that stands alone in `dims` the extent found in its place. Throws dnnkit::error, naming `input`,
  // when the ranks differ, the extent is out of the symbol's bounds, or the symbol already has another value.
  void bind(const shape& dims, const std::vector<std::int64_t>& extents, const std::string& input) {
    if (dims.size() != extents.size())
      throw error("rank differs", input, std::to_string(dims.size()), std::to_string(extents.size()));
    for (std::size_t d = 0; d < dims.size(); ++d) {
      const std::optional<std::size_t> i = table_->symbol_of(dims[d]);
      if (!i) continue;
      const symbol& s = table_->symbols[*i];
      const std::string culprit = input + ", symbol '" + s.name.str() + "'";
      if (extents[d] < s.limits.min || extents[d] > s.limits.max)
        throw error("extent is out of bounds", culprit,
                    std::to_string(s.limits.min) + " to " + std::to_string(s.limits.max), std::to_string(extents[d]));
      if (values_[*i] && *values_[*i] != extents[d])
        throw error("symbol has two values", culprit, std::to_string(*values_[*i]), std::to_string(extents[d]));
      values_[*i] = extents[d];
    }
  }

  // d itself unless it is an expression, and then its value. Throws dnnkit::error naming a symbol that has none.
  dim of(dim d) const {
    if (!d.is_expression()) return d;
    std::vector<std::int64_t> known;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (!values_[i] && table_->uses(d, i))
        throw error("symbol has no value: no input has it for an extent",
                    "symbol '" + table_->symbols[i].name.str() + "'");
      known.push_back(values_[i].value_or(0));
    }
    const std::int64_t value = table_->evaluate(d, known.data());
    if (value < 0) throw error("extent is negative", table_->print(d).str(), {}, std::to_string(value));
    return value;
  }

  text print(const shape& s) const { return dnnkit::print(*table_, s); }

 private:
  const symbol_table* table_ = nullptr;
  std::vector<std::optional<std::int64_t>> values_;
};

}  // namespace dnnkit
