// SPDX-License-Identifier: MIT
// Determinants and inverses of square matrices, by elimination with the largest pivots of the columns: ONNX's Det, ONNX
// Runtime's Inverse.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dnnkit/operator/access.hpp"
#include "dnnkit/operator/function.hpp"

namespace dnnkit {

namespace detail {

constexpr bool holds_square_matrices(inference& c) {
  if (!c.require_rank(0, 2, max_rank)) return false;
  const shape& s = c.in(0);
  return c.require_equal(s[s.size() - 2], "the number of rows", s[s.size() - 1], "that of columns");
}
constexpr footprint whole_matrices(const inference& c) {
  footprint f = footprint::same_except(c.rank(0), c.rank(0) - 1);
  f.axes[c.rank(0) - 2] = needs::whole;
  return f;
}

// The row, from `column` on, whose element in that column is the largest in magnitude.
template <class T> std::int64_t pivot_row(const T* m, std::int64_t rows, std::int64_t columns, std::int64_t column) {
  std::int64_t pivot = column;
  for (std::int64_t row = column + 1; row < rows; ++row)
    if (std::abs(m[row * columns + column]) > std::abs(m[pivot * columns + column])) pivot = row;
  return pivot;
}
// Rows a and b of a matrix change places, from column `first` on.
template <class T> void exchange_rows(T* m, std::int64_t columns, std::int64_t a, std::int64_t b, std::int64_t first) {
  for (std::int64_t j = first; j < columns && a != b; ++j) {
    const T moved = m[a * columns + j];
    m[a * columns + j] = m[b * columns + j];
    m[b * columns + j] = moved;
  }
}

}  // namespace detail

namespace op {

// [..., n, n] -> [...]
struct det {
  static constexpr std::string_view name = "Det";
  static constexpr form kind = form::whole;
  static constexpr std::size_t inputs = 1;
  static constexpr traits properties{.map = mapping::many_to_many};

  static constexpr void infer(inference& c) {
    if (detail::holds_square_matrices(c)) c.out(c.type(0), shape(c.in(0).begin(), c.in(0).end() - 2));
  }
  static constexpr footprint reads(const inference& c, std::size_t) { return detail::whole_matrices(c); }
  static std::int64_t workspace(const auto& c) { return c.in(0, c.rank(0) - 1) * c.in(0, c.rank(0) - 1); }
  template <class C> static void compute(const C& c, auto y, auto x) {
    using real = typename C::real;
    const std::int64_t n = c.in(0, c.rank(0) - 1), matrices = output_count(c);
    real* const m = c.workspace();
    for (std::int64_t k = 0; k < matrices; ++k) {
      for (std::int64_t i = 0; i < n * n; ++i) m[i] = static_cast<real>(x[k * n * n + i]);
      real product = 1;
      for (std::int64_t column = 0; column < n && product != 0; ++column) {
        const std::int64_t pivot = detail::pivot_row(m, n, n, column);
        if (pivot != column) product = -product;
        product *= m[pivot * n + column];
        detail::exchange_rows(m, n, pivot, column, column);
        for (std::int64_t row = column + 1; row < n && product != 0; ++row) {
          const real factor = m[row * n + column] / m[column * n + column];
          for (std::int64_t j = column; j < n; ++j) m[row * n + j] -= factor * m[column * n + j];
        }
      }
      y.store(k, product);
    }
  }
  constexpr dim flops(const inference& c) const { return c.count(0) * c.size(0, c.rank(0) - 1); }
};

// [..., n, n] -> the inverse of each matrix, as [x | 1] becomes [1 | inverse] (Gauss, Jordan); where a matrix has none,
// elements are not finite.
struct inverse {
  static constexpr std::string_view name = "Inverse";
  static constexpr form kind = form::whole;
  static constexpr std::size_t inputs = 1;
  static constexpr traits properties{.map = mapping::many_to_many};

  static constexpr void infer(inference& c) {
    if (detail::holds_square_matrices(c)) c.out(c.type(0), c.in(0));
  }
  static constexpr footprint reads(const inference& c, std::size_t) { return detail::whole_matrices(c); }
  static std::int64_t workspace(const auto& c) { return 2 * c.in(0, c.rank(0) - 1) * c.in(0, c.rank(0) - 1); }
  template <class C> static void compute(const C& c, auto y, auto x) {
    using real = typename C::real;
    const std::int64_t n = c.in(0, c.rank(0) - 1), columns = 2 * n, count = output_count(c);
    real* const m = c.workspace();
    for (std::int64_t first = 0; first < count; first += n * n) {
      for (std::int64_t row = 0; row < n; ++row)
        for (std::int64_t j = 0; j < n; ++j) {
          m[row * columns + j] = static_cast<real>(x[first + row * n + j]);
          m[row * columns + n + j] = row == j ? real(1) : real(0);
        }
      for (std::int64_t column = 0; column < n; ++column) {
        detail::exchange_rows(m, columns, detail::pivot_row(m, n, columns, column), column, column);
        const real pivot = m[column * columns + column];
        for (std::int64_t j = column; j < columns; ++j) m[column * columns + j] /= pivot;
        for (std::int64_t row = 0; row < n; ++row) {
          const real factor = m[row * columns + column];
          for (std::int64_t j = column; j < columns && row != column; ++j)
            m[row * columns + j] -= factor * m[column * columns + j];
        }
      }
      for (std::int64_t row = 0; row < n; ++row)
        for (std::int64_t j = 0; j < n; ++j) y.store(first + row * n + j, m[row * columns + n + j]);
    }
  }
  constexpr dim flops(const inference& c) const { return c.count(0) * c.size(0, c.rank(0) - 1) * 4; }
};

}  // namespace op

inline constexpr function<op::det> det;
inline constexpr function<op::inverse> inverse;

}  // namespace dnnkit
