// SPDX-License-Identifier: MIT
// Stored tensors of every element type as tensors of the reference evaluator.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/weights/host_weights.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <vector>

#include "tests/support/error_of.hpp"

using namespace dnnkit;

namespace {

template <class T> host_tensor read(dtype type, const std::vector<T>& values) {
  return to_host_tensor({"t", type, {static_cast<std::int64_t>(values.size())}, std::as_bytes(std::span(values))});
}

TEST_CASE("every element type") {
  CHECK(read<float>(f32, {1.5f, -2}).reals == std::vector<double>{1.5, -2});
  CHECK(read<double>(f64, {0.1}).reals == std::vector<double>{0.1});
  CHECK(read<std::uint16_t>(f16, {0x3c00, 0xc000, 0x0001, 0x7bff, 0x7c00, 0x3555}).reals ==
        std::vector<double>{1, -2, std::ldexp(1.0, -24), 65504, HUGE_VAL, 0.333251953125});
  CHECK(std::isnan(read<std::uint16_t>(f16, {0x7e00}).reals[0]));
  CHECK(read<std::uint16_t>(bf16, {0x3f80, 0xc000, 0x3eab}).reals == std::vector<double>{1, -2, 0.333984375});
  CHECK(read<std::int8_t>(i8, {-128, 127}).integers == std::vector<std::int64_t>{-128, 127});
  CHECK(read<std::int16_t>(i16, {-32768}).integers == std::vector<std::int64_t>{-32768});
  CHECK(read<std::int32_t>(i32, {-7}).integers == std::vector<std::int64_t>{-7});
  CHECK(read<std::int64_t>(i64, {std::numeric_limits<std::int64_t>::min()}).integers[0] ==
        std::numeric_limits<std::int64_t>::min());
  CHECK(read<std::uint8_t>(u8, {255}).integers == std::vector<std::int64_t>{255});
  CHECK(read<std::uint16_t>(u16, {65535}).integers == std::vector<std::int64_t>{65535});
  CHECK(read<std::uint32_t>(u32, {4294967295u}).integers == std::vector<std::int64_t>{4294967295});
  CHECK(read<std::uint8_t>(boolean, {0, 1, 2}).integers == std::vector<std::int64_t>{0, 1, 1});
  CHECK(read<std::uint64_t>(u64, {~std::uint64_t{0}}).get<std::uint64_t>(0) == ~std::uint64_t{0});
}

TEST_CASE("a weight source over a file") {
  const safetensors file(std::filesystem::path(DNNKIT_ASSETS) / "digits_cnn.safetensors");
  const auto source = weights_of(file);
  CHECK(source("fc.weight").describe() == "f32 [10, 128]");
  CHECK(error_of([&] { return source("fc.wait"); }).find("tensor is missing") != std::string::npos);
}

}  // namespace
