// SPDX-License-Identifier: MIT
// Element-wise functions of mathematics: ONNX's Exp, Log, Sqrt, Sin, Cos, Tanh, Erf.
#pragma once

#include <cmath>
#include <string_view>

#include "dnnkit/operator/function.hpp"

namespace dnnkit {

namespace op {

struct exp {
  static constexpr std::string_view name = "Exp";
  static constexpr form kind = form::elementwise;
  static constexpr traits properties{};

  template <class T> static constexpr T apply(T x) {
    using std::exp;
    return exp(x);
  }
};

struct log {
  static constexpr std::string_view name = "Log";
  static constexpr form kind = form::elementwise;
  static constexpr traits properties{};

  template <class T> static constexpr T apply(T x) {
    using std::log;
    return log(x);
  }
};

struct sqrt {
  static constexpr std::string_view name = "Sqrt";
  static constexpr form kind = form::elementwise;
  static constexpr traits properties{};

  template <class T> static constexpr T apply(T x) {
    using std::sqrt;
    return sqrt(x);
  }
};

struct sin {
  static constexpr std::string_view name = "Sin";
  static constexpr form kind = form::elementwise;
  static constexpr traits properties{};

  template <class T> static constexpr T apply(T x) {
    using std::sin;
    return sin(x);
  }
};

struct cos {
  static constexpr std::string_view name = "Cos";
  static constexpr form kind = form::elementwise;
  static constexpr traits properties{};

  template <class T> static constexpr T apply(T x) {
    using std::cos;
    return cos(x);
  }
};

struct tanh {
  static constexpr std::string_view name = "Tanh";
  static constexpr form kind = form::elementwise;
  static constexpr traits properties{};

  template <class T> static constexpr T apply(T x) {
    using std::tanh;
    return tanh(x);
  }
};

struct erf {
  static constexpr std::string_view name = "Erf";
  static constexpr form kind = form::elementwise;
  static constexpr traits properties{};

  template <class T> static constexpr T apply(T x) {
    using std::erf;
    return erf(x);
  }
};

}  // namespace op

inline constexpr function<op::exp> exp;
inline constexpr function<op::log> log;
inline constexpr function<op::sqrt> sqrt;
inline constexpr function<op::sin> sin;
inline constexpr function<op::cos> cos;
inline constexpr function<op::tanh> tanh;
inline constexpr function<op::erf> erf;

}  // namespace dnnkit
