// SPDX-License-Identifier: MIT
// Half precision and bfloat16 in vectors against the numbers one by one: every bit pattern of 16 bits, what lies
// between two neighbours, and floats of random bits.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/cpu/micro/small_float.hpp"

#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>

namespace {

namespace cpu = dnnkit::cpu;
constexpr int lanes = cpu::float_lanes;
using floats = cpu::vec<float, lanes>;
using integers = cpu::vec<std::int32_t, lanes>;

template <class Half> std::uint32_t bits_of(float x) { return Half(x).bits; }

template <class Half> void check_floats(const std::array<float, lanes>& x) {
  const integers bits = cpu::to_bits<Half>(floats::load(x.data()));
  const floats rounded = cpu::rounded_to<Half>(floats::load(x.data()));
  std::array<Half, lanes> stored;
  cpu::store_as(floats::load(x.data()), stored.data());
  for (int i = 0; i < lanes; ++i) {
    const float expected = x[static_cast<std::size_t>(i)];
    CAPTURE(expected);
    REQUIRE(static_cast<std::uint32_t>(bits[i]) == bits_of<Half>(expected));
    REQUIRE(stored[static_cast<std::size_t>(i)].bits == Half(expected).bits);
    REQUIRE(std::bit_cast<std::uint32_t>(rounded[i]) == std::bit_cast<std::uint32_t>(float(Half(expected))));
  }
}

template <class Half> void check_all() {
  std::array<float, lanes> numbers{}, above{}, below{}, between{};
  for (std::uint32_t first = 0; first < 0x10000; first += lanes) {
    integers bits;
    for (std::uint32_t i = 0; i < lanes; ++i) bits.set(static_cast<int>(i), static_cast<std::int32_t>(first + i));
    const floats x = cpu::from_bits<Half>(bits);
    std::array<Half, lanes> halves;
    for (std::uint32_t i = 0; i < lanes; ++i) halves[i].bits = static_cast<std::uint16_t>(first + i);
    const auto loaded = cpu::load_as<floats>(halves.data());
    for (std::uint32_t i = 0; i < lanes; ++i) {
      const float number = halves[i];
      REQUIRE(std::bit_cast<std::uint32_t>(x[static_cast<int>(i)]) == std::bit_cast<std::uint32_t>(number));
      REQUIRE(std::bit_cast<std::uint32_t>(loaded[static_cast<int>(i)]) == std::bit_cast<std::uint32_t>(number));
      Half next;
      next.bits = static_cast<std::uint16_t>(first + i + 1);
      numbers[i] = number;
      between[i] = (number + float(next)) / 2;
      above[i] = std::nextafter(between[i], 1e30F);
      below[i] = std::nextafter(between[i], -1e30F);
    }
    check_floats<Half>(numbers);
    check_floats<Half>(between);
    check_floats<Half>(above);
    check_floats<Half>(below);
  }
  const unsigned seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 10'000; ++i) {
    for (float& x : numbers) x = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    check_floats<Half>(numbers);
  }
}

TEST_CASE("binary16") { check_all<dnnkit::float16>(); }
TEST_CASE("bfloat16") { check_all<dnnkit::bfloat16>(); }

TEST_CASE_TEMPLATE("from memory and back, whole vectors and the first numbers", Half, dnnkit::float16,
                   dnnkit::bfloat16) {
  std::array<Half, lanes + 1> from{}, to{};
  for (std::size_t i = 0; i < lanes + 1; ++i) from[i] = Half(static_cast<float>(i) - 7.5F);
  for (std::ptrdiff_t n = 0; n <= lanes; ++n) {
    to.fill(Half(99.0F));
    const auto x = cpu::load_as<floats>(from.data(), n);
    cpu::store_as(x, to.data(), n);
    for (std::ptrdiff_t i = 0; i < lanes + 1; ++i) {
      const auto k = static_cast<std::size_t>(i);
      if (i < lanes) REQUIRE(x[static_cast<int>(i)] == (i < n ? float(from[k]) : 0.0F));
      REQUIRE(to[k].bits == (i < n ? from[k] : Half(99.0F)).bits);
    }
  }
  cpu::store_as(cpu::load_as<floats>(from.data() + 1), to.data());
  for (std::size_t i = 0; i < lanes; ++i) REQUIRE(to[i].bits == from[i + 1].bits);
}

}  // namespace
