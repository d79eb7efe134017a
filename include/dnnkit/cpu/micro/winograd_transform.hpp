// SPDX-License-Identifier: MIT
// The transforms of Winograd's minimal filtering (Winograd, Arithmetic Complexity of Computations, 1980; Lavin and
// Gray, Fast Algorithms for Convolutional Neural Networks, section 4), one axis at a time: outputs of a filter are
// A'[(G g) * (B' d)]. Nested along two axes, transforms and numbers of products multiply.
//
// Polynomials are taken at infinity and at pairs of points of opposite signs, with 0 where their number asks for it.
// Magnitudes are such that their product is 1: no power of a point is far from 1. Of two pairs they are sqrt(1/2) and
// sqrt(2), whose squares have few constants; at the usual points, +-1 and +-2, the largest errors are three to five
// times as large. Of three they are sqrt(1/3), 1 and sqrt(3).
#pragma once

#include <array>
#include <cstddef>

#include "dnnkit/cost/accuracy.hpp"
#include "dnnkit/cpu/micro/extent.hpp"
#include "dnnkit/cpu/micro/vec.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

// The magnitudes of so many pairs of points.
template <std::size_t Pairs> inline constexpr std::array<double, Pairs> winograd_points{};
template <> inline constexpr std::array<double, 1> winograd_points<1>{1};
template <> inline constexpr std::array<double, 2> winograd_points<2>{0.70710678118654752440, 1.41421356237309504880};
template <>
inline constexpr std::array<double, 3> winograd_points<3>{0.57735026918962576451, 1, 1.73205080756887729353};

// All of them, or the K-th alone.
template <int Pairs> struct all_pairs {
  static constexpr std::array<double, Pairs> magnitudes = winograd_points<Pairs>;
};
template <int Pairs, int K> struct one_pair {
  static constexpr std::array<double, 1> magnitudes{winograd_points<Pairs>[K]};
};

// F(Outputs, Taps): so many outputs of a filter that moves by single elements, by Taps + Outputs - 1 products instead
// of Taps * Outputs. Points are 0, where there is that, pairs, the positive one first, and infinity.
template <int Taps, int Outputs, class Pairs = all_pairs<(Taps + Outputs - 2) / 2>> class minimal_filter {
  static constexpr auto magnitudes = Pairs::magnitudes;

 public:
  static constexpr int pairs = static_cast<int>(magnitudes.size()), zero = Taps + Outputs - 2 - 2 * pairs;
  static constexpr int points = Taps + Outputs - 1;
  // Operations on vectors of input() and output().
  static constexpr int input_operations = pairs * (2 * pairs + 1) + (1 + zero) * pairs,
                       output_operations = 2 * pairs + pairs * Outputs - 1 + zero;

  // G: a filter's polynomial at each point, divided by what Lagrange's interpolation divides by; at infinity its
  // leading coefficient.
  static constexpr std::array<std::array<double, Taps>, points> of_filter = [] {
    std::array<double, points - 1> finite{};
    for (std::size_t k = 0; k < pairs; ++k) {
      finite[zero + 2 * k] = magnitudes[k];
      finite[zero + 2 * k + 1] = -magnitudes[k];
    }
    std::array<std::array<double, Taps>, points> g{};
    for (std::size_t i = 0; i < finite.size(); ++i) {
      double power = 1;
      for (std::size_t j = 0; j < finite.size(); ++j)
        if (j != i) power /= finite[i] - finite[j];
      for (double& x : g[i]) {
        x = power;
        power *= finite[i];
      }
    }
    g[points - 1][Taps - 1] = 1;
    return g;
  }();

  // B' d, of every Step-th element.
  template <int Step> [[gnu::always_inline]] static void input(const float_vec* d, float_vec* to) noexcept {
    if constexpr (zero == 1) to[0] = sum_of_squares<pairs, Step>(d);
    for_constants<pairs>([&](auto k) {
      const float_vec even = sum_of_squares<k, Step>(d + (zero + 1) * Step),
                      odd = times(sum_of_squares<k, Step>(d + zero * Step), magnitudes[k]);
      to[zero + 2 * k] = even + odd;
      to[zero + 2 * k + 1] = even - odd;
    });
    to[points - 1] = sum_of_squares<pairs, Step>(d + zero * Step);
  }
  // A' m.
  [[gnu::always_inline]] static void output(const float_vec* m, float_vec* to) noexcept {
    float_vec of_pair[2][pairs];  // sums, differences
    for_constants<pairs>([&](auto k) {
      of_pair[0][k] = m[zero + 2 * k] + m[zero + 2 * k + 1];
      of_pair[1][k] = m[zero + 2 * k] - m[zero + 2 * k + 1];
    });
    for_constants<Outputs>([&](auto output) {
      constexpr int i = static_cast<int>(decltype(output)::value);
      const float_vec* const x = of_pair[i % 2];
      float_vec sum = i < Outputs - 1 ? times(x[0], power<0, i>) : added(x[0], power<0, i>, m[points - 1]);
      for_constants<pairs - 1>([&](auto k) { sum = added(x[k + 1], power<k + 1, i>, sum); });
      to[i] = i == 0 && zero == 1 ? m[0] + sum : sum;
    });
  }

 private:
  template <int K, int Exponent>
  static constexpr double power = [] {
    double p = Exponent % 2 == 0 ? 1 : magnitudes[K];
    for (int i = 1; i < Exponent; i += 2) p *= magnitudes[K] * magnitudes[K];
    return p;
  }();
  // The polynomial that is 0 at all pairs but the K-th, in squares; K == pairs: at all.
  template <int K>
  static constexpr auto without = [] {
    constexpr std::size_t degree = pairs - (K < pairs ? 1 : 0);
    std::array<double, degree + 1> c{1};
    std::size_t n = 0;
    for (std::size_t l = 0; l < pairs; ++l) {
      if (static_cast<int>(l) == K) continue;
      ++n;
      for (std::size_t i = n + 1; i-- > 0;)
        c[i] = (i > 0 ? c[i - 1] : 0) - (i < n ? magnitudes[l] * magnitudes[l] * c[i] : 0);
    }
    return c;
  }();
  // That polynomial's coefficients by every other element.
  template <int K, int Step> [[gnu::always_inline]] static float_vec sum_of_squares(const float_vec* d) noexcept {
    constexpr auto c = without<K>;
    constexpr int degree = static_cast<int>(c.size()) - 1;
    float_vec sum = d[2 * degree * Step];
    for_constants<degree>([&](auto j) { sum = added(d[2 * (degree - 1 - j) * Step], c[degree - 1 - j], sum); });
    return sum;
  }

  // x times a factor, and that with more added: compilers leave out factors of 1.
  [[gnu::always_inline]] static float_vec times(float_vec x, double factor) noexcept {
    return x * float_vec(static_cast<float>(factor));
  }
  [[gnu::always_inline]] static float_vec added(float_vec x, double factor, float_vec more) noexcept {
    return fma(x, float_vec(static_cast<float>(factor)), more);
  }
};

