// SPDX-License-Identifier: MIT
// The transforms of Winograd's minimal filtering F(4, 3) (Winograd, Arithmetic Complexity of Computations, 1980; Lavin
// and Gray, Fast Algorithms for Convolutional Neural Networks, section 4): four outputs of a filter with three taps are
// A'[(G g) * (B' d)], six products instead of twelve. Nested along two axes: 36 instead of 144.
//
// The polynomials are taken at 0, +-sqrt(1/2), +-sqrt(2) and infinity. Squares of points are 1/2 and 2, whose product
// is 1: the transforms have few constants, and no power of a point is far from 1. At the usual points, +-1 and +-2, the
// largest errors are three to five times as large.
#pragma once

#include <array>

#include "dnnkit/cpu/micro/extent.hpp"
#include "dnnkit/cpu/micro/vec.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

struct winograd_transform {
  static constexpr int outputs = 4, taps = 3, points = outputs + taps - 1;

  static constexpr double near = 0.70710678118654752440, far = 1.41421356237309504880;  // sqrt(1/2), sqrt(2)
  static constexpr std::array<double, points - 1> finite{0, near, -near, far, -far};

  // G: the filter's polynomial at each point, divided by what Lagrange's interpolation divides by; at infinity its
  // leading coefficient.
  static constexpr std::array<std::array<double, taps>, points> of_filter = [] {
    std::array<std::array<double, taps>, points> g{};
    for (std::size_t i = 0; i < finite.size(); ++i) {
      double power = 1;
      for (std::size_t j = 0; j < finite.size(); ++j)
        if (j != i) power /= finite[i] - finite[j];
      for (double& x : g[i]) {
        x = power;
        power *= finite[i];
      }
    }
    g[points - 1][taps - 1] = 1;
    return g;
  }();

  // G g G': filters of 3 x 3 taps, tap by tap, at 6 x 6 points, which lie `plane` floats apart in `to`.
  template <index_t Filters>
  static void filters(const double (&g)[taps * taps][Filters], float* to, index_t plane) noexcept {
    double rows[points * taps][Filters];
    for (std::size_t i = 0; i < points; ++i)
      for (std::size_t x = 0; x < taps; ++x)
        for (index_t n = 0; n < Filters; ++n)
          rows[i * taps + x][n] =
              of_filter[i][0] * g[x][n] + of_filter[i][1] * g[taps + x][n] + of_filter[i][2] * g[2 * taps + x][n];
    for (std::size_t i = 0; i < points; ++i)
      for (std::size_t j = 0; j < points; ++j, to += plane)
        for (index_t n = 0; n < Filters; ++n)
          to[n] = static_cast<float>(of_filter[j][0] * rows[i * taps][n] + of_filter[j][1] * rows[i * taps + 1][n] +
                                     of_filter[j][2] * rows[i * taps + 2][n]);
  }

  // B' d: six elements of the input at the points. @pre to and d do not overlap
  [[gnu::always_inline]] static void input(const float_vec (&d)[points], float_vec (&to)[points]) noexcept {
    const float_vec a = fma(d[2], float_vec(-2.0f), d[4]),
                    b = float_vec(float(near)) * fma(d[1], float_vec(-2.0f), d[3]);
    const float_vec c = fma(d[2], float_vec(-0.5f), d[4]),
                    e = float_vec(float(far)) * fma(d[1], float_vec(-0.5f), d[3]);
    to[0] = fma(d[2], float_vec(-2.5f), d[0] + d[4]);
    to[1] = a + b;
    to[2] = a - b;
    to[3] = c + e;
    to[4] = c - e;
    to[5] = fma(d[3], float_vec(-2.5f), d[1] + d[5]);
  }

  // A' m: four outputs of the products at the points.
  [[gnu::always_inline]] static void output(const float_vec (&m)[points], float_vec (&to)[outputs]) noexcept {
    const float_vec a = m[1] + m[2], b = float_vec(float(near)) * (m[1] - m[2]);
    const float_vec c = m[3] + m[4], e = float_vec(float(far)) * (m[3] - m[4]);
    to[0] = m[0] + (a + c);
    to[1] = b + e;
    to[2] = fma(a, float_vec(0.5f), c + c);
    to[3] = fma(b, float_vec(0.5f), fma(e, float_vec(2.0f), m[5]));
  }
};

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
