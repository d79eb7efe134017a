// SPDX-License-Identifier: MIT
// Integers as bits: ONNX's BitShift, BitwiseAnd, BitwiseOr, BitwiseXor, BitwiseNot.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

#include "dnnkit/operator/function.hpp"
#include "dnnkit/operator/scalar.hpp"

namespace dnnkit {

enum class shift_direction : std::int64_t { left, right };

namespace op {

// Integers a shifted by b bits; to the right, signed ones are filled with their sign. Shifts by the width of the type
// or more, and by negative numbers, leave nothing but what is filled in.
struct bit_shift {
  shift_direction direction = shift_direction::left;

  static constexpr std::string_view name = "BitShift";
  static constexpr std::string_view operands = "x, distance";
  static constexpr form kind = form::elementwise;
  static constexpr element_kinds accepts = element_kinds::integral;
  static constexpr traits properties{};
  static constexpr void attributes(auto& self, auto&& visit) { visit("direction", self.direction); }

  template <class T> constexpr T apply(T a, T b) const {
    constexpr int width = sizeof(T) * 8;
    const bool left = direction == shift_direction::left;
    if (b < T(0) || static_cast<std::uint64_t>(b) >= width) return static_cast<T>(!left && a < T(0) ? -1 : 0);
    return static_cast<T>(left ? static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) << b) : static_cast<T>(a >> b));
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
