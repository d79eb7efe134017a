// SPDX-License-Identifier: MIT
// How far floats are from exact values.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace reference {

// Between floats around x: of the largest ones where they would be infinite, of denormals where x is smaller.
inline double spacing_at(double x) {
  const auto code = static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(x) >> 52U & 0x7ffU);
  const std::int64_t exponent = code < 1023 - 126 ? 1023 - 126 : code;
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent - 23) << 52U);
}

// Distance of got from the exact value, in spacings of floats there; infinite when one is a NaN and the other is not,
// or when signs of zero differ.
inline double ulps(float got, double want) {
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) == std::isnan(got) ? 0 : HUGE_VAL;
  const float nearest = static_cast<float>(want);
  if (got == nearest) return got == 0 && std::signbit(got) != std::signbit(nearest) ? HUGE_VAL : 0;
  if (std::isinf(got) || std::isinf(nearest)) {
    // One of them overflowed: at most a spacing apart when the other is the largest float.
    const float other = std::isinf(got) ? nearest : got;
    return std::abs(other) == std::numeric_limits<float>::max() ? 1 : HUGE_VAL;
  }
  return std::abs(static_cast<double>(got) - want) / spacing_at(want);
}

// |got - want| / max(1, |of|); infinite where got is no number.
inline double difference(float got, double want, double of) {
  const double e = std::abs(static_cast<double>(got) - want) / std::fmax(1.0, std::abs(of));
  return e == e ? e : HUGE_VAL;
}

}  // namespace reference
