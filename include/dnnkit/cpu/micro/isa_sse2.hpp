// SPDX-License-Identifier: MIT
// What SSE2 has beside what vector types express: min, max, square root, sums of two products of 16-bit
// numbers, bytes as lanes.
#pragma once

#include <emmintrin.h>

#include <cstdint>
#include <cstring>

#include "dnnkit/cpu/micro/isa_portable.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET::isa {

using ints_4 [[gnu::vector_size(16)]] = std::int32_t;

// min and max as std:: defines them: the first argument when the two are unordered.
[[gnu::always_inline]] inline __m128 minimum(__m128 a, __m128 b) noexcept { return _mm_min_ps(b, a); }
[[gnu::always_inline]] inline __m128 maximum(__m128 a, __m128 b) noexcept { return _mm_max_ps(b, a); }
[[gnu::always_inline]] inline __m128 square_root(__m128 a) noexcept { return _mm_sqrt_ps(a); }

// In each 32-bit lane the sum of the products of the two signed 16-bit halves, exact but for two of -32768 * -32768.
[[gnu::always_inline]] inline ints_4 products_of_pairs(ints_4 a, ints_4 b) noexcept {
  return reinterpret_cast<ints_4>(_mm_madd_epi16(reinterpret_cast<__m128i>(a), reinterpret_cast<__m128i>(b)));
}

// Bytes next to each other as 32-bit lanes, and the lowest byte of each lane next to each other.
[[gnu::always_inline]] inline ints_4 lanes_of_bytes(const std::uint8_t* p, ints_4) noexcept {
  std::int32_t four;
  std::memcpy(&four, p, sizeof(four));
  const __m128i x = _mm_cvtsi32_si128(four), zero = _mm_setzero_si128();
  return reinterpret_cast<ints_4>(_mm_unpacklo_epi16(_mm_unpacklo_epi8(x, zero), zero));
}
[[gnu::always_inline]] inline ints_4 lanes_of_bytes(const std::int8_t* p, ints_4) noexcept {
  std::int32_t four;
  std::memcpy(&four, p, sizeof(four));
  const __m128i x = _mm_cvtsi32_si128(four), twice = _mm_unpacklo_epi8(x, x);
  return reinterpret_cast<ints_4>(_mm_srai_epi32(_mm_unpacklo_epi16(twice, twice), 24));
}
[[gnu::always_inline]] inline void low_bytes(ints_4 v, std::uint8_t* p) noexcept {
  const __m128i x = _mm_and_si128(reinterpret_cast<__m128i>(v), _mm_set1_epi32(255)), halves = _mm_packs_epi32(x, x);
  const std::int32_t four = _mm_cvtsi128_si32(_mm_packus_epi16(halves, halves));
  std::memcpy(p, &four, sizeof(four));
}

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET::isa
