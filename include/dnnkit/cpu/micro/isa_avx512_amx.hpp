// SPDX-License-Identifier: MIT
// What AMX has beside what AVX-512 with VNNI has: tile registers, up to 16 rows of up to 64 bytes, and sums of products
// of the bytes of two of them. Registers are numbers, so the instructions are written out: the intrinsics of GCC take
// literals alone, and do not say that they read memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dnnkit/cpu/micro/isa_avx512_vnni.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET::isa {

// The shapes of the eight registers, as LDTILECFG reads them.
struct alignas(64) tile_shapes {
  std::uint8_t palette = 1, start_row = 0;
  std::uint8_t reserved[14] = {};
  std::uint16_t row_bytes[16] = {};
  std::uint8_t rows[16] = {};
};
static_assert(sizeof(tile_shapes) == 64);

struct tile_registers {
  using shapes = tile_shapes;
  [[gnu::always_inline]] static void shape(const tile_shapes& shapes) noexcept {
    asm volatile("ldtilecfg\t%0" : : "m"(shapes));
  }
  [[gnu::always_inline]] static void release() noexcept { asm volatile("tilerelease"); }

  template <int T> [[gnu::always_inline]] static void load(const void* p, std::ptrdiff_t row_stride) noexcept {
    asm volatile("{tileloadd\t(%0,%1,1), %%tmm%c2|tileloadd\ttmm%c2, [%0+%1*1]}"
                 :
                 : "r"(p), "r"(row_stride), "i"(T)
                 : "memory");
  }
  template <int T> [[gnu::always_inline]] static void store(void* p, std::ptrdiff_t row_stride) noexcept {
    asm volatile("{tilestored\t%%tmm%c2, (%0,%1,1)|tilestored\t[%0+%1*1], tmm%c2}"
                 :
                 : "r"(p), "r"(row_stride), "i"(T)
                 : "memory");
  }

  // In each 32-bit lane (i, j) of register Sum + the products of the bytes of row i of register A by those of column j
  // of register B, four of them a lane; B's bytes are signed, A's as SignedA says. Wraps around.
  template <int Sum, int A, int B, bool SignedA> [[gnu::always_inline]] static void plus_products() noexcept {
    if constexpr (SignedA)
      asm volatile("{tdpbssd\t%%tmm%c2, %%tmm%c1, %%tmm%c0|tdpbssd\ttmm%c0, tmm%c1, tmm%c2}"
                   :
                   : "i"(Sum), "i"(A), "i"(B));
    else
      asm volatile("{tdpbusd\t%%tmm%c2, %%tmm%c1, %%tmm%c0|tdpbusd\ttmm%c0, tmm%c1, tmm%c2}"
                   :
                   : "i"(Sum), "i"(A), "i"(B));
  }
};

// The bytes of a table of four registers that `at` tells. (Not every processor with VNNI can, but all with AMX.)
using bytes_64 [[gnu::vector_size(64)]] = std::uint8_t;
[[gnu::always_inline]] inline bytes_64 bytes_of_table(bytes_64 at, bytes_64 a, bytes_64 b, bytes_64 c,
                                                      bytes_64 d) noexcept {
  const auto i = reinterpret_cast<__m512i>(at);
  const __m512i first = _mm512_permutex2var_epi8(reinterpret_cast<__m512i>(a), i, reinterpret_cast<__m512i>(b)),
                second = _mm512_permutex2var_epi8(reinterpret_cast<__m512i>(c), i, reinterpret_cast<__m512i>(d));
  return reinterpret_cast<bytes_64>(_mm512_mask_blend_epi8(_mm512_movepi8_mask(i), first, second));
}

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET::isa
