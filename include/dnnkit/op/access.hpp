// SPDX-License-Identifier: MIT
// Coordinates and operands as the scalar definitions of operators see them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "dnnkit/tensor/shape.hpp"

namespace dnnkit {

// Logical coordinates of one element; entries past the rank are zero.
using coordinates = std::array<std::int64_t, max_rank>;

// Stands for an optional input that was left out.
struct absent {};
template <class T> inline constexpr bool is_present = !std::is_same_v<std::remove_cvref_t<T>, absent>;

// The context `c` given to at(), axes() and the like is any type with
//   c.rank(i), c.in(i, d)   rank and extent of input i
//   c.out_rank(), c.out(d)  the same of the output
//   typename C::real        the type sums of floating-point elements are kept in

// next coordinates in row-major order over extents e[0..rank); false after the last
template <class Extents> constexpr bool next(coordinates& c, const Extents& e, std::size_t rank) {
  for (std::size_t i = rank; i-- > 0;) {
    if (++c[i] < e[i]) return true;
    c[i] = 0;
  }
  return false;
}

// Coordinates in an input of shape in(i) broadcast to the output coordinates o.
template <class C> constexpr coordinates broadcast_coordinates(const C& c, std::size_t i, const coordinates& o) {
  coordinates r{};
  const std::size_t rank = c.rank(i), lead = c.out_rank() - rank;
  for (std::size_t d = 0; d < rank; ++d) r[d] = c.in(i, d) == 1 ? 0 : o[d + lead];
  return r;
}

// A position read from a tensor, as one in 0 ... n-1: negative ones count from the end. A context with a member
// index_out_of_range(i, n) is told of any other (the reference evaluator raises dnnkit::error); elsewhere it is
// clamped.
template <class C> constexpr std::int64_t position_in(const C& c, std::int64_t i, std::int64_t n) {
  const std::int64_t p = i < 0 ? i + n : i;
  if (p >= 0 && p < n) return p;
  if constexpr (requires { c.index_out_of_range(i, n); }) c.index_out_of_range(i, n);
  return p < 0 ? 0 : n - 1;
}

// The value of an attribute that is a dimension; a context where it may be an expression has a member value(d).
template <class C> constexpr std::int64_t value_of(const C& c, dim d) {
  if constexpr (requires { c.value(d); }) return c.value(d);
  else return d.value();
}

constexpr std::int64_t linear_index(const coordinates& c, const auto& extent_at, std::size_t rank) {
  std::int64_t n = 0;
  for (std::size_t d = 0; d < rank; ++d) n = n * extent_at(d) + c[d];
  return n;
}
constexpr coordinates coordinates_of(std::int64_t n, const auto& extent_at, std::size_t rank) {
  coordinates c{};
  for (std::size_t d = rank; d-- > 0;) {
    c[d] = n % extent_at(d);
    n /= extent_at(d);
  }
  return c;
}

}  // namespace dnnkit
