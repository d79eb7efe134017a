// SPDX-License-Identifier: MIT
// What AVX2 has beside what vector types express: min, max, square root, rounding, sums of two products of 16-bit
// numbers, bytes as lanes, permutations, masked loads and stores.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "dnnkit/cpu/micro/isa_sse2.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET::isa {

using ints_8 [[gnu::vector_size(32)]] = std::int32_t;

template <rounding R> [[gnu::always_inline]] inline __m128 round_to(__m128 a) noexcept {
  return _mm_round_ps(a, static_cast<int>(R) | _MM_FROUND_NO_EXC);
}
template <rounding R> [[gnu::always_inline]] inline __m256 round_to(__m256 a) noexcept {
  return _mm256_round_ps(a, static_cast<int>(R) | _MM_FROUND_NO_EXC);
}
[[gnu::always_inline]] inline __m256 minimum(__m256 a, __m256 b) noexcept { return _mm256_min_ps(b, a); }
[[gnu::always_inline]] inline __m256 maximum(__m256 a, __m256 b) noexcept { return _mm256_max_ps(b, a); }
[[gnu::always_inline]] inline __m256 square_root(__m256 a) noexcept { return _mm256_sqrt_ps(a); }

#ifdef __FMA__
// sum + a b, which takes the place of the sum: that instruction, where compilers would choose among three.
[[gnu::always_inline]] inline __m256 plus_product(__m256 sum, __m256 a, __m256 b) noexcept {
  asm("vfmadd231ps %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
  return sum;
}
#endif

[[gnu::always_inline]] inline ints_8 products_of_pairs(ints_8 a, ints_8 b) noexcept {
  return reinterpret_cast<ints_8>(_mm256_madd_epi16(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
}

[[gnu::always_inline]] inline ints_8 lanes_of_bytes(const std::uint8_t* p, ints_8) noexcept {
  return reinterpret_cast<ints_8>(_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))));
}
[[gnu::always_inline]] inline ints_8 lanes_of_bytes(const std::int8_t* p, ints_8) noexcept {
  return reinterpret_cast<ints_8>(_mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))));
}
[[gnu::always_inline]] inline void low_bytes(ints_8 v, std::uint8_t* p) noexcept {
  const __m256i first = _mm256_set1_epi32(0x0c080400);  // in each half
  const __m256i x = _mm256_shuffle_epi8(reinterpret_cast<__m256i>(v), first);
  _mm_storel_epi64(reinterpret_cast<__m128i*>(p),
                   _mm_unpacklo_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1)));
}

#ifdef __F16C__
// Numbers of binary16 as floats, and floats rounded to the nearest of these.
[[gnu::always_inline]] inline __m256 load_halves(const std::uint16_t* p, __m256) noexcept {
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
[[gnu::always_inline]] inline __m128i halves_of(__m256 v) noexcept {
  return _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
[[gnu::always_inline]] inline void store_halves(__m256 v, std::uint16_t* p) noexcept {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), halves_of(v));
}
[[gnu::always_inline]] inline __m256 rounded_to_half(__m256 v) noexcept { return _mm256_cvtph_ps(halves_of(v)); }
#endif

// Lane i is lane at[i] of x; each of at is below 8.
[[gnu::always_inline]] inline __m256 permuted(__m256 x, ints_8 at) noexcept {
  return _mm256_permutevar8x32_ps(x, reinterpret_cast<__m256i>(at));
}
[[gnu::always_inline]] inline ints_8 permuted(ints_8 x, ints_8 at) noexcept {
  return reinterpret_cast<ints_8>(
      _mm256_permutevar8x32_epi32(reinterpret_cast<__m256i>(x), reinterpret_cast<__m256i>(at)));
}

// All ones in the first n of eight 32-bit lanes.
[[gnu::always_inline]] inline __m256i first_lanes(int n) noexcept {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
[[gnu::always_inline]] inline __m256 load_first(const float* p, int n, __m256) noexcept {
  return _mm256_maskload_ps(p, first_lanes(n));
}
[[gnu::always_inline]] inline void store_first(float* p, __m256 v, int n) noexcept {
  _mm256_maskstore_ps(p, first_lanes(n), v);
}

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET::isa
