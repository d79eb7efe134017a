// SPDX-License-Identifier: MIT
// Activations with thresholds: ONNX's Celu, ThresholdedRelu, Shrink.
#pragma once

#include <cmath>
#include <string_view>

#include "dnnkit/operator/function.hpp"
#include "dnnkit/operator/scalar.hpp"

namespace dnnkit {

namespace op {

// x where it is positive, alpha (exp(x / alpha) - 1) elsewhere
struct celu {
  float alpha = 1;

  static constexpr std::string_view name = "Celu";
  static constexpr form kind = form::elementwise;
  static constexpr traits properties{};
  static constexpr void attributes(auto& self, auto&& visit) { visit("alpha", self.alpha); }

  template <class T> constexpr T apply(T x) const {
    using std::exp;
    return maximum(x, T(0)) + minimum(T(alpha) * (exp(x / T(alpha)) - T(1)), T(0));
  }
};

// x where it is above alpha, 0 elsewhere
struct thresholded_relu {
  float alpha = 1;

  static constexpr std::string_view name = "ThresholdedRelu";
  static constexpr form kind = form::elementwise;
  static constexpr traits properties{.laws = algebra::projection};
  static constexpr void attributes(auto& self, auto&& visit) { visit("alpha", self.alpha); }

  template <class T> constexpr T apply(T x) const { return select(x > T(alpha), x, T(0)); }
};

// x moved by `bias` towards 0 where it is further from 0 than lambd, 0 elsewhere
struct shrink {
  float bias = 0, lambd = 0.5f;

  static constexpr std::string_view name = "Shrink";
  static constexpr form kind = form::elementwise;
  static constexpr element_kinds accepts = element_kinds::number;
  static constexpr traits properties{};
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("bias", self.bias);
    visit("lambd", self.lambd);
  }

  template <class T> constexpr T apply(T x) const {
    if constexpr (holds_reals<T>()) return select(x < T(-lambd), x + T(bias), select(x > T(lambd), x - T(bias), T(0)));
    else {
      const auto value = static_cast<double>(x);
      return static_cast<T>(value < -lambd ? value + bias : value > lambd ? value - bias : 0);
    }
  }
};

}  // namespace op

inline constexpr function<op::celu> celu;
inline constexpr function<op::thresholded_relu> thresholded_relu;
inline constexpr function<op::shrink> shrink;

}  // namespace dnnkit
