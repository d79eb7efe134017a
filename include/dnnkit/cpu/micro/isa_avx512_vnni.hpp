// SPDX-License-Identifier: MIT
// What AVX-512 with VNNI has beside what AVX-512 has: sums of four products of bytes.
#pragma once

#include <immintrin.h>

#include "dnnkit/cpu/micro/isa_avx512.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET::isa {

// In each 32-bit lane sum + the products of four unsigned bytes by four signed ones; wraps around.
[[gnu::always_inline]] inline ints_16 plus_products_of_bytes(ints_16 sum, ints_16 bytes, ints_16 by) noexcept {
  return reinterpret_cast<ints_16>(_mm512_dpbusd_epi32(reinterpret_cast<__m512i>(sum), reinterpret_cast<__m512i>(bytes),
                                                       reinterpret_cast<__m512i>(by)));
}

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET::isa
