// SPDX-License-Identifier: MIT
// Integers as bits: ONNX's BitShift, BitwiseAnd, BitwiseOr, BitwiseXor, BitwiseNot.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

#include "dnnkit/op/function.hpp"
#include "dnnkit/op/scalar.hpp"

namespace dnnkit {

enum class shift_direction : std::int64_t { left, right };

namespace op {

// Unsigned integers a shifted by b bits; shifts by the width of the type or more give 0.
struct bit_shift {
  shift_direction direction = shift_direction::left;

  static constexpr std::string_view name = "BitShift";
  static constexpr form kind = form::elementwise;
  static constexpr element_kinds accepts = element_kinds::integral;
  static constexpr traits properties{};
  static constexpr void attributes(auto& self, auto&& visit) { visit("direction", self.direction); }

  template <class T> constexpr T apply(T a, T b) const {
    constexpr int width = sizeof(T) * 8;
    if (b < T(0) || static_cast<std::uint64_t>(b) >= width) return 0;
    const auto bits = static_cast<std::make_unsigned_t<T>>(a);
    return static_cast<T>(direction == shift_direction::left ? bits << b : bits >> b);
  }
};

struct bitwise_and {
  static constexpr std::string_view name = "BitwiseAnd";
  static constexpr form kind = form::elementwise;
  static constexpr element_kinds accepts = element_kinds::integral;
  static constexpr traits properties{.laws = algebra::associative | algebra::commutative | algebra::idempotent};

  template <class T> static constexpr T apply(T a, T b) { return static_cast<T>(a & b); }
};

struct bitwise_or {
  static constexpr std::string_view name = "BitwiseOr";
  static constexpr form kind = form::elementwise;
  static constexpr element_kinds accepts = element_kinds::integral;
  static constexpr traits properties{.laws = algebra::associative | algebra::commutative | algebra::idempotent};

  template <class T> static constexpr T apply(T a, T b) { return static_cast<T>(a | b); }
};

struct bitwise_xor {
  static constexpr std::string_view name = "BitwiseXor";
  static constexpr form kind = form::elementwise;
  static constexpr element_kinds accepts = element_kinds::integral;
  static constexpr traits properties{.laws = algebra::associative | algebra::commutative};

  template <class T> static constexpr T apply(T a, T b) { return static_cast<T>(a ^ b); }
};

struct bitwise_not {
  static constexpr std::string_view name = "BitwiseNot";
  static constexpr form kind = form::elementwise;
  static constexpr element_kinds accepts = element_kinds::integral;
  static constexpr traits properties{};

  template <class T> static constexpr T apply(T a) { return static_cast<T>(~a); }
};

}  // namespace op

inline constexpr function<op::bit_shift> bit_shift;
inline constexpr function<op::bitwise_and> bitwise_and;
inline constexpr function<op::bitwise_or> bitwise_or;
inline constexpr function<op::bitwise_xor> bitwise_xor;
inline constexpr function<op::bitwise_not> bitwise_not;

}  // namespace dnnkit
