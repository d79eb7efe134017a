// SPDX-License-Identifier: MIT
// A table of bytes, looked up: every byte, rows of all lengths, in place, and nothing behind the row.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/cpu/micro/byte_table.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dk = dnnkit;

TEST_CASE("look_up: out[i] = table[in[i]]") {
  std::vector<std::uint8_t> table(256);
  for (std::size_t i = 0; i < 256; ++i) table[i] = static_cast<std::uint8_t>(i * 167 + 13);  // each byte once
  for (std::size_t n = 0; n <= 300; ++n) {
    std::vector<std::uint8_t> in(n + 1), expected(n + 1), out(n + 1, 99);
    for (std::size_t i = 0; i < n; ++i) {
      in[i] = static_cast<std::uint8_t>(i * 211 + n);
      expected[i] = table[in[i]];
    }
    expected[n] = 99;
    dk::cpu::look_up(table.data(), in.data(), out.data(), static_cast<dk::cpu::index_t>(n));
    CHECK(out == expected);
    in[n] = 99;
    dk::cpu::look_up(table.data(), in.data(), in.data(), static_cast<dk::cpu::index_t>(n));
    CHECK(in == expected);
  }
}
