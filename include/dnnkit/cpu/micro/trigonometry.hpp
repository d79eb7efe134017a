// SPDX-License-Identifier: MIT
// Sine, cosine and tangent of vectors of floats, beside the functions of cpu/micro/math.hpp. Errors, measured against
// double over all of the range (tests/cpu/micro/math.cpp asserts them), in units in the last place: sin and cos 2,
// tan 4.
#pragma once

#include <cmath>
#include <cstdint>

#include "dnnkit/cpu/micro/math.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

namespace detail {

// x - n pi/2 with n = nearest whole number of quarter turns, accurate for |x| < 2^20.
template <int N> [[gnu::always_inline]] inline floats<N> quarter_turns(floats<N> x, ints<N>& quadrant) noexcept {
  using D = vec<double, N / 2>;
  const floats<N> n = nearbyint(x * floats<N>(0.636619772f));
  // The first part of pi/2 has 33 bits, so that n times it is exact.
  const auto reduce = [](D a, D k) {
    return fma(k, D(-6.07710050650619224932e-11), a - k * D(1.57079632673412561417));
  };
  quadrant = convert<std::int32_t>(n);
  return join<N>(reduce(low_half<N>(x), low_half<N>(n)), reduce(high_half<N>(x), high_half<N>(n)));
}

template <int N>
[[gnu::always_inline]] inline void sine_cosine(floats<N> x, floats<N>& sine, floats<N>& cosine) noexcept {
  using V = floats<N>;
  const auto near = abs(x) < V(0x1p20f);
  ints<N> quadrant;
  const V r = quarter_turns<N>(select(near, x, V(0.0f)), quadrant), square = r * r;
  const V s = fma(r * square,
                  polynomial(square, -1.6666666640e-01f, 8.3333291439e-03f, -1.9839256629e-04f, 2.7175644123e-06f), r);
  const V c = fma(square * square,
                  polynomial(square, 4.1666666619e-02f, -1.3888883438e-03f, 2.4799436400e-05f, -2.7203302857e-07f),
                  fma(square, V(-0.5f), V(1.0f)));
  const auto swapped = (quadrant & ints<N>(1)) != ints<N>(0);
  const auto flip_s = (quadrant & ints<N>(2)) != ints<N>(0),
             flip_c = ((quadrant + ints<N>(1)) & ints<N>(2)) != ints<N>(0);
  sine = select(swapped, c, s);
  cosine = select(swapped, s, c);
  sine = select(flip_s, -sine, sine);
  cosine = select(flip_c, -cosine, cosine);
  // Zero keeps its sign; larger arguments are rare enough for the library.
  sine = select(x == V(0.0f), x, sine);
  if (!all(near)) {
    sine = select(near, sine, lanewise(x, [](float a) { return std::sin(a); }));
    cosine = select(near, cosine, lanewise(x, [](float a) { return std::cos(a); }));
  }
}

}  // namespace detail

template <int N> [[gnu::always_inline]] inline vec<float, N> sin(vec<float, N> x) noexcept {
  vec<float, N> s, c;
  detail::sine_cosine<N>(x, s, c);
  return s;
}
template <int N> [[gnu::always_inline]] inline vec<float, N> cos(vec<float, N> x) noexcept {
  vec<float, N> s, c;
  detail::sine_cosine<N>(x, s, c);
  return c;
}
template <int N> [[gnu::always_inline]] inline vec<float, N> tan(vec<float, N> x) noexcept {
  vec<float, N> s, c;
  detail::sine_cosine<N>(x, s, c);
  return s / c;
}

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
