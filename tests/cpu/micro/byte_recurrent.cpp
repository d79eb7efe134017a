// SPDX-License-Identifier: MIT
// Sums of the gates of units over states and weights of bytes against plain loops, exact, and in both orders of panels.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/cpu/micro/byte_recurrent.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace cpu = dnnkit::cpu;
using cpu::index_t;

namespace {

template <index_t Units, int Gates, class Rows> void check(Rows rows, unsigned seed) {
  CAPTURE(Units);
  CAPTURE(Gates);
  CAPTURE(seed);
  using sums = cpu::byte_gate_sums<Units, Gates>;
  std::mt19937 random(seed);
  const auto from = [&](int least, int most) { return std::uniform_int_distribution<int>(least, most)(random); };
  constexpr index_t stride = sums::depth + 5, lanes = cpu::float_lanes;
  std::vector<std::uint8_t> states(static_cast<std::size_t>(rows * stride));
  for (std::uint8_t& x : states) x = static_cast<std::uint8_t>(from(0, 255));
  std::vector<int> weights(static_cast<std::size_t>(Gates * Units * Units));
  for (int& w : weights) w = from(-128, 127);
  const auto weight = [&](index_t gate, index_t unit, index_t k) {
    return weights[static_cast<std::size_t>((gate * Units + unit) * Units + k)];
  };
  std::vector<cpu::packed_byte> packed(static_cast<std::size_t>(sums::packed_size()));
  sums::pack(weight, packed.data());
  for (const bool from_last : {false, true}) {
    std::vector<std::int32_t> found(static_cast<std::size_t>(rows * Gates * sums::blocks * lanes), -1);
    const auto place = [&](index_t row, index_t gate, index_t block) {
      return ((row * Gates + gate) * sums::blocks + block) * lanes;
    };
    const auto start = [&](index_t row, index_t block, index_t gate) {
      return cpu::int_vec(static_cast<std::int32_t>(1000 * row + 10 * block + gate));
    };
    const auto finish = [&](index_t row, index_t block, const auto& sum) {
      for (index_t gate = 0; gate < Gates; ++gate)
        sum[static_cast<std::size_t>(gate)].store(found.data() + place(row, gate, block));
    };
    sums::run(states.data(), stride, rows, packed.data(), from_last, start, finish);
    std::size_t wrong = 0;
    for (index_t row = 0; row < rows; ++row)
      for (index_t gate = 0; gate < Gates; ++gate)
        for (index_t unit = 0; unit < Units; ++unit) {
          const index_t block = unit / lanes;
          index_t expected = 1000 * row + 10 * block + gate;
          for (index_t k = 0; k < Units; ++k)
            expected += weight(gate, unit, k) * states[static_cast<std::size_t>(row * stride + k)];
          wrong += found[static_cast<std::size_t>(place(row, gate, block) + unit % lanes)] != expected ? 1 : 0;
        }
    CHECK(wrong == 0);
  }
}

TEST_CASE("sums of gates of bytes are exact") {
  const unsigned seed = std::random_device()();
  MESSAGE("seed " << seed);
  check<1, 4>(cpu::constant<1>{}, seed);
  check<3, 4>(cpu::constant<3>{}, seed);
  check<16, 4>(cpu::constant<1>{}, seed);
  check<33, 4>(cpu::constant<7>{}, seed);
  check<50, 1>(cpu::constant<2>{}, seed);
  for (index_t rows = 1; rows <= 20; ++rows) check<37, 4>(rows, seed + static_cast<unsigned>(rows));
  for (index_t rows : {1, 6, 13}) check<64, 3>(rows, seed);
}

}  // namespace
