// SPDX-License-Identifier: MIT
// Tensors of the reference evaluator as those of a file: elements in the bytes of their element type.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "dnnkit/reference/host_tensor.hpp"
#include "dnnkit/weights/stored_tensor.hpp"

namespace dnnkit {

namespace detail {

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

// The bits of x in bfloat16, the upper half of a float. x as above.
inline std::uint16_t bfloat_bits(double x) {
  return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(x)) >> 16);
}

}  // namespace detail

// The elements of `t`, row-major and little-endian, as a file has them.
inline std::vector<std::byte> element_bytes(const host_tensor& t) {
  const std::size_t n = t.count(), each = size_of(t.type);
  std::vector<std::byte> bytes(n * each);
  const auto put = [&](std::size_t i, auto x) { std::memcpy(bytes.data() + i * each, &x, sizeof x); };
  for (std::size_t i = 0; i < n; ++i) switch (t.type) {
      case f32:
        put(i, static_cast<float>(t.reals[i]));
        break;
      case f64:
        put(i, t.reals[i]);
        break;
      case f16:
        put(i, detail::half_bits(round_to(f16, t.reals[i])));
        break;
      case bf16:
        put(i, detail::bfloat_bits(round_to(bf16, t.reals[i])));
        break;
      default:
        std::memcpy(bytes.data() + i * each, &t.integers[i], each);  // the lowest bytes come first
    }
  return bytes;
}

}  // namespace dnnkit
