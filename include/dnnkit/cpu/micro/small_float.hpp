// SPDX-License-Identifier: MIT
// Floating-point numbers of 16 bits in vectors: as 32-bit floats while they are computed with, rounded as
// core/small_float.hpp does, to the same bits with every instruction set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "dnnkit/core/small_float.hpp"
#include "dnnkit/cpu/micro/vec.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

namespace detail {
template <class T>
concept half = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;
}

// Numbers of a type Half, of which lanes hold the bits (0 to 65535), as floats; and the bits of floats rounded to Half.
template <detail::half Half, int N>
[[gnu::always_inline]] inline vec<float, N> from_bits(vec<std::int32_t, N> half) noexcept {
  using floats = vec<float, N>;
  using integers = vec<std::int32_t, N>;
  if constexpr (std::is_same_v<Half, bfloat16>) {
    return bit_cast<floats>(half << 16);
  } else {
    const integers sign = (half & integers(0x8000)) << 16, magnitude = half & integers(0x7fff);
    const integers bias = select(magnitude >= integers(0x7c00), integers(224 << 23), integers(112 << 23));
    const integers fraction = bit_cast<integers>(convert<float>(magnitude) * floats(0x1p-24f));
    const integers quiet = (magnitude > integers(0x7c00)) & integers(0x400000);
    const integers normal = ((magnitude << 13) + bias) | quiet;
    return bit_cast<floats>(select(magnitude < integers(0x400), fraction, normal) | sign);
  }
}
template <detail::half Half, int N>
[[gnu::always_inline]] inline vec<std::int32_t, N> to_bits(vec<float, N> x) noexcept {
  using floats = vec<float, N>;
  using integers = vec<std::int32_t, N>;
  const integers all = bit_cast<integers>(x), magnitude = all & integers(0x7fffffff);
  const integers is_number = magnitude <= integers(0x7f800000), high = (all >> 16) & integers(0xffff);
  if constexpr (std::is_same_v<Half, bfloat16>) {
    const integers rounded = ((all + integers(0x7fff) + (high & integers(1))) >> 16) & integers(0xffff);
    return select(is_number, rounded, high | integers(0x40));
  } else {
    // Of half's smallest normal numbers and below, adding 0.5 leaves units of 2^-24 in the lowest bits.
    const integers small = bit_cast<integers>(bit_cast<floats>(magnitude) + floats(0.5F)) - integers(0x3f000000);
    const integers above = magnitude - integers(112 << 23);
    const integers normal = (above + integers(0xfff) + ((above >> 13) & integers(1))) >> 13;
    const integers finite = select(magnitude < integers(0x38800000), small, normal);
    const integers payload = integers(0x7e00) | ((magnitude >> 13) & integers(0x3ff));
    const integers infinite = select(is_number, integers(0x7c00), payload);
    return select(magnitude < integers(0x47800000), finite, infinite) | (high & integers(0x8000));
  }
}

namespace detail {
// Has the instruction set conversions for a vector of so many?
template <class Half, class Vec>
concept has_conversions = std::is_same_v<Half, float16> && requires(typename Vec::native v) {
  isa::rounded_to_half(v);
};
}  // namespace detail

// Floats rounded to the nearest that a Half is.
template <detail::half Half, int N> [[gnu::always_inline]] inline vec<float, N> rounded_to(vec<float, N> x) noexcept {
  if constexpr (detail::has_conversions<Half, vec<float, N>>)
    return typename vec<float, N>::native(isa::rounded_to_half(x.v));
  else return from_bits<Half>(to_bits<Half>(x));
}

// As for other types, vec.hpp: N numbers from p, or the first n of them; and to p.
template <class Vec, detail::half Half> [[gnu::always_inline]] inline Vec load_as(const Half* p) noexcept {
  if constexpr (detail::has_conversions<Half, Vec>)
    return typename Vec::native(isa::load_halves(&p->bits, typename Vec::native{}));
  else return from_bits<Half>(load_as<vec<std::int32_t, Vec::lanes>>(&p->bits));
}
template <class Vec, detail::half Half>
[[gnu::always_inline]] inline Vec load_as(const Half* p, std::ptrdiff_t n) noexcept {
  Half x[Vec::lanes]{};
  for (int i = 0; i < Vec::lanes; ++i)
    if (i < n) x[i] = p[i];
  return load_as<Vec>(x);
}
template <detail::half Half, int N> [[gnu::always_inline]] inline void store_as(vec<float, N> x, Half* p) noexcept {
  if constexpr (detail::has_conversions<Half, vec<float, N>>) isa::store_halves(x.v, &p->bits);
  else store_as(to_bits<Half>(x), &p->bits);
}
template <detail::half Half, int N>
[[gnu::always_inline]] inline void store_as(vec<float, N> x, Half* p, std::ptrdiff_t n) noexcept {
  Half all[N];
  store_as(x, all);
  for (int i = 0; i < N; ++i)
    if (i < n) p[i] = all[i];
}

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
