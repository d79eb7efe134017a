// SPDX-License-Identifier: MIT
// Shapes (at most 8 dimensions), tensor types, and the arithmetic of dimensions with its symbol table at hand.
#pragma once

#include <concepts>
#include <initializer_list>
#include <string_view>

#include "dnnkit/core/dtype.hpp"
#include "dnnkit/core/static_vector.hpp"
#include "dnnkit/tensor/dim.hpp"

namespace dnnkit {

inline constexpr std::size_t max_rank = 8;
using shape = static_vector<dim, max_rank>;

// a == b. Compilers evaluate this in a third of the steps of static_vector's comparison.
constexpr bool same_shape(const shape& a, const shape& b) {
  if (a.count != b.count) return false;
  for (std::size_t i = 0; i < a.count; ++i)
    if (a.items[i].code != b.items[i].code) return false;
  return true;
}

struct tensor_type {
  dtype type = dtype::f32;
  shape dims;
  friend constexpr bool operator==(const tensor_type& a, const tensor_type& b) {
    return a.type == b.type && same_shape(a.dims, b.dims);
  }
};

constexpr bool is_known(const shape& s) {
  for (std::size_t i = 0; i < s.count; ++i)
    if (s.items[i].code >= 0) return false;
  return true;
}

constexpr bool has_unknown(const shape& s) {
  for (std::size_t i = 0; i < s.count; ++i)
    if (s.items[i].code == 0) return true;
  return false;
}

// A dimension together with the table its expression lives in, so that shapes are computed with + - * /.
struct extent {
  symbol_table* table;
  dim d;

  constexpr operator dim() const { return d; }
  friend constexpr extent operator+(extent a, extent b) { return {a.table, a.table->add(a.d, b.d)}; }
  friend constexpr extent operator-(extent a, extent b) { return {a.table, a.table->sub(a.d, b.d)}; }
  friend constexpr extent operator*(extent a, extent b) { return {a.table, a.table->mul(a.d, b.d)}; }
  friend constexpr extent operator+(extent a, std::int64_t b) { return {a.table, a.table->add(a.d, b)}; }
  friend constexpr extent operator-(extent a, std::int64_t b) {
    return {a.table, a.table->sub(a.d, a.table->add(dim(0), b))};
  }
  friend constexpr extent operator*(extent a, std::int64_t b) {
    return {a.table, a.table->mul(a.d, a.table->add(dim(0), b))};
  }
  // rounds down
  friend constexpr extent operator/(extent a, extent b) { return {a.table, a.table->floor_div(a.d, b.d)}; }
  friend constexpr extent operator/(extent a, std::int64_t b) { return {a.table, a.table->floor_div(a.d, dim(b))}; }
  constexpr extent mod(dim b) const { return {table, table->mod(d, b)}; }
  constexpr extent min(dim b) const { return {table, table->min(d, b)}; }
  constexpr extent max(dim b) const { return {table, table->max(d, b)}; }
};

constexpr dim element_count(symbol_table& table, const shape& s) {
  std::int64_t known = 1;
  std::size_t i = 0;
  while (i < s.count && s.items[i].code < 0 && !__builtin_mul_overflow(known, ~s.items[i].code, &known)) ++i;
  if (i == s.count) return known;
  dim n = 1;
  for (dim d : s) n = table.mul(n, d);
  return n;
}

// A dimension given by name: its value arrives with the input, between `limits.min` and `limits.max`.
struct sym {
  static constexpr bounds unsaid{1, bounds{}.max};

  constexpr sym() = default;
  constexpr sym(std::string_view s, bounds within = unsaid) : name(s), limits(within) {}
  constexpr sym(const char* s, bounds within = unsaid) : sym(std::string_view(s), within) {}

  std::string_view name;
  bounds limits = unsaid;
};

// One entry of a shape as a user writes it: 3, "H", sym("H", {1, 640}), or x.size(2).
struct dim_argument {
  constexpr dim_argument(std::integral auto n) {
    if (const auto extent = static_cast<std::int64_t>(n); extent >= -1) known = extent;
    else negative = extent;
  }
  constexpr dim_argument(dim d) : known(d) {}
  constexpr dim_argument(extent e) : known(e.d) {}
  constexpr dim_argument(sym s) : symbol(s), is_symbol(true) {}
  constexpr dim_argument(const char* name) : dim_argument(sym(name)) {}
  dim known = 0;
  sym symbol{};
  bool is_symbol = false;
  std::int64_t negative = 0;  // a number that is no extent
};
using shape_argument = std::initializer_list<dim_argument>;

constexpr text print(const symbol_table& table, const shape& s) {
  text t;
  t << "[";
  for (std::size_t i = 0; i < s.size(); ++i) t << (i ? ", " : "") << table.print(s[i]);
  return t << "]";
}

}  // namespace dnnkit
