// SPDX-License-Identifier: MIT
// Which floating-point numbers are infinite or none at all: ONNX's IsNaN and IsInf.
#pragma once

#include <limits>
#include <string_view>

#include "dnnkit/operator/function.hpp"
#include "dnnkit/operator/scalar.hpp"

namespace dnnkit {

namespace op {

struct is_nan {
  static constexpr std::string_view name = "IsNaN";
  static constexpr form kind = form::elementwise;
  static constexpr traits properties{};
  static constexpr dtype result(dtype) { return boolean; }

  template <class T> static constexpr auto apply(T x) { return x != x; }
};

// Infinite, of the signs asked for.
struct is_inf {
  bool detect_negative = true, detect_positive = true;

  static constexpr std::string_view name = "IsInf";
  static constexpr form kind = form::elementwise;
  static constexpr traits properties{};
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("detect_negative", self.detect_negative);
    visit("detect_positive", self.detect_positive);
  }
  static constexpr dtype result(dtype) { return boolean; }

  template <class T> constexpr auto apply(T x) const {
    const T up = detect_positive ? highest<T>() : T(0), down = detect_negative ? lowest<T>() : T(0);
    return ((x == up) | (x == down)) & (x != T(0));
  }
};

}  // namespace op

inline constexpr function<op::is_nan> is_nan;
inline constexpr function<op::is_inf> is_inf;

}  // namespace dnnkit
