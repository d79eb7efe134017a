// SPDX-License-Identifier: MIT
// ONNX's element types of 8 bits and fewer that dnnkit has no dtype for: integers of 4 and 2 bits, and floats of 8 and
// 4. Their elements are held in wider types, i8, u8 and f32, which have all of their values.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "dnnkit/core/dtype.hpp"

namespace dnnkit::onnx {

// What stands for the codes of a float's highest exponent.
enum class specials : std::uint8_t {
  ieee,           // infinities and NaN, as in wider types
  one_nan,        // NaN where all other bits are set; other codes are numbers
  negative_zero,  // NaN is the code of minus 0; all others are numbers
  none,           // all are numbers
  scale           // no sign and no fraction: powers of two, and NaN where all bits are set
};

struct narrow_type {
  std::int32_t number;  // ONNX's
  dtype held_in;
  int bits;
  int fraction_bits = 0, bias = 0;  // of floats: 1.fraction x 2^(exponent - bias)
  specials top = specials::none;

  constexpr bool is_real() const { return held_in == f32; }
  // The exponent of the smallest number that is 1.fraction, and the largest number.
  constexpr int least_exponent() const { return 1 - bias; }
  double largest() const {
    const int codes = 1 << (bits - 1 - fraction_bits);  // of the exponent
    const double ulp = std::ldexp(1.0, -fraction_bits);
    if (top == specials::ieee) return std::ldexp(2 - ulp, codes - 2 - bias);
    if (top == specials::one_nan) return std::ldexp(2 - 2 * ulp, codes - 1 - bias);
    return top == specials::scale ? std::ldexp(1.0, 127) : std::ldexp(2 - ulp, codes - 1 - bias);
  }
  constexpr std::int64_t least_integer() const { return held_in == i8 ? -(std::int64_t{1} << (bits - 1)) : 0; }
  constexpr std::int64_t largest_integer() const { return (std::int64_t{1} << (held_in == i8 ? bits - 1 : bits)) - 1; }
};

inline constexpr std::array<narrow_type, 10> narrow_types{{
    {17, f32, 8, 3, 7, specials::one_nan},         // FLOAT8E4M3FN
    {18, f32, 8, 3, 8, specials::negative_zero},   // FLOAT8E4M3FNUZ
    {19, f32, 8, 2, 15, specials::ieee},           // FLOAT8E5M2
    {20, f32, 8, 2, 16, specials::negative_zero},  // FLOAT8E5M2FNUZ
    {21, u8, 4},                                   // UINT4
    {22, i8, 4},                                   // INT4
    {23, f32, 4, 1, 1, specials::none},            // FLOAT4E2M1
    {24, f32, 8, 0, 127, specials::scale},         // FLOAT8E8M0
    {25, u8, 2},                                   // UINT2
    {26, i8, 2},                                   // INT2
}};

// The narrow type of one of ONNX's numbers of element types; null for other numbers.
constexpr const narrow_type* narrow_type_of(std::int64_t number) {
  for (const narrow_type& t : narrow_types)
    if (t.number == number) return &t;
  return nullptr;
}

// The number that a code, in the lowest bits, stands for.
inline double real_of_code(const narrow_type& t, unsigned code) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const unsigned all = (1U << t.bits) - 1;
  if (t.top == specials::scale) return code == all ? nan : std::ldexp(1.0, static_cast<int>(code) - t.bias);
  const unsigned magnitude = code & (all >> 1), ones = all >> 1;
  const bool negative = code > magnitude;
  if (t.top == specials::negative_zero && negative && magnitude == 0) return nan;
  if (t.top == specials::one_nan && magnitude == ones) return nan;
  const int exponent = static_cast<int>(magnitude >> t.fraction_bits);
  const unsigned fraction = magnitude & ((1U << t.fraction_bits) - 1);
  double x = 0;
  if (t.top == specials::ieee && exponent == (1 << (t.bits - 1 - t.fraction_bits)) - 1)
    x = fraction == 0 ? std::numeric_limits<double>::infinity() : nan;
  else if (exponent == 0) x = std::ldexp(static_cast<double>(fraction), t.least_exponent() - t.fraction_bits);
  else x = std::ldexp(static_cast<double>(fraction + (1U << t.fraction_bits)), exponent - t.bias - t.fraction_bits);
  return negative ? -x : x;
}
inline std::int64_t integer_of_code(const narrow_type& t, unsigned code) {
  const auto x = static_cast<std::int64_t>(code);
  return x > t.largest_integer() ? x - (std::int64_t{1} << t.bits) : x;
}

// Bytes of so many packed elements; the first is in the lowest bits.
constexpr std::uint64_t packed_bytes(const narrow_type& t, std::uint64_t count) {
  const auto each = static_cast<std::uint64_t>(8 / t.bits);
  return count / each + (count % each != 0);
}

}  // namespace dnnkit::onnx
