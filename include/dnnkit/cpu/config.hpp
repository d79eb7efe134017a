// SPDX-License-Identifier: MIT
// What the compiler's target offers to CPU kernels: vector width, registers, cache sizes; the only place that asks the
// preprocessor.
#pragma once

#include <cstddef>
#include <type_traits>

namespace dnnkit::cpu {

#if defined(__AVX512F__) && defined(__AVX512VL__) && defined(__AVX512BW__) && defined(__AVX512DQ__)
#define DNNKIT_CPU_X86 3  // levels: 1 SSE2, 2 AVX2, 3 AVX-512; read by isa_x86.hpp only
inline constexpr int vector_bytes = 64;
inline constexpr int vector_registers = 32;
#elif defined(__AVX2__)
#define DNNKIT_CPU_X86 2
inline constexpr int vector_bytes = 32;
inline constexpr int vector_registers = 16;
#elif defined(__SSE2__)
#define DNNKIT_CPU_X86 1
inline constexpr int vector_bytes = 16;
inline constexpr int vector_registers = 16;
#else
#define DNNKIT_CPU_X86 0
inline constexpr int vector_bytes = 16;
inline constexpr int vector_registers = 32;  // AArch64
#endif

// Lanes of one vector register holding floats.
inline constexpr int float_lanes = vector_bytes / 4;

// Cache sizes that blocking assumes, in bytes. Smaller than what most cores have: too small costs a per cent, too large
// ten.
inline constexpr std::ptrdiff_t l1_bytes = 32 * 1024;
inline constexpr std::ptrdiff_t l2_bytes = 1024 * 1024;

inline constexpr std::size_t cache_line_bytes = 64;

}  // namespace dnnkit::cpu
