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

// out[i] = table[in[i]] for n bytes; `out` may be `in`.
inline void look_up(const std::uint8_t* table, const std::uint8_t* in, std::uint8_t* out, index_t n) noexcept {
  index_t i = 0;
  if constexpr (requires(bytes_64 v) { v = isa::bytes_of_table(v, v, v, v, v); }) {
    const auto load = [](const std::uint8_t* p) {
      bytes_64 v;
      std::memcpy(&v, p, sizeof v);
      return v;
    };
    const bytes_64 a = load(table), b = load(table + 64), c = load(table + 128), d = load(table + 192);
    for (; i + 64 <= n; i += 64) {
      const bytes_64 found = isa::bytes_of_table(load(in + i), a, b, c, d);
      std::memcpy(out + i, &found, sizeof found);
    }
  }
  for (; i < n; ++i) out[i] = table[in[i]];
}

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
