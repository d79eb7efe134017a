// SPDX-License-Identifier: MIT
// The transforms of Winograd's minimal filtering (Winograd, Arithmetic Complexity of Computations, 1980; Lavin and
// Gray, Fast Algorithms for Convolutional Neural Networks, section 4), one axis at a time: outputs of a filter are
// A'[(G g) * (B' d)]. Nested along two axes, transforms and numbers of products multiply.
//
// The polynomials are taken at 0, +-sqrt(1/2), +-sqrt(2) and infinity. Squares of points are 1/2 and 2, whose product
// is 1: the transforms have few constants, and no power of a point is far from 1. At the usual points, +-1 and +-2, the
// largest errors are three to five times as large.
#pragma once

#include <array>
#include <cstddef>

#include "dnnkit/cpu/micro/extent.hpp"
#include "dnnkit/cpu/micro/vec.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

inline constexpr double near_point = 0.70710678118654752440, far_point = 1.41421356237309504880;  // sqrt(1/2), sqrt(2)

// G: a filter's polynomial at each point, divided by what Lagrange's interpolation divides by; at infinity, the last,
// its leading coefficient.
template <std::size_t Taps, std::size_t Finite>
constexpr std::array<std::array<double, Taps>, Finite + 1> filter_at(const std::array<double, Finite>& finite) {
  std::array<std::array<double, Taps>, Finite + 1> g{};
  for (std::size_t i = 0; i < Finite; ++i) {
    double power = 1;
    for (std::size_t j = 0; j < Finite; ++j)
      if (j != i) power /= finite[i] - finite[j];
    for (double& x : g[i]) {
      x = power;
      power *= finite[i];
    }
  }
  g[Finite][Taps - 1] = 1;
  return g;
}

// Along an axis, a filter of so many taps that moves so many elements: `outputs` of it are made of `inputs` elements by
// `points` products, with `weights` different numbers, that of point i being weight_of(i); of_filter is G. input() is
// B' d and output() A' m, of arrays that do not overlap.
template <int Taps, int Stride> struct winograd_axis;

// Nothing to transform.
template <> struct winograd_axis<1, 1> {
  static constexpr int outputs = 1, inputs = 1, points = 1, weights = 1;
  static constexpr std::array<std::array<double, 1>, 1> of_filter{{{1}}};
  static constexpr int weight_of(int) noexcept { return 0; }

  [[gnu::always_inline]] static void input(const float_vec (&d)[inputs], float_vec (&to)[points]) noexcept {
    to[0] = d[0];
  }
  [[gnu::always_inline]] static void output(const float_vec (&m)[points], float_vec (&to)[outputs]) noexcept {
    to[0] = m[0];
  }
};

// F(4, 3): six products instead of twelve.
template <> struct winograd_axis<3, 1> {
  static constexpr int outputs = 4, inputs = 6, points = 6, weights = 6;
  static constexpr std::array<std::array<double, 3>, weights> of_filter =
      filter_at<3>(std::array{0.0, near_point, -near_point, far_point, -far_point});
  static constexpr int weight_of(int point) noexcept { return point; }

  [[gnu::always_inline]] static void input(const float_vec (&d)[inputs], float_vec (&to)[points]) noexcept {
    const float_vec a = fma(d[2], float_vec(-2.0f), d[4]),
                    b = float_vec(float(near_point)) * fma(d[1], float_vec(-2.0f), d[3]);
    const float_vec c = fma(d[2], float_vec(-0.5f), d[4]),
                    e = float_vec(float(far_point)) * fma(d[1], float_vec(-0.5f), d[3]);
    to[0] = fma(d[2], float_vec(-2.5f), d[0] + d[4]);
    to[1] = a + b;
    to[2] = a - b;
    to[3] = c + e;
    to[4] = c - e;
    to[5] = fma(d[3], float_vec(-2.5f), d[1] + d[5]);
  }
  [[gnu::always_inline]] static void output(const float_vec (&m)[points], float_vec (&to)[outputs]) noexcept {
    const float_vec a = m[1] + m[2], b = float_vec(float(near_point)) * (m[1] - m[2]);
    const float_vec c = m[3] + m[4], e = float_vec(float(far_point)) * (m[3] - m[4]);
    to[0] = m[0] + (a + c);
    to[1] = b + e;
    to[2] = fma(a, float_vec(0.5f), c + c);
    to[3] = fma(b, float_vec(0.5f), fma(e, float_vec(2.0f), m[5]));
  }
};

