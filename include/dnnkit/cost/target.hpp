// SPDX-License-Identifier: MIT
// What the compiler's target offers; the only place that asks the preprocessor. Passes and kernels read it here.
//
// A target is a type with the facts that passes ask for:
//   channels_last   do its kernels gain from activations that are stored channels last, with room for a border
//                   (pass/select_layouts.hpp)? Then it has float_lanes. Else all values are row-major.
//   row_strips      do they gain from running in turns on a few rows at a time (pass/plan_strips.hpp)?
//
// The compiler's flags decide, and units of one program may have different ones. So whatever depends on the target has
// it in its name: every compile<Model, Target> as a template argument, kernels as
// an inline namespace (dnnkit::cpu::DNNKIT_TARGET). A model is then another network in each of two such units, and the
// linker takes neither's code for that of the other.
#pragma once

#include <cstdint>

// DNNKIT_X86 orders the instructions of cpu/micro/isa_x86.hpp, which alone reads it. AVX without AVX2, whose vectors of
// integers have 16 bytes, counts as SSE2; AVX-512 counts once masks and integers come with it in vectors of any width.
#if defined(__AVX512F__) && defined(__AVX512VL__) && defined(__AVX512BW__) && defined(__AVX512DQ__)
#define DNNKIT_TARGET avx512
#define DNNKIT_X86 3
#elif defined(__AVX2__)
#define DNNKIT_TARGET avx2
#define DNNKIT_X86 2
#elif defined(__SSE2__)
#define DNNKIT_TARGET sse2
#define DNNKIT_X86 1
#else
#define DNNKIT_TARGET portable
#define DNNKIT_X86 0
#endif

namespace dnnkit {

// What the cost model and blocking assume of one core. Sizes of caches are smaller than what most cores have: too small
// costs a per cent, too large ten.
struct cpu_facts {
  int float_lanes = 4;  // 32-bit elements in a vector register
  int vector_registers = 16;
  double multiply_adds = 2;  // of vectors, a cycle
  std::int64_t l1_bytes = 32 * 1024, l1_ways = 8;
  std::int64_t l2_bytes = 1024 * 1024;
  std::int64_t l3_bytes = 16 * 1024 * 1024;                              // the core's share
  double l1_width = 64, l2_width = 32, l3_width = 12, memory_width = 5;  // bytes a cycle
};

template <int VectorBytes, int VectorRegisters> struct vector_target {
  static constexpr bool channels_last = true, row_strips = true;
  static constexpr int vector_bytes = VectorBytes, vector_registers = VectorRegisters;
  static constexpr std::int64_t float_lanes = VectorBytes / 4;  // 32-bit elements in a vector register
  static constexpr cpu_facts facts{.float_lanes = VectorBytes / 4, .vector_registers = VectorRegisters};
};

namespace targets {
struct portable : vector_target<16, 32> {};  // what AArch64 has
struct sse2 : vector_target<16, 16> {};
struct avx2 : vector_target<32, 16> {};
struct avx512 : vector_target<64, 32> {};

// That of the unit that is being compiled.
using native = DNNKIT_TARGET;
}  // namespace targets

}  // namespace dnnkit
