// SPDX-License-Identifier: MIT
// Element-wise comparison, logic and choice, with broadcast: ONNX's Equal ... LessOrEqual, And, Or, Xor, Not, Where.
#pragma once

#include <array>
#include <string_view>

#include "dnnkit/operator/function.hpp"
#include "dnnkit/operator/scalar.hpp"

namespace dnnkit {

namespace op {

struct logical_and {
  static constexpr std::string_view name = "And";
  static constexpr form kind = form::elementwise;
  static constexpr element_kinds accepts = element_kinds::logical;
  static constexpr bool symbolic = true;
  static constexpr traits properties{.laws = algebra::associative | algebra::commutative | algebra::idempotent};

  template <class T> static constexpr T apply(T a, T b) { return static_cast<T>(a & b); }
};

struct logical_or {
  static constexpr std::string_view name = "Or";
  static constexpr form kind = form::elementwise;
  static constexpr element_kinds accepts = element_kinds::logical;
  static constexpr bool symbolic = true;
  static constexpr traits properties{.laws = algebra::associative | algebra::commutative | algebra::idempotent};

  template <class T> static constexpr T apply(T a, T b) { return static_cast<T>(a | b); }
};

struct logical_xor {
  static constexpr std::string_view name = "Xor";
  static constexpr form kind = form::elementwise;
  static constexpr element_kinds accepts = element_kinds::logical;
  static constexpr bool symbolic = true;
  static constexpr traits properties{.laws = algebra::associative | algebra::commutative};

  template <class T> static constexpr T apply(T a, T b) { return static_cast<T>(a ^ b); }
};

struct logical_not {
  static constexpr std::string_view name = "Not";
  static constexpr form kind = form::elementwise;
  static constexpr element_kinds accepts = element_kinds::logical;
  static constexpr bool symbolic = true;
  static constexpr traits properties{};

  template <class T> static constexpr T apply(T a) { return negation(a); }
};

struct equal {
  static constexpr std::string_view name = "Equal";
  static constexpr form kind = form::elementwise;
  static constexpr element_kinds accepts = element_kinds::any;
  static constexpr bool symbolic = true;
  static constexpr traits properties{.laws = algebra::commutative};
  static constexpr dtype result(dtype) { return boolean; }

  template <class T> static constexpr auto apply(T a, T b) { return a == b; }
};

struct greater {
  static constexpr std::string_view name = "Greater";
  static constexpr form kind = form::elementwise;
  static constexpr element_kinds accepts = element_kinds::number;
  static constexpr bool symbolic = true;
  static constexpr traits properties{};
  static constexpr dtype result(dtype) { return boolean; }

  template <class T> static constexpr auto apply(T a, T b) { return a > b; }
};

struct greater_or_equal {
  static constexpr std::string_view name = "GreaterOrEqual";
  static constexpr form kind = form::elementwise;
  static constexpr element_kinds accepts = element_kinds::number;
  static constexpr bool symbolic = true;
  static constexpr traits properties{};
  static constexpr dtype result(dtype) { return boolean; }

  template <class T> static constexpr auto apply(T a, T b) { return a >= b; }
};

struct less {
  static constexpr std::string_view name = "Less";
  static constexpr form kind = form::elementwise;
  static constexpr element_kinds accepts = element_kinds::number;
  static constexpr bool symbolic = true;
  static constexpr traits properties{};
  static constexpr dtype result(dtype) { return boolean; }

  template <class T> static constexpr auto apply(T a, T b) { return a < b; }
};

struct less_or_equal {
  static constexpr std::string_view name = "LessOrEqual";
  static constexpr form kind = form::elementwise;
  static constexpr element_kinds accepts = element_kinds::number;
  static constexpr bool symbolic = true;
  static constexpr traits properties{};
  static constexpr dtype result(dtype) { return boolean; }

  template <class T> static constexpr auto apply(T a, T b) { return a <= b; }
};

// a where the condition holds, b elsewhere
struct where {
  static constexpr std::string_view name = "Where";
  static constexpr std::string_view operands = "condition, a, b";
  static constexpr form kind = form::elementwise;
  static constexpr element_kinds accepts = element_kinds::any;
  static constexpr bool symbolic = true;
  static constexpr std::array<element, 3> elements{element::logical, element::common, element::common};
  static constexpr traits properties{};

  template <class M, class T> static constexpr T apply(M condition, T a, T b) { return select(condition, a, b); }
};

}  // namespace op

inline constexpr function<op::logical_and> logical_and;
inline constexpr function<op::logical_or> logical_or;
inline constexpr function<op::logical_xor> logical_xor;
inline constexpr function<op::logical_not> logical_not;
inline constexpr function<op::equal> equal;
inline constexpr function<op::greater> greater;
inline constexpr function<op::greater_or_equal> greater_or_equal;
inline constexpr function<op::less> less;
inline constexpr function<op::less_or_equal> less_or_equal;
inline constexpr function<op::where> where;

}  // namespace dnnkit
