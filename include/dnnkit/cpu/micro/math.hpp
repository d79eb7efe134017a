// SPDX-License-Identifier: MIT
// Elementary functions on vectors of floats, under their std:: names, found by argument-dependent lookup; no library
// call a lane.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "dnnkit/cpu/micro/vec.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

// Errors, measured against double over all of the range (tests/cpu/micro/math.cpp asserts them), in units in the last
// place: exp 1.01, log 1, tanh 2, sigmoid 2.5 (3.4 + 0.04 |x| below zero where powers come from a table, with AVX-512),
// erf 3, pow 1.5; sqrt and the roundings are exact.
// Infinities, NaN, zeros and denormals give what std:: gives. The polynomials are minimax fits of their remainder terms
// on the reduced range.

namespace detail {

template <int N> using floats = vec<float, N>;
template <int N> using ints = vec<std::int32_t, N>;

// c0 + c1 x + c2 x^2 + ...
template <class V, class... C>
[[gnu::always_inline]] inline V polynomial(V x, typename V::value_type c0, C... rest) noexcept {
  if constexpr (sizeof...(rest) == 0) {
    return V(c0);
  } else {
    return fma(polynomial(x, rest...), x, V(c0));
  }
}

template <int N> [[gnu::always_inline]] inline floats<N> copy_sign(floats<N> magnitude, floats<N> sign) noexcept {
  const ints<N> bit(std::numeric_limits<std::int32_t>::min());
  return bit_cast<floats<N>>((bit_cast<ints<N>>(magnitude) & ~bit) | (bit_cast<ints<N>>(sign) & bit));
}

// 2^n for n in [-126, 127].
template <int N> [[gnu::always_inline]] inline floats<N> power_of_two(ints<N> n) noexcept {
  return bit_cast<floats<N>>((n + ints<N>(127)) << 23);
}

// x * 2^n, rounded once, for n in [-252, 254]: in two factors, as 2^n alone may leave the range of floats.
template <int N> [[gnu::always_inline]] inline floats<N> scale(floats<N> x, ints<N> n) noexcept {
  const ints<N> half = n >> 1;
  return x * power_of_two<N>(half) * power_of_two<N>(n - half);
}

// x = m * 2^e with m in [sqrt(1/2), sqrt(2)), for positive finite x.
template <int N> [[gnu::always_inline]] inline floats<N> split_exponent(floats<N> x, ints<N>& e) noexcept {
  const auto denormal = x < floats<N>(std::numeric_limits<float>::min());
  x = select(denormal, x * floats<N>(0x1p25f), x);
  const ints<N> bits = bit_cast<ints<N>>(x), root = ints<N>(0x3f3504f3);  // sqrt(1/2)
  e = (bits - root) >> 23;
  const auto m = bit_cast<floats<N>>(bits - (e << 23));
  e = e - (denormal & ints<N>(25));
  return m;
}

template <int N> [[gnu::always_inline]] inline vec<double, N / 2> low_half(floats<N> x) noexcept {
  return convert<double>(low_of(x));
}
template <int N> [[gnu::always_inline]] inline vec<double, N / 2> high_half(floats<N> x) noexcept {
  return convert<double>(high_of(x));
}
template <int N>
[[gnu::always_inline]] inline floats<N> join(vec<double, N / 2> low, vec<double, N / 2> high) noexcept {
  return joined(convert<float>(low), convert<float>(high));
}

}  // namespace detail

// f of every lane, for functions too rare to be worth a polynomial.
template <class F, int N> [[gnu::always_inline]] inline vec<float, N> lanewise(vec<float, N> x, F f) noexcept {
  for (int i = 0; i < N; ++i) x.v[i] = f(x.v[i]);
  return x;
}

namespace detail {
template <class F>
concept has_square_root = requires(F f) {
  isa::square_root(f);
};
}  // namespace detail

template <int N> [[gnu::always_inline]] inline vec<float, N> sqrt(vec<float, N> x) noexcept {
  if constexpr (detail::has_square_root<typename vec<float, N>::native>) {
    return typename vec<float, N>::native(isa::square_root(x.v));
  } else {
    return lanewise(x, [](float a) { return __builtin_sqrtf(a); });
  }
}

