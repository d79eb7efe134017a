// SPDX-License-Identifier: MIT
// Element-wise arithmetic with broadcast: ONNX's Add ... Sign, and C++ operators on tensors.
// (DNNFusion Table 3.2: One-to-One; an input that is broadcast is One-to-Many on its own edge.)
#pragma once

#include <cmath>
#include <string_view>

#include "dnnkit/operator/function.hpp"
#include "dnnkit/operator/scalar.hpp"

namespace dnnkit {

namespace op {

struct add {
  static constexpr std::string_view name = "Add";
  static constexpr form kind = form::elementwise;
  static constexpr element_kinds accepts = element_kinds::number;
  static constexpr bool symbolic = true;
  static constexpr traits properties{.laws = algebra::associative | algebra::commutative};

  template <class T> static constexpr T apply(T a, T b) { return T(modular(a) + modular(b)); }
};

struct sub {
  static constexpr std::string_view name = "Sub";
  static constexpr form kind = form::elementwise;
  static constexpr element_kinds accepts = element_kinds::number;
  static constexpr bool symbolic = true;
  static constexpr traits properties{};

  template <class T> static constexpr T apply(T a, T b) { return T(modular(a) - modular(b)); }
};

struct mul {
  static constexpr std::string_view name = "Mul";
  static constexpr form kind = form::elementwise;
  static constexpr element_kinds accepts = element_kinds::number;
  static constexpr bool symbolic = true;
  static constexpr traits properties{.laws = algebra::associative | algebra::commutative};

  template <class T> static constexpr T apply(T a, T b) { return T(modular(a) * modular(b)); }
};

// Integers are rounded towards zero and wrap around: the lowest number by -1 is itself. By 0 they give 0, as in numpy
// (ONNX Runtime refuses a divisor of 0).
struct div {
  static constexpr std::string_view name = "Div";
  static constexpr form kind = form::elementwise;
  static constexpr element_kinds accepts = element_kinds::number;
  static constexpr bool symbolic = true;
  static constexpr traits properties{};

  template <class T> static constexpr T apply(T a, T b) { return quotient(a, b); }
};

// Powers of integers wrap around; of negative exponents those that are no integer are 0.
struct pow {
  static constexpr std::string_view name = "Pow";
  static constexpr std::string_view operands = "base, exponent";
  static constexpr form kind = form::elementwise;
  static constexpr element_kinds accepts = element_kinds::number;
  static constexpr traits properties{};

  template <class T> static constexpr T apply(T a, T b) {
    if constexpr (holds_reals<T>()) {
      using std::pow;
      return pow(a, b);
    } else {
      if (b < T(0)) return a == T(1) ? T(1) : a == T(-1) ? (b % 2 == 0 ? T(1) : T(-1)) : T(0);
      T power = 1;
      for (; b != T(0); b = T(b / 2), a = T(modular(a) * modular(a)))
        if (b % 2 != 0) power = T(modular(power) * modular(a));
      return power;
    }
  }
};

// NaN if either input is.
struct min {
  static constexpr std::string_view name = "Min";
  static constexpr form kind = form::elementwise;
  static constexpr element_kinds accepts = element_kinds::number;
  static constexpr bool symbolic = true;
  static constexpr traits properties{.laws = algebra::associative | algebra::commutative | algebra::idempotent};

  template <class T> static constexpr T apply(T a, T b) { return minimum(a, b); }
};

// NaN if either input is.
struct max {
  static constexpr std::string_view name = "Max";
  static constexpr form kind = form::elementwise;
  static constexpr element_kinds accepts = element_kinds::number;
  static constexpr bool symbolic = true;
  static constexpr traits properties{.laws = algebra::associative | algebra::commutative | algebra::idempotent};

  template <class T> static constexpr T apply(T a, T b) { return maximum(a, b); }
};

// The remainder of a / b, with the sign of b (fmod = false) or that of a (fmod = true). Of integers by 0 it is 0, as in
// numpy (ONNX Runtime refuses a divisor of 0); of any by -1 it is 0.
struct mod {
  bool fmod = false;

