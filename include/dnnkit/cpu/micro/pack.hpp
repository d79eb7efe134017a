// SPDX-License-Identifier: MIT
// Weight panels: a K x N matrix cut into column panels of whole vectors, each stored k by k, padded with zeros to full
// vectors.
#pragma once

#include <algorithm>
#include <type_traits>

#include "dnnkit/cpu/micro/split.hpp"
#include "dnnkit/cpu/micro/tile.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

// Columns are counted in vectors of float_lanes; a panel holds at most MaxVectors of them, evenly split (5 vectors are
// 3 + 2). A run-time N has panels of MaxVectors throughout, the last one padded.
template <int MaxVectors, class N> struct panels {
  static constexpr bool known = is_constant<N>;
  using vector_split = split<MaxVectors, constant<ceil_div(value_or<N>(1), float_lanes)>>;

  static constexpr index_t count(index_t n) noexcept {
    if constexpr (known) {
      return vector_split::count();
    } else {
      return ceil_div(n, MaxVectors * float_lanes);
    }
  }

  // Columns of storage: n rounded up to what the panels hold. A bias handed to a kernel must have as many values.
  static constexpr index_t padded(index_t n) noexcept {
    if constexpr (known) {
      return ceil_div(N::value, float_lanes) * float_lanes;
    } else {
      return count(n) * MaxVectors * float_lanes;
    }
  }

  // f(constant<vectors>{}, first column) for panel p.
  template <class F> [[gnu::always_inline]] static constexpr void visit(index_t p, F&& f) {
    if constexpr (known) {
      vector_split::visit(p, [&](auto vectors, index_t first) { f(vectors, first * float_lanes); });
    } else {
      f(constant<MaxVectors>{}, p * MaxVectors * float_lanes);
    }
  }

  // f(std::true_type or std::false_type) for a panel of several vectors from a column on: does it end in the first half
  // of one (ends_in_half)?
  template <class Vec, index_t Vectors, class F>
  [[gnu::always_inline]] static constexpr void with_half(index_t first, constant<Vectors>, F&& f) {
    constexpr bool may = known && Vectors > 1 && std::is_same_v<Vec, float_vec> && ends_in_half(value_or<N>(0));
    if constexpr (may) {
      if (first + Vectors * float_lanes > value_or<N>(0)) f(std::true_type{});
      else if constexpr (vector_split::count() > 1) f(std::false_type{});
    } else {
      f(std::false_type{});
    }
  }
};

// Writes panels of the k x n matrix value(row, column) to out, which holds k * Panels::padded(n) elements. Panel p
// starts at out + k * (its first column).
template <class Panels, class Value, class T> void pack_panels(index_t k, index_t n, Value&& value, T* out) {
  for (index_t p = 0; p < Panels::count(n); ++p) {
    Panels::visit(p, [&](auto vectors, index_t first) {
      const index_t width = vectors() * float_lanes;
      T* panel = out + k * first;
      for (index_t row = 0; row < k; ++row)
        for (index_t column = 0; column < width; ++column)
          panel[row * width + column] = first + column < n ? static_cast<T>(value(row, first + column)) : T(0);
    });
  }
}

// The same of vectors: value(row, column, lanes) yields those from a column on, of which the first `lanes` are there;
// the others are padding, and may be any numbers.
template <class Panels, class Vec, class Value>
void pack_panels_of_vectors(index_t k, index_t n, Value&& value, typename Vec::value_type* out) {
  for (index_t p = 0; p < Panels::count(n); ++p) {
    Panels::visit(p, [&](auto vectors, index_t first) {
      for (index_t row = 0; row < k; ++row)
        for (index_t column = first; column < first + vectors() * float_lanes;
             column += float_lanes, out += float_lanes)
          if (n - column >= float_lanes) value(row, column, constant<float_lanes>{}).store(out);
          else if (n > column) value(row, column, n - column).store(out);
          else Vec(0).store(out);
    });
  }
}

// n values followed by zeros up to the columns of the panels.
template <class Panels, class T> void pack_bias(index_t n, const T* bias, T* out) {
  std::fill(std::copy(bias, bias + n, out), out + Panels::padded(n), T(0));
}

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
