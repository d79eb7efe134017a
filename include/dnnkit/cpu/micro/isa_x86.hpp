// SPDX-License-Identifier: MIT
// The few x86 instructions that vector types cannot express: min, max, square root, rounding, multiplication by powers
// of two, masked loads and stores.
#pragma once

#include <cstdint>

#include "dnnkit/cpu/micro/config.hpp"

#if DNNKIT_X86
#include <immintrin.h>
#endif

namespace dnnkit::cpu::inline DNNKIT_TARGET::isa {

enum class rounding { half_even = 0, down = 1, up = 2, to_zero = 3 };

// The names exist on every target, so that "is there an overload for this vector" is a question a program may ask.
struct no_vector {};
void minimum(no_vector, no_vector);
void maximum(no_vector, no_vector);
void square_root(no_vector);
template <rounding> void round_to(no_vector);
void times_power_of_two(no_vector, no_vector);
void load_first(const float*, int, no_vector);
void store_first(float*, no_vector, int);

#if DNNKIT_X86 >= 1

// min and max as std:: defines them: the first argument when the two are unordered.
[[gnu::always_inline]] inline __m128 minimum(__m128 a, __m128 b) noexcept { return _mm_min_ps(b, a); }
[[gnu::always_inline]] inline __m128 maximum(__m128 a, __m128 b) noexcept { return _mm_max_ps(b, a); }
[[gnu::always_inline]] inline __m128 square_root(__m128 a) noexcept { return _mm_sqrt_ps(a); }

#endif

#if DNNKIT_X86 >= 2
template <rounding R> [[gnu::always_inline]] inline __m128 round_to(__m128 a) noexcept {
  return _mm_round_ps(a, static_cast<int>(R) | _MM_FROUND_NO_EXC);
}
template <rounding R> [[gnu::always_inline]] inline __m256 round_to(__m256 a) noexcept {
  return _mm256_round_ps(a, static_cast<int>(R) | _MM_FROUND_NO_EXC);
}
[[gnu::always_inline]] inline __m256 minimum(__m256 a, __m256 b) noexcept { return _mm256_min_ps(b, a); }
[[gnu::always_inline]] inline __m256 maximum(__m256 a, __m256 b) noexcept { return _mm256_max_ps(b, a); }
[[gnu::always_inline]] inline __m256 square_root(__m256 a) noexcept { return _mm256_sqrt_ps(a); }

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
#endif

#if DNNKIT_X86 >= 3
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
[[gnu::always_inline]] inline __m512 load_first(const float* p, int n, __m512) noexcept {
  return _mm512_maskz_loadu_ps(static_cast<__mmask16>((1U << n) - 1U), p);
}
[[gnu::always_inline]] inline void store_first(float* p, __m512 v, int n) noexcept {
  _mm512_mask_storeu_ps(p, static_cast<__mmask16>((1U << n) - 1U), v);
}
#endif

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET::isa