  static constexpr std::string_view name = "Mod";
  static constexpr form kind = form::elementwise;
  static constexpr element_kinds accepts = element_kinds::number;
  static constexpr bool symbolic = true;
  static constexpr traits properties{};
  static constexpr void attributes(auto& self, auto&& visit) { visit("fmod", self.fmod); }

  template <class T> constexpr T apply(T a, T b) const {
    if constexpr (requires { modulo(a, b); })
      if (is_integer(a)) {
        const T r = modulo(a, b);
        return fmod ? select((r < T(0)) == (a < T(0)), r, select(r == T(0), r, T(modular(r) - modular(b)))) : r;
      }
    if constexpr (holds_reals<T>()) {
      const T r = remainder(a, b);
      if (fmod) return r;
      const T zero = select(b < T(0), T(-0.0f), T(0));
      const T moved = select(b < T(0), select(r > T(0), r + b, r), select(r < T(0), r + b, r));
      return select(r == T(0), zero, moved);
    } else {
      return a;
    }
  }

 private:
  // (a function of its own, as `fmod` names the attribute above)
  template <class T> static constexpr T remainder(T a, T b) {
    using std::fmod;
    return fmod(a, b);
  }
};

struct neg {
  static constexpr std::string_view name = "Neg";
  static constexpr form kind = form::elementwise;
  static constexpr element_kinds accepts = element_kinds::number;
  static constexpr bool symbolic = true;
  static constexpr traits properties{};

  template <class T> static constexpr T apply(T x) { return T(-modular(x)); }
};

struct abs {
  static constexpr std::string_view name = "Abs";
  static constexpr form kind = form::elementwise;
  static constexpr element_kinds accepts = element_kinds::number;
  static constexpr bool symbolic = true;
  static constexpr traits properties{.laws = algebra::projection};

  template <class T> static constexpr T apply(T x) {
    if constexpr (holds_reals<T>()) {
      using std::abs;
      return abs(x);
    } else return select(x < T(0), T(-modular(x)), x);
  }
};

struct reciprocal {
  static constexpr std::string_view name = "Reciprocal";
  static constexpr form kind = form::elementwise;
  static constexpr traits properties{};

  template <class T> static constexpr T apply(T x) { return T(1) / x; }
};

struct floor {
  static constexpr std::string_view name = "Floor";
  static constexpr form kind = form::elementwise;
  static constexpr traits properties{.laws = algebra::projection};

  template <class T> static constexpr T apply(T x) {
    using std::floor;
    return floor(x);
  }
};

struct ceil {
  static constexpr std::string_view name = "Ceil";
  static constexpr form kind = form::elementwise;
  static constexpr traits properties{.laws = algebra::projection};

  template <class T> static constexpr T apply(T x) {
    using std::ceil;
    return ceil(x);
  }
};

// Halves go to the even neighbour.
struct round {
  static constexpr std::string_view name = "Round";
  static constexpr form kind = form::elementwise;
  static constexpr traits properties{.laws = algebra::projection};

  template <class T> static constexpr T apply(T x) {
    using std::nearbyint;
    return nearbyint(x);
  }
};

// -1, 0 or 1; NaN stays NaN.
struct sign {
  static constexpr std::string_view name = "Sign";
  static constexpr form kind = form::elementwise;
  static constexpr element_kinds accepts = element_kinds::number;
  static constexpr traits properties{.laws = algebra::projection};

  template <class T> static constexpr T apply(T x) { return select(x > T(0), T(1), select(x < T(0), T(-1), x)); }
};

}  // namespace op

inline constexpr function<op::add> add;
inline constexpr function<op::sub> sub;
inline constexpr function<op::mul> mul;
inline constexpr function<op::div> div;
inline constexpr function<op::pow> pow;
inline constexpr function<op::min> min;
inline constexpr function<op::max> max;
inline constexpr function<op::mod> mod;
inline constexpr function<op::neg> neg;
inline constexpr function<op::abs> abs;
inline constexpr function<op::reciprocal> reciprocal;
inline constexpr function<op::floor> floor;
inline constexpr function<op::ceil> ceil;
inline constexpr function<op::round> round;
inline constexpr function<op::sign> sign;

}  // namespace dnnkit
