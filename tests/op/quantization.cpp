// SPDX-License-Identifier: MIT
// Quantised arithmetic: shapes and values.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/quantization.hpp"

#include <doctest/doctest.h>

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

TEST_CASE("quantization: results from elsewhere, with known and with symbolic extents") {
  const auto outcome = operator_cases::run("quantization");
  CHECK(outcome.cases >= 37);
  CHECK(outcome.symbolic_graphs >= 20);
}

}  // namespace
