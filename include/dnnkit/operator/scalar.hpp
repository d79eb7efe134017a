// SPDX-License-Identifier: MIT
// Functions of one element that operators are defined by, for numbers. Targets overload them for their vectors and
// masks, and operators call them unqualified (after `using std::exp;` and the like where std has one).
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace dnnkit {

template <class T>
concept number = std::is_arithmetic_v<T>;

// Floating-point numbers and vectors of them.
template <class T> constexpr bool holds_reals() {
  if constexpr (number<T>) return std::floating_point<T>;
  else return std::floating_point<typename T::value_type>;
}
// Is this an integer? Of what stands for elements, some may be and others not.
template <class T> constexpr bool is_integer(const T&) { return !holds_reals<T>(); }

// condition ? a : b
template <number T> constexpr T select(bool condition, T a, T b) { return condition ? a : b; }
// NaN if either is
template <number T> constexpr T minimum(T a, T b) { return a != a ? a : (b < a || b != b ? b : a); }
template <number T> constexpr T maximum(T a, T b) { return a != a ? a : (a < b || b != b ? b : a); }
// a if either is NaN
template <number T> constexpr T larger(T a, T b) { return a < b ? b : a; }
template <std::floating_point T> T sigmoid(T x) { return T(1) / (T(1) + std::exp(-x)); }
template <class T> constexpr T times_sigmoid(T x, float alpha) { return x * sigmoid(T(alpha) * x); }
// x times the probability that a standard normal variable is below x, exactly and as it is often approximated
template <class T> constexpr T times_normal_cdf(T x) {
  using std::erf;
  return T(0.5f) * x * (T(1) + erf(x * T(0.70710678f)));
}
template <class T> constexpr T times_normal_cdf_by_tanh(T x) {
  using std::tanh;
  return T(0.5f) * x * (T(1) + tanh(T(0.79788456f) * (x + T(0.044715f) * x * x * x)));
}
template <std::floating_point T> T exp_of_nonpositive(T x) { return std::exp(x); }
template <std::floating_point T> T reciprocal_sqrt(T x) { return T(1) / std::sqrt(x); }

// Integers as unsigned ones, whose sums and products wrap around (of 32 bits at least: shorter ones would be computed
// as int, where 65,535 times itself overflows); anything else as it is.
template <class T> constexpr auto modular(T x) {
  if constexpr (std::integral<T> && !std::same_as<T, bool>)
    return static_cast<std::common_type_t<std::make_unsigned_t<T>, unsigned>>(static_cast<std::make_unsigned_t<T>>(x));
  else return x;
}

// sum + a b
template <class T> constexpr T plus_product(T sum, T a, T b) {
  return static_cast<T>(modular(sum) + modular(a) * modular(b));
}

// a / b; integers are rounded towards zero and wrap around: the lowest number by -1 is itself, and by 0 every one is 0
// (as in numpy; ONNX Runtime refuses a divisor of 0).
template <class T> constexpr T quotient(T a, T b) {
  static_assert(number<T> || holds_reals<T>(), "dnnkit: integers are divided one by one");
  if constexpr (std::integral<T>) {
    if (b == 0) return 0;
    if (std::is_signed_v<T> && b == T(-1)) return static_cast<T>(-modular(a));
    return static_cast<T>(a / b);
  } else return a / b;
}

// The remainder of a / b with the sign of b; by 0 every one is 0.
template <std::integral T> constexpr T modulo(T a, T b) {
  if (b == T(0)) return 0;
  const T r = T(modular(a) - modular(quotient(a, b)) * modular(b));
  return r == T(0) || (r < T(0)) == (b < T(0)) ? r : T(modular(r) + modular(b));
}

// The integer that the whole number x is; outside 62 bits the nearest one that fits, and 0 for NaN, so that sums with
// small numbers do not overflow.
template <std::floating_point T> constexpr std::int64_t to_integer(T x) {
  constexpr std::int64_t most = std::int64_t{1} << 62;
  if (x != x) return 0;
  return x >= static_cast<T>(most) ? most : x <= -static_cast<T>(most) ? -most : static_cast<std::int64_t>(x);
}

// The other truth value, of a bool or of every lane of a mask.
template <class T> constexpr T negation(T a) {
  if constexpr (std::same_as<T, bool>) return !a;
  else return ~a;
}

// The neutral elements of maximum and minimum, in every lane of a vector.
template <class T> constexpr T lowest() {
  if constexpr (!number<T>) return T(lowest<typename T::value_type>());
  else if constexpr (std::floating_point<T>) return -std::numeric_limits<T>::infinity();
  else return std::numeric_limits<T>::lowest();
}
template <class T> constexpr T highest() {
  if constexpr (!number<T>) return T(highest<typename T::value_type>());
  else if constexpr (std::floating_point<T>) return std::numeric_limits<T>::infinity();
  else return std::numeric_limits<T>::max();
}

}  // namespace dnnkit
