// SPDX-License-Identifier: MIT
// What SSE2 has beside what vector types express: min, max, square root.
#pragma once

#include <emmintrin.h>

#include "dnnkit/cpu/micro/isa_portable.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET::isa {

// min and max as std:: defines them: the first argument when the two are unordered.
[[gnu::always_inline]] inline __m128 minimum(__m128 a, __m128 b) noexcept { return _mm_min_ps(b, a); }
[[gnu::always_inline]] inline __m128 maximum(__m128 a, __m128 b) noexcept { return _mm_max_ps(b, a); }
[[gnu::always_inline]] inline __m128 square_root(__m128 a) noexcept { return _mm_sqrt_ps(a); }

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET::isa
