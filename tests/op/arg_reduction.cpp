// SPDX-License-Identifier: MIT
// ArgMax and ArgMin: shapes and values.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/arg_reduction.hpp"

#include <doctest/doctest.h>

#include "tests/support/inferred.hpp"
#include "tests/support/operator_cases.hpp"

using namespace dnnkit;

namespace {

constexpr sym H{"H", {1, 512}};

static_assert(inferred([](builder& g) {
                return arg_max(g.input("x", f32, {2, H, 3}), {.axis = 1});
              }) == "i64 [2, 1, 3]");
static_assert(inferred([](builder& g) {
                return arg_min(g.input("x", f32, {2, H, 3}), {.axis = -1, .keepdims = false});
              }) == "i64 [2, H]");
static_assert(inferred([](builder& g) {
                return arg_min(g.input("x", f32, {2, 0}), {.axis = 1});
              }) == "ArgMin: there is no element along the axis");

TEST_CASE("arg_reduction: ONNX Runtime's results, with known and with symbolic extents") {
  const auto outcome = operator_cases::run("arg_reduction");
  CHECK(outcome.cases >= 10);
  CHECK(outcome.symbolic_graphs >= 25);
}

}  // namespace