// Steps of two: the first and the last tap see every other element, F(4, 2), five products instead of eight; the middle
// tap sees those between, four products. Nine instead of twelve.
template <> struct winograd_axis<3, 2> {
  static constexpr int outputs = 4, inputs = 9, points = 9, weights = 6;
  static constexpr std::array<std::array<double, 3>, weights> of_filter = [] {
    const auto outer = filter_at<2>(std::array{near_point, -near_point, far_point, -far_point});
    std::array<std::array<double, 3>, weights> g{};
    for (std::size_t i = 0; i < outer.size(); ++i) g[i] = {outer[i][0], 0, outer[i][1]};
    g[weights - 1] = {0, 1, 0};
    return g;
  }();
  static constexpr int weight_of(int point) noexcept { return point < weights ? point : weights - 1; }

  [[gnu::always_inline]] static void input(const float_vec (&d)[inputs], float_vec (&to)[points]) noexcept {
    const float_vec a = fma(d[2], float_vec(-2.0f), d[6]),
                    b = float_vec(float(near_point)) * fma(d[0], float_vec(-2.0f), d[4]);
    const float_vec c = fma(d[2], float_vec(-0.5f), d[6]),
                    e = float_vec(float(far_point)) * fma(d[0], float_vec(-0.5f), d[4]);
    to[0] = a + b;
    to[1] = a - b;
    to[2] = c + e;
    to[3] = c - e;
    to[4] = fma(d[4], float_vec(-2.5f), d[0] + d[8]);
#pragma GCC unroll 4
    for (int i = 0; i < outputs; ++i) to[5 + i] = d[2 * i + 1];
  }
  [[gnu::always_inline]] static void output(const float_vec (&m)[points], float_vec (&to)[outputs]) noexcept {
    const float_vec a = m[0] + m[1], b = float_vec(float(near_point)) * (m[0] - m[1]);
    const float_vec c = m[2] + m[3], e = float_vec(float(far_point)) * (m[2] - m[3]);
    to[0] = m[5] + (a + c);
    to[1] = m[6] + (b + e);
    to[2] = m[7] + fma(a, float_vec(0.5f), c + c);
    to[3] = m[8] + fma(b, float_vec(0.5f), fma(e, float_vec(2.0f), m[4]));
  }
};

// What is different from axis to axis, as numbers; zeros where there is no such axis.
struct winograd_counts {
  int outputs = 0, points = 0, weights = 0;
  constexpr bool is_there() const noexcept { return outputs != 0; }
};
constexpr winograd_counts winograd_counts_of(index_t taps, index_t stride) noexcept {
  const auto of = []<class Axis>(Axis) { return winograd_counts{Axis::outputs, Axis::points, Axis::weights}; };
  if (taps == 1 && stride == 1) return of(winograd_axis<1, 1>{});
  if (taps == 3 && stride == 1) return of(winograd_axis<3, 1>{});
  if (taps == 3 && stride == 2) return of(winograd_axis<3, 2>{});
  return {};
}

// G g G': filters, tap by tap, which lie `plane` floats apart in `to` at the weights of both axes.
template <class Down, class Across, std::size_t Taps, std::size_t Filters>
void winograd_filters(const double (&g)[Taps][Filters], float* to, index_t plane) noexcept {
  constexpr std::size_t down = Down::of_filter[0].size(), across = Across::of_filter[0].size();
  static_assert(Taps == down * across);
  for (const auto& row : Down::of_filter) {
    double some[across][Filters]{};
    for (std::size_t y = 0; y < down; ++y)
      for (std::size_t x = 0; x < across; ++x)
        for (std::size_t n = 0; n < Filters; ++n) some[x][n] += row[y] * g[y * across + x][n];
    for (const auto& column : Across::of_filter) {
      double sum[Filters]{};
      for (std::size_t x = 0; x < across; ++x)
        for (std::size_t n = 0; n < Filters; ++n) sum[n] += column[x] * some[x][n];
      for (std::size_t n = 0; n < Filters; ++n) to[n] = static_cast<float>(sum[n]);
      to += plane;
    }
  }
}

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
