// SPDX-License-Identifier: MIT
// Element-wise arithmetic with broadcast, and activations: ONNX's Add ... Where, Relu ... Gelu.
// (DNNFusion Table 3.2: One-to-One; an input that is broadcast is One-to-Many on its own edge.)
#pragma once

#include <cmath>
#include <limits>
#include <string_view>

#include "dnnkit/op/function.hpp"
#include "dnnkit/op/scalar.hpp"

namespace dnnkit {

namespace op {

struct add {
  static constexpr std::string_view name = "Add";
  static constexpr form kind = form::elementwise;
  static constexpr element_kinds accepts = element_kinds::number;
  static constexpr traits properties{.laws = algebra::associative | algebra::commutative | algebra::linear};
  template <class T> static constexpr T apply(T a, T b) { return a + b; }
};

struct sub {
  static constexpr std::string_view name = "Sub";
  static constexpr form kind = form::elementwise;
  static constexpr element_kinds accepts = element_kinds::number;
  static constexpr traits properties{.laws = algebra::linear};
  template <class T> static constexpr T apply(T a, T b) { return a - b; }
};

struct mul {
  static constexpr std::string_view name = "Mul";
  static constexpr form kind = form::elementwise;
  static constexpr element_kinds accepts = element_kinds::number;
  static constexpr traits properties{.laws =
                                         algebra::associative | algebra::commutative | algebra::distributes_over_add};
  template <class T> static constexpr T apply(T a, T b) { return a * b; }
};

struct div {
  static constexpr std::string_view name = "Div";
  static constexpr form kind = form::elementwise;
  static constexpr element_kinds accepts = element_kinds::number;
  static constexpr traits properties{.laws = algebra::distributes_over_add};
  template <class T> static constexpr T apply(T a, T b) { return a / b; }
};

struct relu {
  static constexpr std::string_view name = "Relu";
  static constexpr form kind = form::elementwise;
  static constexpr element_kinds accepts = element_kinds::number;
  static constexpr traits properties{.laws = algebra::idempotent};
  template <class T> static constexpr T apply(T x) { return maximum(x, T(0)); }
};

struct clip {
  float min = std::numeric_limits<float>::lowest();
  float max = std::numeric_limits<float>::max();

  static constexpr std::string_view name = "Clip";
  static constexpr form kind = form::elementwise;
  static constexpr element_kinds accepts = element_kinds::number;
  static constexpr traits properties{.laws = algebra::idempotent};
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("min", self.min);
    visit("max", self.max);
  }
  template <class T> constexpr T apply(T x) const { return minimum(maximum(x, T(min)), T(max)); }
};

struct sqrt {
  static constexpr std::string_view name = "Sqrt";
  static constexpr form kind = form::elementwise;
  static constexpr traits properties{};
  template <class T> static T apply(T x) {
    using std::sqrt;
    return sqrt(x);
  }
};

struct sigmoid {
  static constexpr std::string_view name = "Sigmoid";
  static constexpr form kind = form::elementwise;
  static constexpr traits properties{};
  template <class T> static T apply(T x) {
    using dnnkit::sigmoid;
    return sigmoid(x);
  }
};

}  // namespace op

inline constexpr function<op::add> add;
inline constexpr function<op::sub> sub;
inline constexpr function<op::mul> mul;
inline constexpr function<op::div> div;
inline constexpr function<op::relu> relu;
inline constexpr function<op::clip> clip;
inline constexpr function<op::sqrt> sqrt;

template <graph_tensor T> constexpr T operator+(T a, T b) { return add(a, b); }
template <graph_tensor T> constexpr T operator-(T a, T b) { return sub(a, b); }
template <graph_tensor T> constexpr T operator*(T a, T b) { return mul(a, b); }
template <graph_tensor T> constexpr T operator/(T a, T b) { return div(a, b); }
template <graph_tensor T> constexpr T operator+(T a, double b) { return add(a, a.owner().scalar(b, a.type())); }
template <graph_tensor T> constexpr T operator-(T a, double b) { return sub(a, a.owner().scalar(b, a.type())); }
template <graph_tensor T> constexpr T operator*(T a, double b) { return mul(a, a.owner().scalar(b, a.type())); }
template <graph_tensor T> constexpr T operator/(T a, double b) { return div(a, a.owner().scalar(b, a.type())); }
template <graph_tensor T> constexpr T operator-(double a, T b) { return sub(b.owner().scalar(a, b.type()), b); }
template <graph_tensor T> constexpr T operator+(double a, T b) { return b + a; }
template <graph_tensor T> constexpr T operator*(double a, T b) { return b * a; }

}  // namespace dnnkit
