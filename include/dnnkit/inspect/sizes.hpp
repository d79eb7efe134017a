// SPDX-License-Identifier: MIT
// Dimensions, shapes and byte counts as text: as expressions over symbols, or as numbers when the symbols have values.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dnnkit/core/error.hpp"
#include "dnnkit/core/vector.hpp"
#include "dnnkit/fmt.hpp"
#include "dnnkit/plan/plan.hpp"
#include "dnnkit/runtime/binding.hpp"
#include "dnnkit/runtime/bound_plan.hpp"
#include "dnnkit/tensor/check_assumptions.hpp"
#include "dnnkit/tensor/shape.hpp"

namespace dnnkit::detail {

// "1,234,567"
inline std::string grouped(std::int64_t n) {
  std::string digits = std::to_string(n);
  for (std::ptrdiff_t i = std::ssize(digits) - 3; i > (n < 0 ? 1 : 0); i -= 3)
    digits.insert(static_cast<std::size_t>(i), 1, ',');
  return digits;
}

class sizes {
 public:
  // `bindings`: none of the symbols, or all of them. Throws dnnkit::error for a symbol that is unknown or left out, and
  // where extents that are assumed to be equal are not.
  sizes(symbol_table table, std::span<const binding> bindings) : table_(std::move(table)) {
    if (bindings.empty()) return;
    std::vector<std::optional<std::int64_t>> given(table_.symbols.size());
    for (const binding& b : bindings) {
      const symbol_value found = value_of_binding({table_.symbols.begin(), table_.symbols.size()}, b);
      given[found.symbol] = found.value;
    }
    find_assumed(table_, given);
    for (std::size_t i = 0; i < given.size(); ++i) {
      if (!given[i]) throw error("symbol is not given a value", fmt::format("symbol '{}'", table_.symbols[i].name));
      values_.push_back(*given[i]);
    }
    check_assumptions(table_, {values_.begin(), values_.size()});
  }

  // The number `d` is, if that is known.
  dim value(dim d) const { return d.is_expression() && !values_.empty() ? table_.evaluate(d, values_.begin()) : d; }
  dim sum(dim a, dim b) { return table_.add(value(a), value(b)); }
  dim product(dim a, dim b) { return table_.mul(value(a), value(b)); }

  // Bytes of a buffer as it is stored.
  dim stored_bytes(const buffer& b) { return product(b.elements, static_cast<std::int64_t>(size_of(b.type.type))); }

  // "57,600", "9216*H*W"
  std::string text(dim d) const {
    d = value(d);
    return d.is_known() ? grouped(d.value()) : table_.print(d).str();
  }
  // The same whatever values are given.
  std::string expression(dim d) const { return table_.print(d).str(); }
  // "f32 [1, 3, H, W]"
  std::string text(const tensor_type& t) const {
    shape s;
    for (dim d : t.dims) s.push_back(value(d));
    return fmt::format("{} {}", t.type, print(table_, s));
  }

 private:
  symbol_table table_;
  vector<std::int64_t> values_;  // empty: none is known
};

}  // namespace dnnkit::detail
