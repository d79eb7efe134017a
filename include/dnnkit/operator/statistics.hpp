// SPDX-License-Identifier: MIT
// How reductions and row operators (Softmax, normalisations) are said: as passes over a row, each a fold, so that the
// same definition serves the scalar reference, a loop over vectors with a final merge, and many rows in lockstep.
//
// An operator with statistics has
//   static constexpr std::size_t passes;
//   axis_set axes(std::size_t rank) const;                    the axes a row runs over
//   template <class T> T start(pass<P>) const;                neutral element of the fold
//   template <class T> T accumulate(pass<P>, T sum, T x, const statistics<T, passes>& s) const;   s: closed passes < P
//   template <class T> T merge(pass<P>, T a, T b) const;      joins two partial folds
//   template <class T> T close(pass<P>, T sum, T n, const statistics<T, passes>& s) const;        n: elements folded
// A reduction's output element is the last statistic; a row operator's is finish(x, s). The functions are constexpr.
//
// A row operator of which the last pass and finish() begin with the same, dear function of an element says it besides,
//   template <class T> T shared(T x, const statistics<T, passes>& s) const;      s: all closed passes but the last
//   template <class T> T accumulate_shared(T sum, T e) const;                    the last pass: with e = shared(x, s)
//   template <class T> T finish_shared(T e, const statistics<T, passes>& s) const;
// so that kernels that keep a row compute it once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <type_traits>

#include "dnnkit/operator/attributes.hpp"
#include "dnnkit/operator/inference.hpp"

namespace dnnkit {

template <std::size_t P> using pass = std::integral_constant<std::size_t, P>;

template <class T, std::size_t N> using statistics = std::array<T, N>;

// Has the operator what is said above of shared()?
template <class Op>
concept shares_elements = requires(const Op& op, float x, const statistics<float, Op::passes>& s) {
  op.finish_shared(op.accumulate_shared(x, op.shared(x, s)), s);
};

// Bit d set: axis d belongs to the set.
struct axis_set {
  std::uint32_t bits = 0;
  constexpr bool has(std::size_t d) const { return (bits >> d & 1) != 0; }
  constexpr void add(std::size_t d) { bits |= 1u << d; }
};

// The axes of `list` (negative ones count from the end); all axes for an empty list.
constexpr axis_set axes_of(const int_list& list, std::size_t rank) {
  axis_set s;
  for (std::int64_t a : list) s.add(static_cast<std::size_t>(a < 0 ? a + static_cast<std::int64_t>(rank) : a));
  if (list.empty())
    for (std::size_t d = 0; d < rank; ++d) s.add(d);
  return s;
}

// The attribute `axes` of an operator with statistics: written as a list, {.axes = {2, 3}}, read as axes(rank).
struct row_axes {
  int_list list;

  constexpr row_axes() = default;
  constexpr row_axes(std::initializer_list<std::int64_t> axes) : list(axes) {}
  constexpr row_axes(const int_list& axes) : list(axes) {}
  constexpr axis_set operator()(std::size_t rank) const { return axes_of(list, rank); }
};

constexpr bool check_axes(inference& c, const int_list& list) {
  for (std::int64_t a : list)
    if (!c.normalise_axis(a, c.rank(0))) return false;
  return true;
}

}  // namespace dnnkit
