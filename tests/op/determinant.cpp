// SPDX-License-Identifier: MIT
// Det and Inverse: shapes and values.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/determinant.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "dnnkit/reference/evaluator.hpp"
#include "tests/support/inferred.hpp"
#include "tests/support/operator_cases.hpp"

using namespace dnnkit;

namespace {

static_assert(inferred([](builder& g) { return inverse(g.input("x", f32, {2, 3, 3})); }) == "f32 [2, 3, 3]");
static_assert(inferred([](builder& g) {
                return inverse(g.input("x", f32, {2, 3}));
              }) == "Inverse: the number of rows is 2, but that of columns is 3");

TEST_CASE("determinant: results from elsewhere, with known and with symbolic extents") {
  const auto outcome = operator_cases::run("determinant");
  CHECK(outcome.cases >= 13);
  CHECK(outcome.symbolic_graphs >= 9);
}

TEST_CASE("a matrix without an inverse has one that is not finite") {
  builder g;
  g.output("y", inverse(g.input("x", f32, {2, 2})));
  const auto y = evaluate(g.value(), std::vector{host_tensor({2, 2}, {1, 2, 2, 4})});
  for (const double element : y[0].reals) CHECK(!std::isfinite(element));
}

}  // namespace
