// SPDX-License-Identifier: MIT
// A table of 256 bytes, looked up at many places at once: in registers, where the processor picks bytes of two of them
// by another, else one after the other.
#pragma once

#include <cstdint>
#include <cstring>

#include "dnnkit/cpu/micro/config.hpp"
#include "dnnkit/cpu/micro/extent.hpp"
#include DNNKIT_INSTRUCTIONS

namespace dnnkit::cpu::inline DNNKIT_TARGET {

// 64 bytes of a register.
using bytes_64 [[gnu::vector_size(64)]] = std::uint8_t;

namespace detail {
template <class Bytes>
concept has_table = requires(Bytes v) {
  v = isa::bytes_of_table(v, v, v, v, v);
};

// As many of n bytes as there are in whole vectors; none where no instruction picks from a table.
template <class Bytes>
index_t look_up_vectors(const std::uint8_t* table, const std::uint8_t* in, std::uint8_t* out, index_t n) noexcept {
  index_t i = 0;
  if constexpr (has_table<Bytes>) {
    constexpr index_t size = sizeof(Bytes);
    const auto load = [](const std::uint8_t* p) {
      Bytes v;
      std::memcpy(&v, p, sizeof v);
      return v;
    };
    const Bytes a = load(table), b = load(table + size), c = load(table + 2 * size), d = load(table + 3 * size);
    for (; i + size <= n; i += size) {
      const Bytes found = isa::bytes_of_table(load(in + i), a, b, c, d);
      std::memcpy(out + i, &found, sizeof found);
    }
  }
  return i;
}
}  // namespace detail

// out[i] = table[in[i]] for n bytes; `out` may be `in`.
inline void look_up(const std::uint8_t* table, const std::uint8_t* in, std::uint8_t* out, index_t n) noexcept {
  for (index_t i = detail::look_up_vectors<bytes_64>(table, in, out, n); i < n; ++i) out[i] = table[in[i]];
}

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