// Along an axis, a filter of so many taps that moves so many elements: `outputs` of it are made of `inputs` elements by
// `points` products, with `weights` different numbers, that of point i being weight_of(i); of_filter is G. input() is
// B' d and output() A' m, of arrays that do not overlap.
template <int Taps, int Stride, int Outputs> struct winograd_axis {
  static_assert(Taps > 1 && Stride == 1);
  using filter = minimal_filter<Taps, Outputs>;
  static constexpr int outputs = Outputs, inputs = filter::points, points = filter::points, weights = points;
  static constexpr int input_operations = filter::input_operations, output_operations = filter::output_operations;
  static constexpr auto of_filter = filter::of_filter;
  static constexpr int weight_of(int point) noexcept { return point; }

  [[gnu::always_inline]] static void input(const float_vec (&d)[inputs], float_vec (&to)[points]) noexcept {
    filter::template input<1>(d, to);
  }
  [[gnu::always_inline]] static void output(const float_vec (&m)[points], float_vec (&to)[outputs]) noexcept {
    filter::output(m, to);
  }
};

// Nothing to transform.
template <> struct winograd_axis<1, 1, 1> {
  static constexpr int outputs = 1, inputs = 1, points = 1, weights = 1;
  static constexpr int input_operations = 0, output_operations = 0;
  static constexpr std::array<std::array<double, 1>, 1> of_filter{{{1}}};
  static constexpr int weight_of(int) noexcept { return 0; }

  [[gnu::always_inline]] static void input(const float_vec (&d)[inputs], float_vec (&to)[points]) noexcept {
    to[0] = d[0];
  }
  [[gnu::always_inline]] static void output(const float_vec (&m)[points], float_vec (&to)[outputs]) noexcept {
    to[0] = m[0];
  }
};