namespace detail {

template <class F>
concept has_rounding = requires(F f) {
  isa::round_to<isa::rounding::down>(f);
};

// Towards zero, by way of integers; from 2^23 on, every float is one.
template <int N> [[gnu::always_inline]] inline floats<N> truncate(floats<N> x) noexcept {
  const auto small = abs(x) < floats<N>(0x1p23f);
  return copy_sign<N>(select(small, convert<float>(convert<std::int32_t>(select(small, x, floats<N>(0.0f)))), x), x);
}

template <isa::rounding R, int N> [[gnu::always_inline]] inline floats<N> round_to(floats<N> x) noexcept {
  using whole_register = typename floats<N>::native;
  if constexpr (has_rounding<whole_register>) {
    return whole_register(isa::round_to<R>(x.v));
  } else if constexpr (R == isa::rounding::half_even) {
    // Adding 2^23 leaves no bits for the fraction.
    const floats<N> magnitude = abs(x);
    floats<N> shifted = magnitude + floats<N>(0x1p23f);
    asm("" : "+m"(shifted));  // so that the sum is not simplified away
    return copy_sign<N>(select(magnitude < floats<N>(0x1p23f), shifted - floats<N>(0x1p23f), magnitude), x);
  } else {
    const floats<N> whole = truncate<N>(x);
    if constexpr (R == isa::rounding::down) return copy_sign<N>(select(whole > x, whole - floats<N>(1.0f), whole), x);
    if constexpr (R == isa::rounding::up) return copy_sign<N>(select(whole < x, whole + floats<N>(1.0f), whole), x);
    return whole;
  }
}

}  // namespace detail

template <int N> [[gnu::always_inline]] inline vec<float, N> floor(vec<float, N> x) noexcept {
  return detail::round_to<isa::rounding::down>(x);
}
template <int N> [[gnu::always_inline]] inline vec<float, N> ceil(vec<float, N> x) noexcept {
  return detail::round_to<isa::rounding::up>(x);
}
template <int N> [[gnu::always_inline]] inline vec<float, N> trunc(vec<float, N> x) noexcept {
  return detail::round_to<isa::rounding::to_zero>(x);
}
// Halves go to the even neighbour, as ONNX's Round and std::nearbyint in the default mode.
template <int N> [[gnu::always_inline]] inline vec<float, N> nearbyint(vec<float, N> x) noexcept {
  return detail::round_to<isa::rounding::half_even>(x);
}

namespace detail {

template <class F>
concept has_power_of_two = requires(F f) {
  isa::times_power_of_two(f, f);
};

// The whole number nearest to x, |x| < 2^21, as a float and as it stands in the last bits of a float: the sum with
// 1.5 * 2^23 has no bits for the fraction. With the exponent's bias in the last bits, too, 2^n is but a shift away.
template <int N> struct whole_number {
  static constexpr float shift = 0x1.8p23f + 127;
  floats<N> shifted;

  // The one nearest to a * b.
  [[gnu::always_inline]] static whole_number nearest(floats<N> a, floats<N> b) noexcept {
    return {fma(a, b, floats<N>(shift))};
  }
  [[gnu::always_inline]] floats<N> value() const noexcept { return shifted - floats<N>(shift); }
  [[gnu::always_inline]] ints<N> integer() const noexcept {
    return bit_cast<ints<N>>(shifted) - bit_cast<ints<N>>(floats<N>(shift));
  }
  // 2^n for n in [-126, 127], and 0 for n = -127.
  [[gnu::always_inline]] floats<N> power_of_two() const noexcept {
    return bit_cast<floats<N>>(bit_cast<ints<N>>(shifted) << 23);
  }
};

// y * 2^n, rounded once, for n in [-252, 254]; NaN where y is.
template <int N> [[gnu::always_inline]] inline floats<N> scale(floats<N> y, whole_number<N> n) noexcept {
  using whole_register = typename floats<N>::native;
  if constexpr (has_power_of_two<whole_register>) {
    return whole_register(isa::times_power_of_two(y.v, n.value().v));
  } else {
    return scale<N>(y, n.integer());
  }
}

}  // namespace detail

