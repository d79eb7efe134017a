// SPDX-License-Identifier: MIT
// Gather: shapes and values.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/gather.hpp"

#include <doctest/doctest.h>

#include "dnnkit/reference/evaluator.hpp"
#include "tests/support/inferred.hpp"
#include "tests/support/operator_cases.hpp"

using namespace dnnkit;

namespace {

constexpr sym L{"L", {1, 512}};

static_assert(inferred([](builder& g) {
                return gather(g.weight("words", {30000, 64}), g.input("ids", i64, {1, L}));
              }) == "f32 [1, L, 64]");
static_assert(inferred([](builder& g) { return take(g.input("x", f32, {2, L, 64}), 0, 1); }) == "f32 [2, 64]");
static_assert(inferred([](builder& g) { return take(g.input("x", f32, {2, L, 64}), -1, 1); }) == "f32 [2, 64]");
static_assert(inferred([](builder& g) {
                return gather(g.weight("words", {30000, 64}), g.input("ids", f32, {1, L}));
              }) == "Gather: indices is f32, expected i64 or i32");

TEST_CASE("gather: ONNX Runtime's results, with known and with symbolic extents") {
  const auto outcome = operator_cases::run("gather");
  CHECK(outcome.cases >= 7);
  CHECK(outcome.symbolic_graphs >= 17);
}

TEST_CASE("an index outside raises an error") {
  builder g;
  const tensor data = g.input("x", f32, {3}), indices = g.input("i", i64, {2});
  g.output("y", gather(data, indices));
  const host_tensor x({3}, {1, 2, 3});
  const auto of = [](std::int64_t a, std::int64_t b) { return host_tensor::of_integers(i64, {2}, {a, b}); };
  CHECK(evaluate(g.value(), std::vector{x, of(-3, 2)})[0].reals == std::vector<double>{1, 3});
  CHECK_THROWS_WITH_AS(evaluate(g.value(), std::vector{x, of(0, 3)}),
                       "Gather: index is out of range, expected -3 to 2, found 3", error);
  CHECK_THROWS_AS(evaluate(g.value(), std::vector{x, of(-4, 0)}), error);
}

TEST_CASE("take() is the slice at one index") {
  builder g;
  const tensor x = g.input("x", f32, {2, 3});
  g.output("first", take(x, 0, 1));
  g.output("last", take(x, -1, 0));
  const auto y = evaluate(g.value(), std::vector{host_tensor({2, 3}, {1, 2, 3, 4, 5, 6})});
  CHECK(y[0].reals == std::vector<double>{1, 4});
  CHECK(y[1].reals == std::vector<double>{4, 5, 6});
}

}  // namespace
