// SPDX-License-Identifier: MIT
// What an importer knows of a tensor's elements before any input has arrived: the value half of SoD2's lattice (Figure
// 2: known constants, symbolic and operation-inferred constants, and not-a-constant), element by element.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "dnnkit/core/dtype.hpp"
#include "dnnkit/reference/host_tensor.hpp"
#include "dnnkit/tensor/shape.hpp"

namespace dnnkit::onnx {

// One element: an integer (or bool, 0 or 1), an expression over symbols, a real number, the quotient of two
// expressions, a truth value that says how two expressions are related, or not known. Elements of floating-point
// tensors may be any of these: 3 and L stand for 3.0 and the whole number that L has at run time.
struct known_element {
  enum class state : std::uint8_t { unknown, number, expression, real, fraction, comparison };

  static known_element of_number(std::int64_t n) { return {state::number, n, {}, 0, 1}; }
  static known_element of_real(double x) { return {state::real, 0, {}, x, 1}; }
  static known_element of_dim(dim d) {
    if (d.is_known()) return of_number(d.value());
    return d.is_unknown() ? known_element{} : known_element{state::expression, 0, d, 0, 1};
  }
  static known_element of_fraction(dim numerator, dim denominator) {
    return {state::fraction, 0, numerator, 0, denominator};
  }

  // 1 where `a` has this relation to `b`, else 0.
  static known_element of_comparison(dim a, relation is, dim b) {
    return {state::comparison, static_cast<std::int64_t>(is), a, 0, b};
  }

  bool is_unknown() const { return kind == state::unknown; }
  bool is_number() const { return kind == state::number; }
  bool is_expression() const { return kind == state::expression; }
  bool is_real() const { return kind == state::real; }
  bool is_fraction() const { return kind == state::fraction; }
  bool is_comparison() const { return kind == state::comparison; }
  bool is_numeric() const { return is_number() || is_real(); }
  relation compared_by() const { return static_cast<relation>(number); }  // of a comparison
  double as_real() const { return is_real() ? real : static_cast<double>(number); }
  friend bool operator==(const known_element& a, const known_element& b) {
    if (a.kind != b.kind) return false;
    if (a.is_number()) return a.number == b.number;
    if (a.is_real()) return a.real == b.real;
    if (a.is_comparison() && a.number != b.number) return false;
    return a.expression == b.expression && a.denominator == b.denominator;
  }

  state kind = state::unknown;
  std::int64_t number = 0;
  dim expression = dim::unknown();  // of a fraction, the numerator; of a comparison, its left side
  double real = 0;
  dim denominator = 1;  // at least 1; of a comparison, its right side
};

// More elements than this are data, not something a shape depends on.
inline constexpr std::size_t most_known_elements = 4096;

// A tensor's elements in row-major order; a single item stands for all of them (the extents may then be symbolic).
struct known_elements {
  dtype type = i64;
  shape dims;
  std::vector<known_element> items;

  // Of known extents: the number of elements; nothing above `most_known_elements`.
  static bool countable(const shape& dims, std::size_t& count) {
    count = 1;
    bool empty = false;
    for (dim d : dims) {
      if (!d.is_known()) return false;
      if (d.value() == 0) empty = true;
      else if (static_cast<std::uint64_t>(d.value()) > most_known_elements / count) count = most_known_elements + 1;
      else count *= static_cast<std::size_t>(d.value());
      count = std::min(count, most_known_elements + 1);
    }
    if (empty) count = 0;
    return count <= most_known_elements;
  }
  bool countable(std::size_t& count) const { return countable(dims, count); }
  // Element i; the one that stands for all if there is one.
  const known_element& at(std::size_t i) const { return items.size() == 1 ? items[0] : items[i]; }

  bool all(bool (known_element::*test)() const) const {
    return std::all_of(items.begin(), items.end(), [&](const known_element& e) { return (e.*test)(); });
  }
  bool is_numeric() const { return all(&known_element::is_numeric); }
  bool has_unknown() const {
    return std::any_of(items.begin(), items.end(), [](const known_element& e) { return e.is_unknown(); });
  }
};

inline known_elements scalar_of(dtype type, known_element e) { return {type, {}, {e}}; }
inline known_elements vector_of(std::vector<known_element> items) {
  const auto n = static_cast<std::int64_t>(items.size());
  return {i64, {n}, std::move(items)};
}

inline known_elements to_known(const host_tensor& t) {
  known_elements k{t.type, {}, {}};
  for (std::int64_t d : t.dims) k.dims.push_back(d);
  const std::size_t n = t.count();
  k.items.reserve(n);
  for (std::size_t i = 0; i < n; ++i)
    k.items.push_back(t.floating() ? known_element::of_real(t.reals[i]) : known_element::of_number(t.integers[i]));
  return k;
}

}  // namespace dnnkit::onnx
