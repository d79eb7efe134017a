// SPDX-License-Identifier: MIT
// What NEON has beside what vector types express: square root, rounding, sums of two products of 16-bit numbers, bytes
// as lanes, loads and stores of the first few lanes. Its min and max are not those of std:: where an operand is not a
// number.
#pragma once

#include <arm_neon.h>

#include <cstdint>
#include <cstring>

#include "dnnkit/cpu/micro/isa_portable.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET::isa {

[[gnu::always_inline]] inline float32x4_t square_root(float32x4_t a) noexcept { return vsqrtq_f32(a); }

template <rounding R> [[gnu::always_inline]] inline float32x4_t round_to(float32x4_t a) noexcept {
  if constexpr (R == rounding::down) return vrndmq_f32(a);
  else if constexpr (R == rounding::up) return vrndpq_f32(a);
  else if constexpr (R == rounding::to_zero) return vrndq_f32(a);
  else return vrndnq_f32(a);
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
