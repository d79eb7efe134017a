// SPDX-License-Identifier: MIT
// ScatterElements and ScatterND: shapes and values.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/scatter.hpp"

#include <doctest/doctest.h>

#include "dnnkit/reference/evaluator.hpp"
#include "tests/support/inferred.hpp"
#include "tests/support/operator_cases.hpp"

using namespace dnnkit;

namespace {

constexpr sym L{"L", {1, 512}};

static_assert(
    inferred([](builder& g) {
      return scatter_nd(g.input("x", f32, {7, 4, L}), g.input("i", i64, {2, 1}), g.input("u", f32, {2, 4, L}));
    }) == "f32 [7, 4, L]");
static_assert(
    inferred([](builder& g) {
      return scatter_nd(g.input("x", f32, {7, 4, L}), g.input("i", i64, {2, 1}), g.input("u", f32, {2, 3, L}));
    }) == "ScatterND: an extent of updates is 3, but that of data is 4");

static_assert(inferred([](builder& g) {
                return scatter_elements(g.input("x", f32, {2, 2}), g.input("i", i64, {3, 2}), g.input("u", f32, {3, 2}),
                                        {.axis = 1});
              }) ==
              "ScatterElements: indices are longer than data in an axis that is not the one "
              "they count along");

TEST_CASE("scatter: results from elsewhere, with known and with symbolic extents") {
  const auto outcome = operator_cases::run("scatter");
  CHECK(outcome.cases >= 19);
  CHECK(outcome.symbolic_graphs >= 10);
}

TEST_CASE("an index outside raises an error") {
  builder g;
  const tensor x = g.input("x", f32, {3}), i = g.input("i", i64, {1, 1}), u = g.input("u", f32, {1});
  g.output("y", scatter_nd(x, i, u));
  const auto of = [](std::int64_t p) {
    return std::vector{host_tensor({3}, {1, 2, 3}), host_tensor::of_integers(i64, {1, 1}, {p}), host_tensor({1}, {9})};
  };
  CHECK(evaluate(g.value(), of(-1))[0].reals == std::vector<double>{1, 2, 9});
  CHECK_THROWS_AS(evaluate(g.value(), of(3)), error);
}

}  // namespace
