// SPDX-License-Identifier: MIT
// The instruction set that this unit is compiled for: the only place that asks the preprocessor about the target.
//
// The compiler's flags decide, and units of one program may have different ones. So kernels stand in an inline
// namespace of the target's name, dnnkit::cpu::DNNKIT_TARGET, and are made of networks that have the target in their
// type. What they call besides, of the standard library and of operators, has no target in its name: in a program for
// several processors it must not leave the unit (cpu/kernel_version.hpp).
//
// AVX without AVX2, whose vectors of integers have 16 bytes, counts as SSE2; AVX-512 counts once masks and integers
// come with it in vectors of any width. DNNKIT_INSTRUCTIONS is the header of the set's own instructions.
#pragma once

#include <type_traits>

#include "dnnkit/cost/target.hpp"

#if defined(__AVX512F__) && defined(__AVX512VL__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && \
    defined(__AVX512VNNI__)
#define DNNKIT_TARGET avx512_vnni
#define DNNKIT_INSTRUCTIONS "dnnkit/cpu/micro/isa_avx512_vnni.hpp"
#elif defined(__AVX512F__) && defined(__AVX512VL__) && defined(__AVX512BW__) && defined(__AVX512DQ__)
#define DNNKIT_TARGET avx512
#define DNNKIT_INSTRUCTIONS "dnnkit/cpu/micro/isa_avx512.hpp"
#elif defined(__AVX2__)
#define DNNKIT_TARGET avx2
#define DNNKIT_INSTRUCTIONS "dnnkit/cpu/micro/isa_avx2.hpp"
#elif defined(__SSE2__)
#define DNNKIT_TARGET sse2
#define DNNKIT_INSTRUCTIONS "dnnkit/cpu/micro/isa_sse2.hpp"
#elif defined(__aarch64__) && defined(__ARM_NEON)
#define DNNKIT_TARGET neon
#define DNNKIT_INSTRUCTIONS "dnnkit/cpu/micro/isa_neon.hpp"
#else
#define DNNKIT_TARGET portable
#define DNNKIT_INSTRUCTIONS "dnnkit/cpu/micro/isa_portable.hpp"
#endif

namespace dnnkit::targets {
using native = DNNKIT_TARGET;
}  // namespace dnnkit::targets

namespace dnnkit::cpu {

// Has the processor that the program runs on the instructions of Target, and the system the room for its registers?
template <class Target> bool processor_has() noexcept {
  if constexpr (std::is_same_v<Target, targets::portable>) return true;
#if defined(__x86_64__) || defined(__i386__)
  __builtin_cpu_init();
  if constexpr (std::is_same_v<Target, targets::sse2>) return __builtin_cpu_supports("sse2") != 0;
  [[maybe_unused]] const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if constexpr (std::is_same_v<Target, targets::avx2>) return avx2;
  [[maybe_unused]] const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") &&
                                       __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
                                       __builtin_cpu_supports("avx512dq");
  if constexpr (std::is_same_v<Target, targets::avx512>) return avx512;
  if constexpr (std::is_same_v<Target, targets::avx512_vnni>) return avx512 && __builtin_cpu_supports("avx512vnni");
#elif defined(__aarch64__)
  if constexpr (std::is_same_v<Target, targets::neon>) return true;  // which AArch64 always has
#endif
  return false;
}

}  // namespace dnnkit::cpu
