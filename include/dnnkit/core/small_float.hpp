// SPDX-License-Identifier: MIT
// Floating-point numbers of 16 bits as they are stored: IEEE 754's binary16 and bfloat16. They are computed with as
// float; making one rounds to the nearest, ties to even. As processors have it, what is no number keeps its highest
// bits and becomes quiet.
#pragma once

#include <bit>
#include <cstdint>

namespace dnnkit {

struct float16 {
  std::uint16_t bits = 0;

  constexpr float16() = default;
  constexpr explicit float16(float x) {
    const auto all = std::bit_cast<std::uint32_t>(x);
    const std::uint32_t negative = all >> 16 & 0x8000, magnitude = all & 0x7fffffff;
    if (magnitude > 0x7f800000)
      bits = static_cast<std::uint16_t>(negative | 0x7e00 | (magnitude >> 13 & 0x3ff));      // NaN
    else if (magnitude >= 0x47800000) bits = static_cast<std::uint16_t>(negative | 0x7c00);  // 2^16 and above: infinite
    else if (magnitude >= 0x38800000)                                                        // 2^-14 and above: normal
      bits = static_cast<std::uint16_t>(negative | shifted(magnitude - (112u << 23), 13));
    else if (magnitude >= 0x33000000)  // 2^-25 and above: a fraction of 2^-14, with the leading bit written out
      bits = static_cast<std::uint16_t>(negative | shifted((magnitude & 0x7fffff) | 0x800000, 126 - (magnitude >> 23)));
    else bits = static_cast<std::uint16_t>(negative);
  }
  constexpr operator float() const {
    const std::uint32_t negative = std::uint32_t{bits & 0x8000u} << 16, exponent = bits >> 10 & 31u,
                        fraction = bits & 1023u;
    if (exponent == 31)
      return std::bit_cast<float>(negative | 0x7f800000 | (fraction == 0 ? 0 : 0x400000 | fraction << 13));
    if (exponent != 0) return std::bit_cast<float>(negative | (exponent + 112) << 23 | fraction << 13);
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return negative != 0 ? -magnitude : magnitude;
  }

 private:
  // n / 2^places, rounded; a carry runs into the exponent, as it should
  static constexpr std::uint32_t shifted(std::uint32_t n, std::uint32_t places) {
    const std::uint32_t whole = n >> places, rest = n & ((1u << places) - 1), half = 1u << (places - 1);
    return whole + (rest > half || (rest == half && (whole & 1) != 0) ? 1 : 0);
  }
};

struct bfloat16 {
  std::uint16_t bits = 0;

  constexpr bfloat16() = default;
  constexpr explicit bfloat16(float x) {
    const auto all = std::bit_cast<std::uint32_t>(x);
    const bool not_a_number = (all & 0x7fffffff) > 0x7f800000;
    bits = static_cast<std::uint16_t>(not_a_number ? all >> 16 | 0x40 : (all + 0x7fff + (all >> 16 & 1)) >> 16);
  }
  constexpr operator float() const { return std::bit_cast<float>(std::uint32_t{bits} << 16); }
};

}  // namespace dnnkit