namespace detail {

// e^x as y * 2^n, y close to 1, for |x| < 2^20: y to 1 ulp.
template <int N> struct scaled_exp {
  floats<N> y;
  whole_number<N> n;

  [[gnu::always_inline]] explicit scaled_exp(floats<N> x) noexcept
      : n(whole_number<N>::nearest(x, floats<N>(1.44269504f))) {
    // ln 2 in two parts, the first with few enough bits that n times it is exact.
    const floats<N> r = fma(n.value(), floats<N>(-1.42860677e-6f), fma(n.value(), floats<N>(-0.693145752f), x));
    const floats<N> q =
        polynomial(r, 4.999999343e-01f, 1.666652040e-01f, 4.166839079e-02f, 8.368745113e-03f, 1.381454003e-03f);
    y = fma(r * r, q, r) + floats<N>(1.0f);
  }
};

// e^x for x in [-87.3, 88], or NaN.
template <int N> [[gnu::always_inline]] inline floats<N> exp_in_range(floats<N> x) noexcept {
  const scaled_exp<N> e(x);
  return e.y * e.n.power_of_two();
}

}  // namespace detail

template <int N> [[gnu::always_inline]] inline vec<float, N> exp(vec<float, N> x) noexcept {
  using V = vec<float, N>;
  // Beyond these the result is infinite or zero; max's order keeps a NaN.
  const detail::scaled_exp<N> e(max(min(x, V(89.0f)), V(-104.0f)));
  // A product that rounds to zero costs some processors hundreds of cycles, and masks are full of -inf.
  return detail::scale<N>(select(x < V(-103.98f), V(0.0f), e.y), e.n);
}

namespace detail {

// Powers of two for multiples of 1/32, from one instruction that looks up all lanes in 32 numbers: the remaining factor
// is closer to 1, and two products make up for the polynomial's other three.
template <class Ints>
concept looks_up_32 = requires(Ints x) {
  isa::permuted(x, x, x);
};
template <int N> struct power_by_table {
  static constexpr bool is_there = looks_up_32<typename ints<N>::native>;
  floats<N> power, rest;  // the power of e, or of two, is power + power * rest

  // e^x for x in [-88.03, 88]; ln 2 as one float makes a relative error of 2.8e-9 |x|.
  [[gnu::always_inline]] static power_by_table of_e(floats<N> x) noexcept {
    const floats<N> shifted = fma(x, floats<N>(1.44269504f), floats<N>(shift)), n = shifted - floats<N>(shift);
    const floats<N> r(isa::rounded_once(n.v, floats<N>(-0.693147182f).v, x.v));
    return {power_of(shifted), r * fma(r, floats<N>(0.5f), floats<N>(1.0000145f))};
  }
  // 2^x for x in [-126, 127].
  [[gnu::always_inline]] static power_by_table of_two(floats<N> x) noexcept {
    const floats<N> shifted = x + floats<N>(shift), r = x - (shifted - floats<N>(shift));
    return {power_of(shifted), r * fma(r, floats<N>(2.40226507e-1f), floats<N>(6.93157232e-1f))};
  }
  [[gnu::always_inline]] floats<N> value() const noexcept { return fma(power, rest, power); }

 private:
  static constexpr float shift = 0x1.8p18f;  // a sum with it has five bits for the fraction, its last ones

  // 2^(j / 32) as bits, less j where a shift brings the last bits of a sum, which are the exponent and j.
  struct entries {
    alignas(64) std::int32_t all[32];
  };
  static constexpr entries table = [] {
    entries t{};
    double root = 1;
    for (int j = 0; j < 32; ++j, root *= 1.0218971486541166782)
      t.all[j] = std::bit_cast<std::int32_t>(static_cast<float>(root)) - (j << 18);
    return t;
  }();
  [[gnu::always_inline]] static floats<N> power_of(floats<N> shifted) noexcept {
    const ints<N> last = bit_cast<ints<N>>(shifted);
    const ints<N> entry(isa::permuted(ints<N>::load(table.all).v, ints<N>::load(table.all + N).v, last.v));
    return bit_cast<floats<N>>(entry + (last << 18));
  }
};

}  // namespace detail

