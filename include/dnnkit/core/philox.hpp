// SPDX-License-Identifier: MIT
// Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011): a bijection of
// 128 bits that makes of a counter what no test tells from random bits. There is no state: any block of a sequence is
// computed on its own, in any order, by any number of threads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace dnnkit {

using philox_counter = std::array<std::uint32_t, 4>;
using philox_key = std::array<std::uint32_t, 2>;

constexpr philox_counter philox(philox_counter c, philox_key key) {
  for (int i = 0; i < 10; ++i) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * c[0], b = std::uint64_t{0xCD9E8D57} * c[2];
    c = {static_cast<std::uint32_t>(b >> 32) ^ c[1] ^ key[0], static_cast<std::uint32_t>(b),
         static_cast<std::uint32_t>(a >> 32) ^ c[3] ^ key[1], static_cast<std::uint32_t>(a)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return c;
}

// Number i of a sequence of 64-bit numbers: half of a block, whose counter is i / 2.
constexpr std::uint64_t philox_number(std::uint64_t i, philox_key key) {
  const std::uint64_t block = i / 2;
  const philox_counter c =
      philox({static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32), 0, 0}, key);
  const std::size_t half = i % 2 * 2;
  return std::uint64_t{c[half + 1]} << 32 | c[half];
}

}  // namespace dnnkit
