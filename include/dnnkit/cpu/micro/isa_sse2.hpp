// SPDX-License-Identifier: MIT
// What SSE2 has beside what vector types express: min, max, square root, sums of two products of 16-bit numbers.
#pragma once

#include <emmintrin.h>

#include <cstdint>

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

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET::isa