// exp(x) for x <= 0 or NaN, as softmax needs it: by fewer instructions than exp. To 1.3 ulp; by a table to 1.8 (2 where
// multiply-adds are not fused) and 0.05 |x| more, which is as much as rounding x - max does. 0 below -88.03, and from
// there to -87.3, where exp has denormals, those or 0.
template <int N> [[gnu::always_inline]] inline vec<float, N> exp_of_nonpositive(vec<float, N> x) noexcept {
  using V = vec<float, N>;
  if constexpr (detail::power_by_table<N>::is_there) {
    constexpr float to_zero = -88.0296936f;  // -127 ln 2, of which the table makes a zero
    return detail::power_by_table<N>::of_e(max(x, V(to_zero))).value();
  }
  const V clamped = max(x, V(-88.0f));  // there n is -127, and 2^n a zero
  const auto n = detail::whole_number<N>::nearest(clamped, V(1.44269504f));
  const V r = fma(n.value(), V(-1.42860677e-6f), fma(n.value(), V(-0.693145752f), clamped));
  const V y = detail::polynomial(r, 1.0f, 1.0f, 4.999999343e-01f, 1.666652040e-01f, 4.166839079e-02f, 8.368745113e-03f,
                                 1.381454003e-03f);
  return y * n.power_of_two();
}

// The same of doubles, to 1.3 ulp, and 0 below -708.7.
template <int N> [[gnu::always_inline]] inline vec<double, N> exp_of_nonpositive(vec<double, N> x) noexcept {
  using V = vec<double, N>;
  const V clamped = max(x, V(-709.0)), shift(0x1.8p52 + 1023);  // as in whole_number, of 52 bits
  const V shifted = fma(clamped, V(1.4426950408889634), shift), n = shifted - shift;
  const V r = fma(n, V(-7.4406171100123967e-11), fma(n, V(-0.6931471804855391), clamped));
  const V y = detail::polynomial(r, 1.0, 1.0, 0.50000000000000010221, 0.16666666666666667453, 0.041666666666624127873,
                                 0.0083333333333300618325, 0.0013888888917213716901, 0.00019841269863053616878,
                                 2.4801521295954375131e-5, 2.7557268459997064772e-6, 2.7620088445409748161e-7,
                                 2.5100385495510319078e-8);
  return y * bit_cast<V>(bit_cast<vec<std::int64_t, N>>(shifted) << 52);
}

template <int N> [[gnu::always_inline]] inline vec<float, N> log(vec<float, N> x) noexcept {
  using V = vec<float, N>;
  vec<std::int32_t, N> exponent;
  const V f = detail::split_exponent<N>(x, exponent) - V(1.0f), e = convert<float>(exponent);
  const V q = detail::polynomial(f, 3.3333309238e-01f, -2.5000004688e-01f, 2.0002370239e-01f, -1.6668495232e-01f,
                                 1.4214445930e-01f, -1.2392687575e-01f, 1.1915054812e-01f, -1.1770020393e-01f,
                                 6.8018052167e-02f);
  const V square = f * f;
  const V low = fma(square * f, q, e * V(1.42860677e-6f)) - V(0.5f) * square;
  V y = fma(e, V(0.693145752f), f + low);
  const V infinity(std::numeric_limits<float>::infinity());
  y = select(x == infinity, infinity, y);
  y = select(x == V(0.0f), -infinity, y);
  return select(x >= V(0.0f), y, V(std::numeric_limits<float>::quiet_NaN()));
}

namespace detail {

// 2^x for x in [-126, 127], to 1.5 ulp, 1.8 by a table.
template <int N> [[gnu::always_inline]] inline floats<N> exp2_in_range(floats<N> x) noexcept {
  if constexpr (power_by_table<N>::is_there) return power_by_table<N>::of_two(x).value();
  const auto n = whole_number<N>::nearest(x, floats<N>(1.0f));
  const floats<N> y = polynomial(x - n.value(), 1.0f, 6.931469764e-01f, 2.402224046e-01f, 5.550735032e-02f,
                                 9.671619004e-03f, 1.326459076e-03f);
  return y * n.power_of_two();
}

}  // namespace detail

template <int N> [[gnu::always_inline]] inline vec<float, N> tanh(vec<float, N> x) noexcept {
  using V = vec<float, N>;
  const V magnitude = min(abs(x), V(10.0f)), square = x * x;
  const V q = detail::polynomial(square, -3.3333330660e-01f, 1.3333200161e-01f, -5.3945994771e-02f, 2.1696348689e-02f,
                                 -8.1663003259e-03f, 2.1325223715e-03f);
  const V small = fma(x * square, q, x);
  const V large = V(1.0f) - V(2.0f) / (detail::exp_in_range<N>(magnitude + magnitude) + V(1.0f));
  return detail::copy_sign<N>(select(magnitude < V(0.625f), small, large), x);
}

