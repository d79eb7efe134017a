// SPDX-License-Identifier: MIT
// Elements of the reference evaluator's tensors in the bytes of their element type, as files and memory hold them:
// little-endian.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "dnnkit/reference/host_tensor.hpp"

namespace dnnkit::detail {

// The bits of x in binary16. x is a value of that type, as round_to leaves it.
inline std::uint16_t half_bits(double x) {
  const std::uint16_t sign = std::signbit(x) ? 0x8000 : 0;
  const double magnitude = std::fabs(x);
  if (std::isnan(x)) return sign | 0x7e00;
  if (std::isinf(x)) return sign | 0x7c00;
  if (magnitude < 0x1p-14) return static_cast<std::uint16_t>(sign | static_cast<int>(std::ldexp(magnitude, 24)));
  int exponent = 0;
  const double fraction = std::frexp(magnitude, &exponent);  // in [0.5, 1)
  return static_cast<std::uint16_t>(sign |
                                    ((exponent + 14) << 10 | (static_cast<int>(std::ldexp(fraction, 11)) - 1024)));
}
inline double half_to_double(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double magnitude =
      exponent == 31  ? (fraction ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity())
      : exponent == 0 ? std::ldexp(fraction, -24)
                      : std::ldexp(fraction + 1024, exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

// The bits of x in bfloat16, the upper half of a float. x as above.
inline std::uint16_t bfloat_bits(double x) {
  return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(x)) >> 16);
}
inline double bfloat_to_double(std::uint16_t bits) {
  return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16));
}

// How elements of one type lie in memory: as a Stored, made of and turned into what host_tensor keeps of them.
template <class Stored> struct plain_codec {
  using stored = Stored;
  static auto value(Stored x) {
    if constexpr (std::is_floating_point_v<Stored>) return static_cast<double>(x);
    else return static_cast<std::int64_t>(x);
  }
  static Stored bits(auto x) { return static_cast<Stored>(x); }
};
struct half_codec {
  using stored = std::uint16_t;
  static double value(std::uint16_t x) { return half_to_double(x); }
  static std::uint16_t bits(double x) { return half_bits(round_to(f16, x)); }
};
struct bfloat_codec {
  using stored = std::uint16_t;
  static double value(std::uint16_t x) { return bfloat_to_double(x); }
  static std::uint16_t bits(double x) { return bfloat_bits(round_to(bf16, x)); }
};
struct boolean_codec {
  using stored = std::uint8_t;
  static std::int64_t value(std::uint8_t x) { return x != 0; }
  static std::uint8_t bits(std::int64_t x) { return x != 0; }
};

// Calls f with the codec of an element type.
inline void with_codec(dtype type, auto f) {
  switch (type) {
    case f32:
      return f(plain_codec<float>{});
    case f64:
      return f(plain_codec<double>{});
    case f16:
      return f(half_codec{});
    case bf16:
      return f(bfloat_codec{});
    case i8:
      return f(plain_codec<std::int8_t>{});
    case i16:
      return f(plain_codec<std::int16_t>{});
    case i32:
      return f(plain_codec<std::int32_t>{});
    case i64:
      return f(plain_codec<std::int64_t>{});
    case u8:
      return f(plain_codec<std::uint8_t>{});
    case u16:
      return f(plain_codec<std::uint16_t>{});
    case u32:
      return f(plain_codec<std::uint32_t>{});
    case u64:
      return f(plain_codec<std::uint64_t>{});
    case boolean:
      return f(boolean_codec{});
  }
}

// The elements that the values of a codec belong to.
template <class Codec> auto& numbers_of(auto& t) {
  if constexpr (std::is_floating_point_v<decltype(Codec::value({}))>) return t.reals;
  else return t.integers;
}

// Elements first ... first + n - 1 of t, whose type is `type`, from and to the bytes at p.
inline void load_elements(dtype type, const std::byte* p, host_tensor& t, std::size_t first, std::size_t n) {
  with_codec(type, [&]<class Codec>(Codec) {
    auto* const to = numbers_of<Codec>(t).data() + first;
    for (std::size_t i = 0; i < n; ++i) {
      typename Codec::stored x;
      std::memcpy(&x, p + i * sizeof x, sizeof x);
      to[i] = Codec::value(x);
    }
  });
}
inline void store_elements(dtype type, std::byte* p, const host_tensor& t, std::size_t first, std::size_t n) {
  with_codec(type, [&]<class Codec>(Codec) {
    const auto* const from = numbers_of<Codec>(t).data() + first;
    for (std::size_t i = 0; i < n; ++i) {
      const typename Codec::stored x = Codec::bits(from[i]);
      std::memcpy(p + i * sizeof x, &x, sizeof x);
    }
  });
}
inline void load_element(dtype type, const std::byte* p, host_tensor& t, std::size_t i) {
  load_elements(type, p, t, i, 1);
}
inline void store_element(dtype type, std::byte* p, const host_tensor& t, std::size_t i) {
  store_elements(type, p, t, i, 1);
}

}  // namespace dnnkit::detail
