// SPDX-License-Identifier: MIT
// Numbers of 16 bits: every one of them, and rounding against arithmetic in double.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/core/small_float.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>

#include "dnnkit/reference/host_tensor.hpp"
#include "dnnkit/weights/host_weights.hpp"

using namespace dnnkit;

namespace {

static_assert(float16(1.0f).bits == 0x3c00 && float16(-2.0f).bits == 0xc000 && float16(65519.0f).bits == 0x7bff);
static_assert(float16(65520.0f).bits == 0x7c00 && float16(0x1p-24f).bits == 1 && float16(0x1p-25f).bits == 0);
static_assert(float16(0x1.8p-24f).bits == 2 && float16(-0.0f).bits == 0x8000);
static_assert(bfloat16(1.0f).bits == 0x3f80 && bfloat16(0x1.01p0f).bits == 0x3f80 &&
              bfloat16(0x1.03p0f).bits == 0x3f82);

TEST_CASE("all 65536 numbers become floats and come back") {
  std::size_t wrong = 0;
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    float16 h;
    bfloat16 b;
    h.bits = b.bits = static_cast<std::uint16_t>(bits);
    const double half = detail::half_to_double(h.bits), brain = detail::bfloat_to_double(b.bits);
    const bool same =
        std::isnan(half) ? std::isnan(static_cast<float>(h)) : static_cast<double>(static_cast<float>(h)) == half;
    const bool back = std::isnan(half) || float16(static_cast<float>(h)).bits == h.bits;
    const bool brain_back = std::isnan(brain) ? std::isnan(static_cast<float>(bfloat16(static_cast<float>(b))))
                                              : bfloat16(static_cast<float>(b)).bits == b.bits;
    wrong += !same || !back || !brain_back;
  }
  CHECK(wrong == 0);
}

TEST_CASE("rounding is that of the reference") {
  std::mt19937 random(20240611);
  std::size_t wrong = 0;
  for (int i = 0; i < 1'000'000; ++i) {
    const auto bits = static_cast<std::uint32_t>(random());
    float x = 0;
    std::memcpy(&x, &bits, sizeof x);
    if (i % 2 == 0) x = std::ldexp(static_cast<float>(bits >> 8) / 16777216.0f + 1, static_cast<int>(bits & 63) - 30);
    if (std::isnan(x)) continue;
    wrong += static_cast<double>(static_cast<float>(float16(x))) != round_to(f16, static_cast<double>(x)) ||
             static_cast<double>(static_cast<float>(bfloat16(x))) != round_to(bf16, static_cast<double>(x));
  }
  CHECK(wrong == 0);
}

}  // namespace
