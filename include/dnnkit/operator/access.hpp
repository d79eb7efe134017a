// SPDX-License-Identifier: MIT
// Coordinates and operands as the scalar definitions of operators see them.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include "dnnkit/operator/flow.hpp"
#include "dnnkit/operator/scalar.hpp"
#include "dnnkit/tensor/shape.hpp"

namespace dnnkit {

// Logical coordinates of one element; entries past the rank are zero. What movement operators do to them they do to any
// list of what may stand for numbers (opencl/index.hpp).
using coordinates = std::array<std::int64_t, max_rank>;
template <class Coordinates> using coordinate_of = typename std::remove_cvref_t<Coordinates>::value_type;

// Stands for an optional input that was left out.
struct absent {};
template <class T> inline constexpr bool is_present = !std::is_same_v<std::remove_cvref_t<T>, absent>;

// The context `c` given to at(), axes() and the like is any type with
//   c.rank(i), c.in(i, d)   rank and extent of input i
//   c.out_rank(), c.out(d)  the same of the output
//   c.value(d)              the number that a dimension among the attributes stands for in this run
//   typename C::real        the type sums of floating-point elements are kept in
//
// Operators of form::whole are given compute(c, y, x...), where each x and y is seen as row-major, whatever its
// storage:
//   x.present()              false for an optional input that was left out
//   x[i], x(coordinates)     an element, by its number or its coordinates
//   y.store(i, v), y.load(i) writes element i, and reads what was written
//   c.workspace()            room for workspace(c) numbers of C::real, if the operator has a member of that name
// A variadic one is given compute(c, y, x) with x(i, coordinates), element of input i. One whose output falls into
// parts that do not need each other has compute_part(c, part, y, x...) instead, for part = 0 ... parts(c) - 1.

// The type a sum of products of T is kept in: integers wrap around, so their own will do. Vectors are kept as they are.
template <class C, class T>
using sum_of = std::conditional_t<std::is_integral_v<T> || !std::is_arithmetic_v<T>, T, typename C::real>;
// x as a T: a number, or a vector with x in every lane.
template <class T> constexpr T spread(auto x) {
  if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, decltype(x)>) return static_cast<T>(x);
  else return T(static_cast<typename T::value_type>(x));
}
// The same as an element of the output that at() computes, given its context.
template <class T, class C> constexpr T output_element(const C&, auto x) { return spread<T>(x); }

// What extents are for a context, and a list of coordinates as of that type.
template <class C> using number_of = std::remove_cvref_t<decltype(std::declval<const C&>().in(0, 0))>;
template <class C> using coordinates_for = std::array<number_of<C>, max_rank>;

// Coordinates of element n in row-major order.
template <class Coordinates = coordinates>
constexpr Coordinates coordinates_of(coordinate_of<Coordinates> n, const auto& extent_at, std::size_t rank) {
  Coordinates c{};
  for (std::size_t d = rank; d-- > 0;) {
    c[d] = n % extent_at(d);
    n = n / extent_at(d);
  }
  return c;
}

// Computes all of the output of an operator of form::whole, part by part where it says parts.
template <class Op, class C> constexpr void compute_output(const Op& op, const C& c, const auto& y, const auto&... x) {
  if constexpr (requires { op.parts(c); })
    for_each(c, op.parts(c), [&](const number_of<C>& part) { op.compute_part(c, part, y, x...); });
  else op.compute(c, y, x...);
}

// Number of elements of input i, and of the output.
template <class C> constexpr auto input_count(const C& c, std::size_t i) {
  number_of<C> n = 1;
  for (std::size_t d = 0; d < c.rank(i); ++d) n = n * c.in(i, d);
  return n;
}
template <class C> constexpr std::int64_t output_count(const C& c) {
  std::int64_t n = 1;
  for (std::size_t d = 0; d < c.out_rank(); ++d) n *= c.out(d);
  return n;
}
// Coordinates of element n of input i, and of the output, in row-major order.
template <class C> constexpr coordinates_for<C> input_coordinates(const C& c, std::size_t i, number_of<C> n) {
  return coordinates_of<coordinates_for<C>>(
      n, [&](std::size_t d) { return c.in(i, d); }, c.rank(i));
}
template <class C> constexpr coordinates output_coordinates(const C& c, std::int64_t n) {
  coordinates r{};
  for (std::size_t d = c.out_rank(); d-- > 0;) {
    r[d] = n % c.out(d);
    n /= c.out(d);
  }
  return r;
}
// What lies around an axis: products of the extents before and behind it.
template <class N = std::int64_t> struct around_axis {
  N outer = 1, length = 1, inner = 1;
  // number of element k of the row that begins at (o, i)
  constexpr N at(const N& o, const N& k, const N& i) const { return (o * length + k) * inner + i; }
};
template <class C> constexpr around_axis<number_of<C>> around(const C& c, std::size_t input, std::size_t axis) {
  around_axis<number_of<C>> r;
  for (std::size_t d = 0; d < axis; ++d) r.outer = r.outer * c.in(input, d);
  r.length = c.in(input, axis);
  for (std::size_t d = axis + 1; d < c.rank(input); ++d) r.inner = r.inner * c.in(input, d);
  return r;
}
// An axis counted from the end if negative, as a position.
constexpr std::size_t axis_position(std::int64_t axis, std::size_t rank) {
  return static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis);
}

// next coordinates in row-major order over extents e[0..rank); false after the last
template <class Extents> constexpr bool next(coordinates& c, const Extents& e, std::size_t rank) {
  for (std::size_t i = rank; i-- > 0;) {
    if (++c[i] < e[i]) return true;
    c[i] = 0;
  }
  return false;
}

// Coordinates in an input of shape in(i) broadcast to the output coordinates o.
template <class C, class Coordinates>
constexpr Coordinates broadcast_coordinates(const C& c, std::size_t i, const Coordinates& o) {
  using number = coordinate_of<Coordinates>;
  Coordinates r{};
  const std::size_t rank = c.rank(i), lead = c.out_rank() - rank;
  for (std::size_t d = 0; d < rank; ++d) r[d] = select(c.in(i, d) == number(1), number(0), o[d + lead]);
  return r;
}

// A number read from a tensor that must lie from `least` to `most`. A context with a member out_of_range(what, x,
// least, most) is told of any other (the reference evaluator raises dnnkit::error); elsewhere it is clamped.
template <class C, std::integral N>
constexpr N within(const C& c, auto element, std::type_identity_t<N> least, N most, std::string_view what) {
  const auto x = static_cast<N>(element);
  if (x >= least && x <= most) return x;
  if constexpr (requires { c.out_of_range(what, x, least, most); }) c.out_of_range(what, x, least, most);
  return x < least ? least : most;
}
// A position read from a tensor, as one in 0 ... n-1: negative ones count from the end. For others see within().
template <class C, std::integral N> constexpr N position_in(const C& c, auto element, N n) {
  const N p = within(c, element, -n, n - 1, "index");
  return p < 0 ? p + n : p;
}

template <class Coordinates>
constexpr auto linear_index(const Coordinates& c, const auto& extent_at, std::size_t rank) {
  coordinate_of<Coordinates> n = 0;
  for (std::size_t d = 0; d < rank; ++d) n = n * extent_at(d) + c[d];
  return n;
}

}  // namespace dnnkit