namespace detail {

// 1 + e^-x for x in [-87.3, 87], or NaN: a sigmoid's divisor. An estimate of its reciprocal and a step of Newton's take
// longer than the division, which other instructions run beside.
template <int N> [[gnu::always_inline]] inline floats<N> one_and_exp_of_minus(floats<N> x) noexcept {
  if constexpr (power_by_table<N>::is_there) {
    const auto e = power_by_table<N>::of_e(-x);
    return fma(e.power, e.rest, e.power + floats<N>(1.0f));
  }
  const auto n = whole_number<N>::nearest(x, floats<N>(-1.44269504f));
  const floats<N> r = fma(n.value(), floats<N>(-1.42860677e-6f), fma(n.value(), floats<N>(-0.693145752f), -x));
  const floats<N> y = polynomial(r, 1.0f, 1.0f, 4.999999343e-01f, 1.666652040e-01f, 4.166839079e-02f, 8.368745113e-03f,
                                 1.381454003e-03f);
  return fma(y, n.power_of_two(), floats<N>(1.0f));
}

}  // namespace detail

// 1 / (1 + exp(-x)), with full relative accuracy for negative x as well; 0 below -87.3, where that has denormals.
template <int N> [[gnu::always_inline]] inline vec<float, N> sigmoid(vec<float, N> x) noexcept {
  using V = vec<float, N>;
  constexpr float least = -87.3f;
  return select(x < V(least), V(0.0f), V(1.0f) / detail::one_and_exp_of_minus<N>(max(min(x, V(87.0f)), V(least))));
}

// x sigmoid(alpha x), alpha >= 0.001, as exact as the sigmoid where alpha x is above -87, besides what the rounding of
// alpha x makes of it; below, what it is at -87.3 / alpha, about 0.
template <int N> [[gnu::always_inline]] inline vec<float, N> times_sigmoid(vec<float, N> x, float alpha) noexcept {
  using V = vec<float, N>;
  const V seen = max(x, V(-87.3f / alpha));
  return seen / detail::one_and_exp_of_minus<N>(min(seen * V(alpha), V(87.0f)));
}

// x times the probability that a standard normal variable is below x: max(x, 0) - |x| Phi(-|x|), the last factor as a
// power of two, whose exponent is nearly a parabola. Absolute error 2e-7 * max(1, |x|); -inf gives about 0.
template <int N> [[gnu::always_inline]] inline vec<float, N> times_normal_cdf(vec<float, N> x) noexcept {
  using V = vec<float, N>;
  const V a = min(abs(x), V(12.9f));
  const V exponent = detail::polynomial(a, -1.0f, -1.151147083e+00f, -4.589156826e-01f, -5.323819210e-02f,
                                        7.977466132e-03f, -7.398751044e-04f, 2.992425931e-05f);
  return fma(-a, detail::exp2_in_range<N>(exponent), max(x, V(0.0f)));
}

// The same with Phi(x) taken as (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2, which is 1 / (1 + 2^z). Below -9.9,
// as there, about 0.
template <int N> [[gnu::always_inline]] inline vec<float, N> times_normal_cdf_by_tanh(vec<float, N> x) noexcept {
  using V = vec<float, N>;
  const V seen = max(x, V(-9.9f)), c = min(seen, V(9.9f));  // there |z| is 123
  const V z = c * fma(c * c, V(-0.10294324f), V(-2.30220819f));
  return seen / (V(1.0f) + detail::exp2_in_range<N>(z));
}

template <int N> [[gnu::always_inline]] inline vec<float, N> erf(vec<float, N> x) noexcept {
  using V = vec<float, N>;
  const V magnitude = abs(x), square = x * x;
  const V small = x * detail::polynomial(square, 1.1283791656e+00f, -3.7612625064e-01f, 1.1283575324e-01f,
                                         -2.6853352179e-02f, 5.1873630448e-03f, -8.0009299393e-04f, 7.8207014584e-05f);
  // Above 1: the logarithm of 1 - erf is nearly a parabola. Above 4, erf rounds to 1.
  const V clamped = min(magnitude, V(4.0f));
  const V decay =
      detail::polynomial(clamped, -1.8803817019e-04f, 1.1295784157e+00f, 6.3321990813e-01f, 1.0841856294e-01f,
                         -2.5208248625e-02f, 4.2045591826e-03f, -4.4133589052e-04f, 2.1686812977e-05f);
  const V large = detail::copy_sign<N>(V(1.0f) - detail::exp_in_range<N>(-decay), x);
  return select(magnitude < V(1.0f), small, select(x == x, large, x));
}

