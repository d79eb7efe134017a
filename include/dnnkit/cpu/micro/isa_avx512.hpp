// SPDX-License-Identifier: MIT
// What AVX-512 has beside what vector types express: min, max, square root, rounding, multiplication by powers of two,
// sums of two products of 16-bit numbers, bytes as lanes, permutations, masked loads and stores.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "dnnkit/cpu/micro/isa_avx2.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET::isa {

using ints_16 [[gnu::vector_size(64)]] = std::int32_t;

// The zero-masking forms, because GCC 12 warns of an uninitialised operand inside the plain ones; both become one
// instruction.
inline constexpr __mmask16 all_lanes = 0xffff;
template <rounding R> [[gnu::always_inline]] inline __m512 round_to(__m512 a) noexcept {
  return _mm512_maskz_roundscale_ps(all_lanes, a, static_cast<int>(R) | _MM_FROUND_NO_EXC);
}
[[gnu::always_inline]] inline __m512 minimum(__m512 a, __m512 b) noexcept {
  return _mm512_maskz_min_ps(all_lanes, b, a);
}
[[gnu::always_inline]] inline __m512 maximum(__m512 a, __m512 b) noexcept {
  return _mm512_maskz_max_ps(all_lanes, b, a);
}
[[gnu::always_inline]] inline __m512 square_root(__m512 a) noexcept { return _mm512_maskz_sqrt_ps(all_lanes, a); }
// a * 2^n for whole n of any size, rounded once: into denormals, to zero or to infinity.
[[gnu::always_inline]] inline __m128 times_power_of_two(__m128 a, __m128 n) noexcept {
  return _mm_maskz_scalef_ps(0xf, a, n);
}
[[gnu::always_inline]] inline __m256 times_power_of_two(__m256 a, __m256 n) noexcept {
  return _mm256_maskz_scalef_ps(0xff, a, n);
}
[[gnu::always_inline]] inline __m512 times_power_of_two(__m512 a, __m512 n) noexcept {
  return _mm512_maskz_scalef_ps(all_lanes, a, n);
}
// a b + c rounded once, also where compilers do not fuse what stands in two operations.
[[gnu::always_inline]] inline __m512 rounded_once(__m512 a, __m512 b, __m512 c) noexcept {
  return _mm512_fmadd_ps(a, b, c);
}
// As that of half as many lanes (isa_avx2.hpp).
[[gnu::always_inline]] inline __m512 plus_product(__m512 sum, __m512 a, __m512 b) noexcept {
  asm("vfmadd231ps %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
  return sum;
}
[[gnu::always_inline]] inline ints_16 products_of_pairs(ints_16 a, ints_16 b) noexcept {
  return reinterpret_cast<ints_16>(_mm512_madd_epi16(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
}
// Lane i is lane at[i] of x; each of at is below 16.
[[gnu::always_inline]] inline __m512 permuted(__m512 x, ints_16 at) noexcept {
  return _mm512_maskz_permutexvar_ps(all_lanes, reinterpret_cast<__m512i>(at), x);
}
[[gnu::always_inline]] inline ints_16 permuted(ints_16 x, ints_16 at) noexcept {
  return reinterpret_cast<ints_16>(
      _mm512_maskz_permutexvar_epi32(all_lanes, reinterpret_cast<__m512i>(at), reinterpret_cast<__m512i>(x)));
}
// Lane i is number at[i] % 32 of low and high, which follow each other.
[[gnu::always_inline]] inline ints_16 permuted(ints_16 low, ints_16 high, ints_16 at) noexcept {
  return reinterpret_cast<ints_16>(_mm512_permutex2var_epi32(
      reinterpret_cast<__m512i>(low), reinterpret_cast<__m512i>(at), reinterpret_cast<__m512i>(high)));
}
[[gnu::always_inline]] inline ints_16 lanes_of_bytes(const std::uint8_t* p, ints_16) noexcept {
  return reinterpret_cast<ints_16>(
      _mm512_maskz_cvtepu8_epi32(all_lanes, _mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
}
[[gnu::always_inline]] inline ints_16 lanes_of_bytes(const std::int8_t* p, ints_16) noexcept {
  return reinterpret_cast<ints_16>(
      _mm512_maskz_cvtepi8_epi32(all_lanes, _mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
}
[[gnu::always_inline]] inline void low_bytes(ints_16 v, std::uint8_t* p) noexcept {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_maskz_cvtepi32_epi8(all_lanes, reinterpret_cast<__m512i>(v)));
}
// Numbers of binary16 as floats, and floats rounded to the nearest of these.
[[gnu::always_inline]] inline __m512 load_halves(const std::uint16_t* p, __m512) noexcept {
  return _mm512_maskz_cvtph_ps(all_lanes, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}
[[gnu::always_inline]] inline __m256i halves_of(__m512 v) noexcept {
  return _mm512_maskz_cvtps_ph(all_lanes, v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
[[gnu::always_inline]] inline void store_halves(__m512 v, std::uint16_t* p) noexcept {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), halves_of(v));
}
[[gnu::always_inline]] inline __m512 rounded_to_half(__m512 v) noexcept {
  return _mm512_maskz_cvtph_ps(all_lanes, halves_of(v));
}
[[gnu::always_inline]] inline __m512 load_first(const float* p, int n, __m512) noexcept {
  return _mm512_maskz_loadu_ps(static_cast<__mmask16>((1U << n) - 1U), p);
}
[[gnu::always_inline]] inline void store_first(float* p, __m512 v, int n) noexcept {
  _mm512_mask_storeu_ps(p, static_cast<__mmask16>((1U << n) - 1U), v);
}

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET::isa
