// SPDX-License-Identifier: MIT
// Range, EyeLike, Trilu, OneHot: shapes and values.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/range.hpp"

#include <doctest/doctest.h>

#include "dnnkit/reference/evaluator.hpp"
#include "tests/support/inferred.hpp"
#include "tests/support/operator_cases.hpp"

using namespace dnnkit;

namespace {

constexpr sym L{"L", {1, 512}};

static_assert(inferred([](builder& g) { return range(g.scalar(0, i64), g.scalar(2, i64), {.count = g.symbol(L)}); }) ==
              "i64 [L]");
static_assert(inferred([](builder& g) {
                return one_hot(g.input("i", i64, {3, L}), g.weight("v", {2}), {.depth = 7, .axis = 1});
              }) == "f32 [3, 7, L]");
static_assert(inferred([](builder& g) { return eye_like(g.input("x", f32, {L})); }) ==
              "EyeLike: input 0 has rank 1 (shape [L]), expected 2");

TEST_CASE("range: results from elsewhere, with known and with symbolic extents") {
  const auto outcome = operator_cases::run("range");
  CHECK(outcome.cases >= 30);
  CHECK(outcome.symbolic_graphs >= 30);
}

TEST_CASE("the number of positions may be a symbol") {
  builder g;
  const tensor x = g.input("x", f32, {g.symbol(L)});
  g.output("y", range(g.scalar(5, i32), g.scalar(-2, i32), {.count = x.size(0)}));
  CHECK(evaluate(g.value(), std::vector{host_tensor({3}, {0, 0, 0})})[0].integers ==
        std::vector<std::int64_t>{5, 3, 1});
}

}  // namespace
