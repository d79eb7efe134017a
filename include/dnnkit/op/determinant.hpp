// SPDX-License-Identifier: MIT
// Determinants of square matrices: ONNX's Det, by elimination with the largest pivots of the columns.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dnnkit/operator/access.hpp"
#include "dnnkit/operator/function.hpp"

namespace dnnkit {

namespace op {

// [..., n, n] -> [...]
struct det {
  static constexpr std::string_view name = "Det";
  static constexpr form kind = form::whole;
  static constexpr std::size_t inputs = 1;
  static constexpr traits properties{.map = mapping::many_to_many};

  static constexpr void infer(inference& c) {
    if (!c.require_rank(0, 2, max_rank)) return;
    const shape& s = c.in(0);
    if (c.require_equal(s[s.size() - 2], "the number of rows", s[s.size() - 1], "that of columns"))
      c.out(c.type(0), shape(s.begin(), s.end() - 2));
  }
  static constexpr footprint reads(const inference& c, std::size_t) {
    footprint f = footprint::same_except(c.rank(0), c.rank(0) - 1);
    f.axes[c.rank(0) - 2] = needs::whole;
    return f;
  }
  static std::int64_t workspace(const auto& c) { return c.in(0, c.rank(0) - 1) * c.in(0, c.rank(0) - 1); }
  template <class C> static void compute(const C& c, auto y, auto x) {
    using real = typename C::real;
    const std::int64_t n = c.in(0, c.rank(0) - 1), matrices = output_count(c);
    real* const m = c.workspace();
    for (std::int64_t k = 0; k < matrices; ++k) {
      for (std::int64_t i = 0; i < n * n; ++i) m[i] = static_cast<real>(x[k * n * n + i]);
      real product = 1;
      for (std::int64_t column = 0; column < n && product != 0; ++column) {
        std::int64_t pivot = column;
        for (std::int64_t row = column + 1; row < n; ++row)
          if (std::abs(m[row * n + column]) > std::abs(m[pivot * n + column])) pivot = row;
        if (pivot != column) product = -product;
        product *= m[pivot * n + column];
        for (std::int64_t j = column; j < n && pivot != column; ++j) {
          const real moved = m[pivot * n + j];
          m[pivot * n + j] = m[column * n + j];
          m[column * n + j] = moved;
        }
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

}  // namespace op

inline constexpr function<op::det> det;

}  // namespace dnnkit
