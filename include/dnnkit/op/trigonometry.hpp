// SPDX-License-Identifier: MIT
// Trigonometric and hyperbolic functions beyond Sin, Cos and Tanh: ONNX's Tan, Asin, Acos, Atan, Sinh, Cosh, Asinh,
// Acosh, Atanh.
#pragma once

#include <cmath>
#include <string_view>

#include "dnnkit/operator/function.hpp"

namespace dnnkit {

namespace op {

struct tan {
  static constexpr std::string_view name = "Tan";
  static constexpr form kind = form::elementwise;
  static constexpr traits properties{};

  template <class T> static constexpr T apply(T x) {
    using std::tan;
    return tan(x);
  }
};

struct asin {
  static constexpr std::string_view name = "Asin";
  static constexpr form kind = form::elementwise;
  static constexpr traits properties{};

  template <class T> static constexpr T apply(T x) {
    using std::asin;
    return asin(x);
  }
};

struct acos {
  static constexpr std::string_view name = "Acos";
  static constexpr form kind = form::elementwise;
  static constexpr traits properties{};

  template <class T> static constexpr T apply(T x) {
    using std::acos;
    return acos(x);
  }
};

struct atan {
  static constexpr std::string_view name = "Atan";
  static constexpr form kind = form::elementwise;
  static constexpr traits properties{};

  template <class T> static constexpr T apply(T x) {
    using std::atan;
    return atan(x);
  }
};

struct sinh {
  static constexpr std::string_view name = "Sinh";
  static constexpr form kind = form::elementwise;
  static constexpr traits properties{};

  template <class T> static constexpr T apply(T x) {
    using std::sinh;
    return sinh(x);
  }
};

struct cosh {
  static constexpr std::string_view name = "Cosh";
  static constexpr form kind = form::elementwise;
  static constexpr traits properties{};

  template <class T> static constexpr T apply(T x) {
    using std::cosh;
    return cosh(x);
  }
};

struct asinh {
  static constexpr std::string_view name = "Asinh";
  static constexpr form kind = form::elementwise;
  static constexpr traits properties{};

  template <class T> static constexpr T apply(T x) {
    using std::asinh;
    return asinh(x);
  }
};

struct acosh {
  static constexpr std::string_view name = "Acosh";
  static constexpr form kind = form::elementwise;
  static constexpr traits properties{};

  template <class T> static constexpr T apply(T x) {
    using std::acosh;
    return acosh(x);
  }
};

struct atanh {
  static constexpr std::string_view name = "Atanh";
  static constexpr form kind = form::elementwise;
  static constexpr traits properties{};

  template <class T> static constexpr T apply(T x) {
    using std::atanh;
    return atanh(x);
  }
};

}  // namespace op

inline constexpr function<op::tan> tan;
inline constexpr function<op::asin> asin;
inline constexpr function<op::acos> acos;
inline constexpr function<op::atan> atan;
inline constexpr function<op::sinh> sinh;
inline constexpr function<op::cosh> cosh;
inline constexpr function<op::asinh> asinh;
inline constexpr function<op::acosh> acosh;
inline constexpr function<op::atanh> atanh;

}  // namespace dnnkit