// As std::pow, with its special cases. The logarithm is taken in double, since y magnifies its error.
template <int N> [[gnu::always_inline]] inline vec<float, N> pow(vec<float, N> x, vec<float, N> y) noexcept {
  using V = vec<float, N>;
  using D = vec<double, N / 2>;
  const V magnitude = abs(x), infinity(std::numeric_limits<float>::infinity());
  vec<std::int32_t, N> exponent;
  const V m = detail::split_exponent<N>(magnitude, exponent);
  const auto log2_times = [](D mantissa, D e, D times) {
    const D s = (mantissa - D(1.0)) / (mantissa + D(1.0));
    const D q = detail::polynomial(s * s, 2.88539008177783662, 0.961796694133726926, 0.577077935997370894,
                                   0.412209935266504290, 0.319876255638311124, 0.283339254547893493);
    return min(max(fma(s, q, e) * times, D(-200.0)), D(200.0));
  };
  // t = y log2 |x| in two floats: its integer and its fraction.
  const V e = convert<float>(exponent);
  const D low = log2_times(detail::low_half<N>(m), detail::low_half<N>(e), detail::low_half<N>(y));
  const D high = log2_times(detail::high_half<N>(m), detail::high_half<N>(e), detail::high_half<N>(y));
  const V n = nearbyint(detail::join<N>(low, high));
  const V f = detail::join<N>(low - detail::low_half<N>(n), high - detail::high_half<N>(n));
  const V q = detail::polynomial(f, 6.9314718054e-01f, 2.4022651099e-01f, 5.5504109685e-02f, 9.6180331625e-03f,
                                 1.3333425609e-03f, 1.5468390702e-04f, 1.5316199643e-05f);
  const auto number = (y == y) & (m == m) & (n == n);
  V r = detail::scale<N>(fma(f, q, V(1.0f)), convert<std::int32_t>(select(number, n, V(0.0f))));

  const auto grows = (magnitude > V(1.0f)) ^ (y < V(0.0f));  // only asked where |x| is 0 or infinite, or y is infinite
  const auto extreme = (magnitude == V(0.0f)) | (magnitude == infinity) | (abs(y) == infinity);
  r = select(extreme, select(grows, infinity, V(0.0f)), r);
  r = select(magnitude == V(1.0f), V(1.0f), r);
  // A negative base wants a whole exponent, and keeps its sign when that is odd.
  const V half = y * V(0.5f);
  const auto whole = floor(y) == y, odd = whole & (floor(half) != half) & (abs(y) < infinity);
  const auto negative = bit_cast<vec<std::int32_t, N>>(x) < vec<std::int32_t, N>(0);
  r = select(negative & odd, -r, r);
  const V nan(std::numeric_limits<float>::quiet_NaN());
  r = select((x < V(0.0f)) & ~whole & (magnitude < infinity), nan, r);
  r = select((x == x) & (y == y), r, nan);
  return select((y == V(0.0f)) | (x == V(1.0f)), V(1.0f), r);
}

// Lane by lane through the library.
template <int N> [[gnu::always_inline]] inline vec<float, N> fmod(vec<float, N> x, vec<float, N> y) noexcept {
  vec<float, N> r(0.0f);
  for (int i = 0; i < N; ++i) r.v[i] = std::fmod(x.v[i], y.v[i]);
  return r;
}
#define DNNKIT_LANEWISE(name)                                                                   \
  template <int N> [[gnu::always_inline]] inline vec<float, N> name(vec<float, N> x) noexcept { \
    return lanewise(x, [](float a) { return std::name(a); });                                   \
  }
DNNKIT_LANEWISE(asin)
DNNKIT_LANEWISE(acos)
DNNKIT_LANEWISE(atan)
DNNKIT_LANEWISE(sinh)
DNNKIT_LANEWISE(cosh)
DNNKIT_LANEWISE(asinh)
DNNKIT_LANEWISE(acosh)
DNNKIT_LANEWISE(atanh)
DNNKIT_LANEWISE(log1p)
DNNKIT_LANEWISE(expm1)
#undef DNNKIT_LANEWISE

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
