// SPDX-License-Identifier: MIT
// Quantised arithmetic: shapes and values.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/quantization.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "dnnkit/reference/evaluator.hpp"
#include "tests/support/inferred.hpp"
#include "tests/support/operator_cases.hpp"

using namespace dnnkit;

namespace {

constexpr sym L{"L", {1, 512}};

static_assert(inferred([](builder& g) {
                return quantize_linear(g.input("x", f32, {2, L}), g.weight("s", {}), g.weight("z", {}, i8));
              }) == "i8 [2, L]");
static_assert(inferred([](builder& g) {
                return dequantize_linear(g.input("x", u8, {2, L}), g.weight("s", {3}), {.axis = 0});
              }) == "DequantizeLinear: the number of scales or zero points is 3, but the extent of the axis is 2");

// Sizes of blocks at the ends of their type; a block may be longer than the axis.
constexpr auto in_blocks(std::int64_t rows, std::int64_t columns, std::int64_t axis, std::int64_t block) {
  return inferred([&](builder& g) {
    return dequantize_linear(g.input("x", u8, {2, 3}), g.weight("s", {rows, columns}),
                             {.axis = axis, .block_size = block});
  });
}
static_assert(in_blocks(2, 2, 1, 2) == "f32 [2, 3]" && in_blocks(2, 1, -1, 3) == "f32 [2, 3]");
static_assert(in_blocks(2, 1, 1, std::numeric_limits<std::int64_t>::max()) == "f32 [2, 3]");
static_assert(in_blocks(2, 1, 1, -1) == "DequantizeLinear: the size of a block is negative");
static_assert(in_blocks(1, 1, std::int64_t{1} << 40, -1) == "DequantizeLinear: the size of a block is negative");
static_assert(in_blocks(2, 2, 1, std::numeric_limits<std::int64_t>::max()) ==
              "DequantizeLinear: an extent of the scales or zero points is 2, but the number of blocks is 1");

TEST_CASE("a scale of one element, whatever its rank, leaves x its shape; then no axis is needed") {
  builder g;
  const tensor x = g.input("x", f32, {3}), scale = g.input("s", f32, {1, 1});
  g.output("y", quantize_linear(x, scale, {.axis = 7}));
  const host_tensor y = evaluate(g.value(), std::vector{host_tensor({3}, {2, 4, 6}), host_tensor({1, 1}, {2})})[0];
  CHECK(y.dims == std::vector<std::int64_t>{3});
  CHECK(y.integers == std::vector<std::int64_t>{1, 2, 3});
}

TEST_CASE("a block longer than the axis is one block") {
  builder g;
  const tensor x = g.input("x", u8, {2, 3}), scale = g.input("s", f32, {2, 1});
  g.output("y", dequantize_linear(x, scale, {.axis = 1, .block_size = std::numeric_limits<std::int64_t>::max()}));
  const std::vector given{host_tensor::of_integers(u8, {2, 3}, {1, 2, 3, 4, 5, 6}), host_tensor({2, 1}, {2, 10})};
  CHECK(evaluate(g.value(), given)[0].reals == std::vector<double>{2, 4, 6, 40, 50, 60});
}

TEST_CASE("quantization: results from elsewhere, with known and with symbolic extents") {
  const auto outcome = operator_cases::run("quantization");
  CHECK(outcome.cases >= 48);
  CHECK(outcome.symbolic_graphs >= 20);
}

}  // namespace
