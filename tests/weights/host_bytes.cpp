// SPDX-License-Identifier: MIT
// Elements of every type from bytes to the reference evaluator's tensors and back.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/weights/host_bytes.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dnnkit/weights/host_weights.hpp"

using namespace dnnkit;

namespace {

std::vector<std::byte> there_and_back(dtype type, std::span<const std::byte> bytes) {
  const auto n = static_cast<std::int64_t>(bytes.size() / size_of(type));
  return element_bytes(to_host_tensor({"t", type, {n}, bytes}));
}

}  // namespace

TEST_CASE("all values of 16 bits") {
  std::vector<std::uint16_t> all(65'536);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint16_t>(i);
  const auto bytes = std::as_bytes(std::span(all));
  for (const dtype type : {i16, u16}) CHECK(std::ranges::equal(there_and_back(type, bytes), bytes));
  for (const dtype type : {f16, bf16}) {
    const std::vector<std::byte> found = there_and_back(type, bytes);
    int different = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      std::uint16_t x;
      std::memcpy(&x, found.data() + 2 * i, 2);
      const std::uint16_t exponent = type == f16 ? 0x7c00 : 0x7f80;
      const bool is_nan = (i & exponent) == exponent && (i & 0x7fff) != exponent;
      const bool found_nan = (x & exponent) == exponent && (x & 0x7fff) != exponent;
      different += is_nan ? !found_nan : x != all[i];
    }
    CHECK(different == 0);
  }
}

TEST_CASE("the other types") {
  std::vector<std::byte> bytes(256);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = std::byte(i * 41 % 256);
  for (const dtype type : {i8, u8, i32, u32, i64}) CHECK(there_and_back(type, bytes) == bytes);
  const float floats[] = {0, -0.f, 1.5f, 1e-40f, 3e38f};
  CHECK(std::ranges::equal(there_and_back(f32, std::as_bytes(std::span(floats))), std::as_bytes(std::span(floats))));
  const double doubles[] = {0.1, -1e300, 5e-324};
  CHECK(std::ranges::equal(there_and_back(f64, std::as_bytes(std::span(doubles))), std::as_bytes(std::span(doubles))));
  const std::uint8_t truths[] = {0, 1, 1};
  CHECK(
      std::ranges::equal(there_and_back(boolean, std::as_bytes(std::span(truths))), std::as_bytes(std::span(truths))));
}

TEST_CASE("elements are rounded to their type on the way") {
  host_tensor t(f16, {3});
  t.reals = {1.0 + 0x1p-11, 1.0 + 0x1p-10 + 0x1p-11, 65'520};
  const std::vector<std::byte> bytes = element_bytes(t);
  CHECK(read_values<std::uint16_t>({"t", f16, {3}, bytes}) == std::vector<std::uint16_t>{0x3c00, 0x3c02, 0x7c00});
}
