// SPDX-License-Identifier: MIT
// Functions of one element that operators are defined by, for numbers; targets overload them for their vectors, and
// operators call them unqualified (after `using std::exp;` where std has one).
#pragma once

#include <cmath>
#include <concepts>
#include <type_traits>

namespace dnnkit {

template <class T>
concept number = std::is_arithmetic_v<T>;

template <number T>
constexpr T select(bool condition, T a, T b) {
  return condition ? a : b;
}
// NaN if either is
template <number T>
constexpr T minimum(T a, T b) {
  return a != a ? a : (b < a || b != b ? b : a);
}
template <number T>
constexpr T maximum(T a, T b) {
  return a != a ? a : (a < b || b != b ? b : a);
}
template <std::floating_point T>
T sigmoid(T x) {
  return T(1) / (T(1) + std::exp(-x));
}
template <std::floating_point T>
T reciprocal_sqrt(T x) {
  return T(1) / std::sqrt(x);
}

}  // namespace dnnkit