// Steps of two: the first and the last tap see every other element, a filter of two taps; the middle tap sees those
// between, a product for each output. With four outputs, nine products instead of twelve.
template <int Outputs> struct winograd_axis<3, 2, Outputs> {
  using outer = minimal_filter<2, Outputs>;
  static constexpr int outputs = Outputs, inputs = 2 * Outputs + 1, points = outer::points + Outputs,
                       weights = outer::points + 1;
  static constexpr int input_operations = outer::input_operations,
                       output_operations = outer::output_operations + Outputs;
  static constexpr std::array<std::array<double, 3>, weights> of_filter = [] {
    std::array<std::array<double, 3>, weights> g{};
    for (std::size_t i = 0; i < outer::points; ++i) g[i] = {outer::of_filter[i][0], 0, outer::of_filter[i][1]};
    g[weights - 1] = {0, 1, 0};
    return g;
  }();
  static constexpr int weight_of(int point) noexcept { return point < weights ? point : weights - 1; }

  [[gnu::always_inline]] static void input(const float_vec (&d)[inputs], float_vec (&to)[points]) noexcept {
    outer::template input<2>(d, to);
#pragma GCC unroll 6
    for (int i = 0; i < outputs; ++i) to[outer::points + i] = d[2 * i + 1];
  }
  [[gnu::always_inline]] static void output(const float_vec (&m)[points], float_vec (&to)[outputs]) noexcept {
    outer::output(m, to);
#pragma GCC unroll 6
    for (int i = 0; i < outputs; ++i) to[i] = to[i] + m[outer::points + i];
  }
};

// Of images so small that tiles have two outputs or one along each axis, the others being beyond the image: axes like
// winograd_axis by some of Axis's points, whose weights alone are read.
//
// Two outputs, by the points of F(2, Taps) with a pair of Whole's.
template <class Whole, int Taps> struct first_two {
  static constexpr int pair = Whole::pairs / 2;
  using filter = minimal_filter<Taps, 2, one_pair<Whole::pairs, pair>>;
  static constexpr int weight_of(int point) noexcept {
    return point == filter::points - 1 ? Whole::points - 1 : point < filter::zero ? point : point + 2 * pair;
  }
  // What Whole's weight is to be multiplied by.
  static constexpr double scale_of(int point) noexcept {
    const auto p = static_cast<std::size_t>(point), w = static_cast<std::size_t>(weight_of(point));
    return point == filter::points - 1 ? 1 : filter::of_filter[p][0] / Whole::of_filter[w][0];
  }
  template <int Step> [[gnu::always_inline]] static void input(const float_vec* d, float_vec* to) noexcept {
    filter::template input<Step>(d, to);
    for_constants<filter::points>([&](auto i) { to[i] = to[i] * float_vec(static_cast<float>(scale_of(i))); });
  }
};
template <class Axis> struct axis_of_two : Axis {};  // nothing to transform
template <int Outputs> struct axis_of_two<winograd_axis<3, 1, Outputs>> {
  using some = first_two<minimal_filter<3, Outputs>, 3>;
  using filter = typename some::filter;
  static constexpr int outputs = 2, inputs = filter::points, points = filter::points;
  static constexpr int weight_of(int point) noexcept { return some::weight_of(point); }

  [[gnu::always_inline]] static void input(const float_vec (&d)[inputs], float_vec (&to)[points]) noexcept {
    some::template input<1>(d, to);
  }
  [[gnu::always_inline]] static void output(const float_vec (&m)[points], float_vec (&to)[outputs]) noexcept {
    filter::output(m, to);
  }
};
template <int Outputs> struct axis_of_two<winograd_axis<3, 2, Outputs>> {
  using some = first_two<minimal_filter<2, Outputs>, 2>;
  using outer = typename some::filter;
  static constexpr int outputs = 2, inputs = 5, points = outer::points + outputs;
  static constexpr int weight_of(int point) noexcept {
    return point < outer::points ? some::weight_of(point) : winograd_axis<3, 2, Outputs>::weights - 1;
  }

  [[gnu::always_inline]] static void input(const float_vec (&d)[inputs], float_vec (&to)[points]) noexcept {
    some::template input<2>(d, to);
    for (int i = 0; i < outputs; ++i) to[outer::points + i] = d[2 * i + 1];
  }
  [[gnu::always_inline]] static void output(const float_vec (&m)[points], float_vec (&to)[outputs]) noexcept {
    outer::output(m, to);
    for (int i = 0; i < outputs; ++i) to[i] = to[i] + m[outer::points + i];
  }
};
// One output, of one element between zeros: the middle tap's alone, which is the odd part of a filter at a pair of
// points; in steps of two it has a weight of its own.
template <class Axis> struct axis_of_one : Axis {};
template <int Outputs> struct axis_of_one<winograd_axis<3, 1, Outputs>> {
  using filter = minimal_filter<3, Outputs>;
  static constexpr int outputs = 1, inputs = 3, points = 2;
  static constexpr int weight_of(int point) noexcept { return filter::zero + point; }

  [[gnu::always_inline]] static void input(const float_vec (&d)[inputs], float_vec (&to)[points]) noexcept {
    for_constants<points>([&](auto i) {  // the pair's points differ in the sign of the middle tap
      constexpr double half = 0.5 / filter::of_filter[static_cast<std::size_t>(weight_of(i))][1];
      to[i] = d[1] * float_vec(static_cast<float>(half));
    });
  }
  [[gnu::always_inline]] static void output(const float_vec (&m)[points], float_vec (&to)[outputs]) noexcept {
    to[0] = m[0] + m[1];
  }
};
template <int Outputs> struct axis_of_one<winograd_axis<3, 2, Outputs>> {
  static constexpr int outputs = 1, inputs = 3, points = 1;
  static constexpr int weight_of(int) noexcept { return winograd_axis<3, 2, Outputs>::weights - 1; }

  [[gnu::always_inline]] static void input(const float_vec (&d)[inputs], float_vec (&to)[points]) noexcept {
    to[0] = d[1];
  }
  [[gnu::always_inline]] static void output(const float_vec (&m)[points], float_vec (&to)[outputs]) noexcept {
    to[0] = m[0];
  }
};

