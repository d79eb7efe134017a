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

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif
#if defined(__x86_64__) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

#if defined(__AVX512F__) && defined(__AVX512VL__) && defined(__AVX512BW__) && defined(__AVX512DQ__) &&      \
    defined(__AVX512VNNI__) && defined(__AVX512VBMI__) && defined(__AMX_TILE__) && defined(__AMX_INT8__) && \
    defined(__linux__)
#define DNNKIT_TARGET avx512_amx
#define DNNKIT_INSTRUCTIONS "dnnkit/cpu/micro/isa_avx512_amx.hpp"
#elif defined(__AVX512F__) && defined(__AVX512VL__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && \
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

// Has the processor AMX's tile registers, with products of bytes, and does Linux let this process have them? It must be
// asked before their first use (Linux's Documentation/arch/x86/xstate.rst).
inline bool has_tile_registers() noexcept {
#if defined(__x86_64__) && defined(__linux__)
  static const bool granted = [] {
    constexpr unsigned amx_tile = 1U << 24, amx_int8 = 1U << 25;
    constexpr long request_permission = 0x1023, tile_data = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (d & amx_tile) == 0 || (d & amx_int8) == 0) return false;
    return syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
  }();
  return granted;
#else
  return false;
#endif
}

// Has the processor conversions of half-precision numbers? Compilers before clang 19 do not ask it.
inline bool has_half_conversions() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  constexpr unsigned f16c = 1U << 29;
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & f16c) != 0;
#else
  return false;
#endif
}

// Has the processor that the program runs on the instructions of Target, and the system the room for its registers?
template <class Target> bool processor_has() noexcept {
  if constexpr (std::is_same_v<Target, targets::portable>) return true;
#if defined(__x86_64__) || defined(__i386__)
  __builtin_cpu_init();
  if constexpr (std::is_same_v<Target, targets::sse2>) return __builtin_cpu_supports("sse2") != 0;
  [[maybe_unused]] const bool avx2 =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_half_conversions();
  if constexpr (std::is_same_v<Target, targets::avx2>) return avx2;
  [[maybe_unused]] const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") &&
                                       __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
                                       __builtin_cpu_supports("avx512dq");
  if constexpr (std::is_same_v<Target, targets::avx512>) return avx512;
  [[maybe_unused]] const bool vnni = avx512 && __builtin_cpu_supports("avx512vnni");
  if constexpr (std::is_same_v<Target, targets::avx512_vnni>) return vnni;
  if constexpr (std::is_same_v<Target, targets::avx512_amx>) return vnni && has_tile_registers();
#elif defined(__aarch64__)
  if constexpr (std::is_same_v<Target, targets::neon>) return true;  // which AArch64 always has
#endif
  return false;
}

}  // namespace dnnkit::cpu
