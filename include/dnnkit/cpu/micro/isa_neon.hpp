// SPDX-License-Identifier: MIT
// What NEON has beside what vector types express: square root, rounding, multiply-adds by one lane of a vector, sums of
// two products of 16-bit numbers, bytes as lanes, stores, loads and stores of the first few lanes. Its min and max are
// not those of std:: where an operand is not a number.
#pragma once

#include <arm_neon.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "dnnkit/cpu/micro/isa_portable.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET::isa {

[[gnu::always_inline]] inline float32x4_t square_root(float32x4_t a) noexcept { return vsqrtq_f32(a); }

template <rounding R> [[gnu::always_inline]] inline float32x4_t round_to(float32x4_t a) noexcept {
  if constexpr (R == rounding::down) return vrndmq_f32(a);
  else if constexpr (R == rounding::up) return vrndpq_f32(a);
  else if constexpr (R == rounding::to_zero) return vrndq_f32(a);
  else return vrndnq_f32(a);
}

// sum + b * x[Lane] in each lane, of 32-bit floats or integers. Volatile, so that these stay in the order in which they
// are written: GCC 12 moves others about until it runs out of registers.
template <int Lane, class V>
[[gnu::always_inline]] inline V plus_products_of_lane(V sum, V b, V x) noexcept
    requires(sizeof(V) == 16 && sizeof(x[0]) == 4) {
  if constexpr (std::is_same_v<std::remove_cvref_t<decltype(x[0])>, float>)
    asm volatile("fmla %0.4s, %1.4s, %2.s[%c3]" : "+w"(sum) : "w"(b), "w"(x), "i"(Lane));
  else asm volatile("mla %0.4s, %1.4s, %2.s[%c3]" : "+w"(sum) : "w"(b), "w"(x), "i"(Lane));
  return sum;
}

// The next Count elements of 32 bits in lanes of x, from p, which then is behind them: one instruction, which compilers
// do not make of the loads and the addition.
template <int Count, class V, class T>
[[gnu::always_inline]] inline void next_lanes(V (&x)[Count > 4 ? 2 : 1], const T*& p) noexcept {
  static_assert(Count == 1 || Count == 2 || Count == 4 || Count == 8);
  [[maybe_unused]] const auto& from = *reinterpret_cast<const T(*)[Count]>(p);
  if constexpr (Count == 8) asm("ldp %q0, %q1, [%2], 32" : "=w"(x[0]), "=w"(x[1]), "+r"(p) : "m"(from));
  else if constexpr (Count == 4) asm("ldr %q0, [%1], 16" : "=w"(x[0]), "+r"(p) : "m"(from));
  else if constexpr (Count == 2) asm("ldr %d0, [%1], 8" : "=w"(x[0]), "+r"(p) : "m"(from));
  else asm("ldr %s0, [%1], 4" : "=w"(x[0]), "+r"(p) : "m"(from));
}

[[gnu::always_inline]] inline int32x4_t products_of_pairs(int32x4_t a, int32x4_t b) noexcept {
  const int16x8_t x = vreinterpretq_s16_s32(a), y = vreinterpretq_s16_s32(b);
  return vpaddq_s32(vmull_s16(vget_low_s16(x), vget_low_s16(y)), vmull_high_s16(x, y));
}

[[gnu::always_inline]] inline int32x4_t lanes_of_bytes(const std::uint8_t* p, int32x4_t) noexcept {
  std::uint32_t four;
  std::memcpy(&four, p, sizeof(four));
  const uint16x8_t halves = vmovl_u8(vreinterpret_u8_u32(vdup_n_u32(four)));
  return vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(halves)));
}
[[gnu::always_inline]] inline int32x4_t lanes_of_bytes(const std::int8_t* p, int32x4_t) noexcept {
  std::uint32_t four;
  std::memcpy(&four, p, sizeof(four));
  return vmovl_s16(vget_low_s16(vmovl_s8(vreinterpret_s8_u32(vdup_n_u32(four)))));
}
[[gnu::always_inline]] inline void low_bytes(int32x4_t v, std::uint8_t* p) noexcept {
  const uint16x4_t halves = vmovn_u32(vreinterpretq_u32_s32(v));
  const std::uint32_t four = vget_lane_u32(vreinterpret_u32_u8(vmovn_u16(vcombine_u16(halves, halves))), 0);
  std::memcpy(p, &four, sizeof(four));
}

// Copying bytes instead, GCC 12 may take a vector for an integer of 128 bits, and keep it in memory from then on.
[[gnu::always_inline]] inline void store_whole(float* p, float32x4_t v) noexcept { vst1q_f32(p, v); }

[[gnu::always_inline]] inline float32x4_t load_first(const float* p, int n, float32x4_t) noexcept {
  if (n >= 4) return vld1q_f32(p);
  float32x4_t r = vdupq_n_f32(0.0f);
  if (n >= 2) r = vcombine_f32(vld1_f32(p), vdup_n_f32(0.0f));
  if (n == 3) r = vld1q_lane_f32(p + 2, r, 2);
  if (n == 1) r = vld1q_lane_f32(p, r, 0);
  return r;
}
[[gnu::always_inline]] inline void store_first(float* p, float32x4_t v, int n) noexcept {
  if (n >= 4) return vst1q_f32(p, v);
  if (n >= 2) vst1_f32(p, vget_low_f32(v));
  if (n == 3) vst1q_lane_f32(p + 2, v, 2);
  if (n == 1) vst1q_lane_f32(p, v, 0);
}

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET::isa