// What is different from axis to axis, as numbers; zeros where there is no such axis.
struct winograd_counts {
  int outputs = 0, inputs = 0, points = 0, weights = 0, input_operations = 0, output_operations = 0;
  constexpr bool is_there() const noexcept { return outputs != 0; }
};
// With these taps and steps, tiles of 2, 4 or 6 outputs; of a single tap there is one.
constexpr winograd_counts winograd_counts_of(index_t taps, index_t stride, int outputs) noexcept {
  const auto of = []<class A>(A) {
    return winograd_counts{A::outputs, A::inputs, A::points, A::weights, A::input_operations, A::output_operations};
  };
  if (taps == 1 && stride == 1) return of(winograd_axis<1, 1, 1>{});
  if (taps != 3) return {};
  if (stride == 1 && outputs == 2) return of(winograd_axis<3, 1, 2>{});
  if (stride == 1 && outputs == 4) return of(winograd_axis<3, 1, 4>{});
  if (stride == 1 && outputs == 6) return of(winograd_axis<3, 1, 6>{});
  if (stride == 2 && outputs == 2) return of(winograd_axis<3, 2, 2>{});
  if (stride == 2 && outputs == 4) return of(winograd_axis<3, 2, 4>{});
  if (stride == 2 && outputs == 6) return of(winograd_axis<3, 2, 6>{});
  return {};
}

// The largest error of tiles of 2, 4 or 6 outputs along an axis, as a part of the largest output, along one axis or
// both (tests/cpu/micro/winograd.cpp).
constexpr accuracy largest_winograd_error(int outputs, bool along_both) noexcept {
  switch (outputs) {
    case 2:
      return accuracy(along_both ? 1e-6 : 7e-7);
    case 4:
      return accuracy(along_both ? 3e-6 : 1.5e-6);
    default:
      return accuracy(along_both ? 2e-5 : 3e-6);
  }
}

// B' d B: load(i, j) of a tile's inputs at all points, which lie Plane floats apart in `to`.
template <class Down, class Across, index_t Plane>
[[gnu::always_inline]] inline void winograd_input(auto&& load, float* to) noexcept {
  float_vec half[Down::points][Across::inputs];
#pragma GCC unroll 13
  for (int j = 0; j < Across::inputs; ++j) {
    float_vec d[Down::inputs], e[Down::points];
#pragma GCC unroll 13
    for (int i = 0; i < Down::inputs; ++i) d[i] = load(i, j);
    Down::input(d, e);
#pragma GCC unroll 13
    for (int i = 0; i < Down::points; ++i) half[i][j] = e[i];
  }
#pragma GCC unroll 13
  for (int i = 0; i < Down::points; ++i) {
    float_vec e[Across::points];
    Across::input(half[i], e);
#pragma GCC unroll 13
    for (int j = 0; j < Across::points; ++j) e[j].store(to + (i * Across::points + j) * Plane);
  }
}

// A' m A and a bias: a tile's outputs of its products at all points, which lie Plane floats apart. There may be room
// for more of them.
template <class Down, class Across, index_t Plane, int Height, int Width>
[[gnu::always_inline]] inline void winograd_outputs(const float* from, float_vec bias,
                                                    float_vec (&all)[Height][Width]) noexcept {
  float_vec half[Down::outputs][Across::points];
#pragma GCC unroll 13
  for (int j = 0; j < Across::points; ++j) {
    float_vec d[Down::points], e[Down::outputs];
#pragma GCC unroll 13
    for (int i = 0; i < Down::points; ++i) d[i] = float_vec::load(from + (i * Across::points + j) * Plane);
    Down::output(d, e);
#pragma GCC unroll 6
    for (int i = 0; i < Down::outputs; ++i) half[i][j] = e[i];
  }
#pragma GCC unroll 6
  for (int i = 0; i < Down::outputs; ++i) {
    float_vec e[Across::outputs];
    Across::output(half[i], e);
#pragma GCC unroll 6
    for (int j = 0; j < Across::outputs; ++j) all[i][j] = e[j] + bias;
  }
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
