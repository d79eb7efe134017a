// SPDX-License-Identifier: MIT
// Elements of the reference evaluator: rounding to every element type, conversions, and sizes that are refused.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/reference/host_tensor.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include "tests/support/error_of.hpp"

using namespace dnnkit;

namespace {

// The value of the non-negative number with these bits in a format of `digits` digits and `bits` exponent bits.
double decoded(std::uint32_t code, int digits, int exponent_bits) {
  const auto fraction = static_cast<int>(code & ((1u << (digits - 1)) - 1)),
             exponent = static_cast<int>(code >> (digits - 1));
  const int bias = (1 << (exponent_bits - 1)) - 1;
  if (exponent == 0) return std::ldexp(fraction, 1 - bias - (digits - 1));
  return std::ldexp(fraction + (1 << (digits - 1)), exponent - bias - (digits - 1));
}

void check_format(dtype type, int digits, int exponent_bits) {
  const std::uint32_t infinity = ((1u << exponent_bits) - 1) << (digits - 1);
  for (std::uint32_t code = 0; code + 1 < infinity; ++code) {
    const double a = decoded(code, digits, exponent_bits), b = decoded(code + 1, digits, exponent_bits);
    const double middle = a + (b - a) / 2;
    REQUIRE(round_to(type, a) == a);
    REQUIRE(round_to(type, -a) == -a);
    REQUIRE(round_to(type, middle) == (code % 2 == 0 ? a : b));
    REQUIRE(round_to(type, std::nextafter(middle, 0.0)) == a);
    REQUIRE(round_to(type, std::nextafter(middle, b)) == b);
  }
  const double largest = decoded(infinity - 1, digits, exponent_bits),
               step = largest - decoded(infinity - 2, digits, exponent_bits);
  CHECK(round_to(type, largest + step * 0.49) == largest);
  CHECK(round_to(type, largest + step * 0.5) == HUGE_VAL);
  CHECK(round_to(type, -1e300) == -HUGE_VAL);
  CHECK(std::isnan(round_to(type, std::nan(""))));
}

TEST_CASE("rounding to f16 and bf16: every value, every middle between two") {
  check_format(f16, 11, 5);
  check_format(bf16, 8, 8);
}

TEST_CASE("rounding to f32 is that of the processor") {
  const auto seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int i = 0; i < 100000; ++i) {
    const double x =
        std::ldexp(static_cast<double>(static_cast<std::int64_t>(random())), static_cast<int>(random() % 300) - 220);
    const volatile float f = static_cast<float>(x);
    CHECK(round_to(f32, x) == static_cast<double>(f));
    CHECK(detail::round_to_digits(x, 24, -126, 128) == static_cast<double>(f));
  }
}

TEST_CASE("integers keep their lowest bits") {
  CHECK(wrap_to(i8, 128) == -128);
  CHECK(wrap_to(u8, -1) == 255);
  CHECK(wrap_to(i16, 70000) == 4464);
  CHECK(wrap_to(u16, -1) == 65535);
  CHECK(wrap_to(i32, std::int64_t{1} << 31) == std::numeric_limits<std::int32_t>::min());
  CHECK(wrap_to(u32, -1) == 4294967295);
  CHECK(wrap_to(i64, std::numeric_limits<std::int64_t>::min()) == std::numeric_limits<std::int64_t>::min());
  CHECK(wrap_to(boolean, 256) == 1);
}

TEST_CASE("the nearest number of a type") {
  CHECK(nearest_to(i8, -300) == -128);
  CHECK(nearest_to(u8, 300) == 255);
  CHECK(nearest_to(u16, -1) == 0);
  CHECK(nearest_to(i32, std::numeric_limits<std::int64_t>::max()) == std::numeric_limits<std::int32_t>::max());
  CHECK(nearest_to(u32, std::numeric_limits<std::int64_t>::max()) == 4294967295);
  CHECK(nearest_to(i64, std::numeric_limits<std::int64_t>::min()) == std::numeric_limits<std::int64_t>::min());
  CHECK(nearest_to(i16, -7) == -7);
  CHECK(nearest_to(boolean, 2) == 1);
}

TEST_CASE("elements are converted as they are stored") {
  host_tensor reals(f32, {1}), integers(i32, {1}), truth(boolean, {1});
  reals.set(0, std::int64_t{16777217});
  CHECK(reals.get<double>(0) == 16777216);
  integers.set(0, -3.9);
  CHECK(integers.get<std::int64_t>(0) == -3);
  integers.set(0, std::nan(""));
  CHECK(integers.get<std::int64_t>(0) == 0);
  integers.set(0, true);
  CHECK(integers.get<double>(0) == 1);
  truth.set(0, 0.25);
  CHECK(truth.get<bool>(0));
  truth.set(0, std::int64_t{0});
  CHECK(!truth.get<bool>(0));
  CHECK(truncate(1e300) == std::numeric_limits<std::int64_t>::max());
  CHECK(truncate(-1e300) == std::numeric_limits<std::int64_t>::min());
}

TEST_CASE("sizes") {
  CHECK(host_tensor(f32, {}).count() == 1);
  CHECK(host_tensor(f32, {2, 0, std::int64_t{1} << 40}).count() == 0);
  CHECK(host_tensor(boolean, {2, 3}).describe() == "bool [2, 3]");
  CHECK(error_of([] { return host_tensor(f32, {-1}); }) == "[-1]: shape is negative or too large");
  CHECK(error_of([] {
          return host_tensor(f32, {1 << 30, 1 << 30});
        }) == "[1073741824, 1073741824]: shape is negative or too large");
#ifndef __SANITIZE_ADDRESS__  // which ends a program that asks for so much
  CHECK(error_of([] { return host_tensor(i8, {std::int64_t{1} << 47}); }) ==
        "i8 [140737488355328]: not enough memory, expected 1125899906842624 bytes");
#endif
  CHECK(error_of([] {
          return host_tensor({2}, {1, 2, 3});
        }) == "f32 [2]: number of elements differs, expected 2, found 3");
}

TEST_CASE("u64 is held by its bits") {
  host_tensor t(u64, {3});
  const std::uint64_t large = ~std::uint64_t{0} - 4;
  t.set(0, large);
  t.set(1, 0x1p63);
  t.set(2, std::int64_t{7});
  CHECK(t.get<std::uint64_t>(0) == large);
  CHECK(t.get<std::uint64_t>(1) == std::uint64_t{1} << 63);
  CHECK(t.get<double>(0) == static_cast<double>(large));
  for (double beyond : {0x1p64, 1e300, std::numeric_limits<double>::infinity()}) {
    t.set(1, beyond);
    CHECK(t.get<std::uint64_t>(1) == ~std::uint64_t{0});
  }
  CHECK(t.get<double>(2) == 7);
}

}  // namespace
