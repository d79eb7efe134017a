// SPDX-License-Identifier: MIT
// The join of two branches: shapes, types and values.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/combine.hpp"

#include <doctest/doctest.h>

#include "dnnkit/op/builtin.hpp"
#include "dnnkit/reference/evaluator.hpp"
#include "tests/support/inferred.hpp"
#include "tests/support/operator_cases.hpp"

using namespace dnnkit;

namespace {

constexpr sym L{"L", {1, 512}};

static_assert(inferred([](builder& g) {
                return combine(g.input("c", boolean, {}), g.input("x", f32, {2, L}), g.input("y", f32, {2, L}));
              }) == "f32 [2, L]");
static_assert(inferred([](builder& g) {
                return combine(g.input("c", boolean, {2}), g.input("x", f32, {2}), g.input("y", f32, {2}));
              }) == "If: the number of elements of the condition is 2, but expected is 1");
static_assert(inferred([](builder& g) {
                return combine(g.input("c", boolean, {}), g.input("x", f32, {2}), g.input("y", f32, {1}));
              }) == "f32 [?]");
static_assert(inferred([](builder& g) {
                return combine(g.input("c", boolean, {}), g.input("x", f32, {2, L, 3}), g.input("y", f32, {2, 4, 3}));
              }) == "f32 [2, ?, 3]");
static_assert(inferred([](builder& g) {
                return combine(g.input("c", boolean, {}), g.input("x", f32, {2}), g.input("y", f32, {2, 1}));
              }) == "If: a has rank 1 (shape [2]), but b has rank 2 (shape [2, 1])");
static_assert(inferred([](builder& g) {
                return combine(g.input("c", boolean, {1}), g.input("x", f32, {}), g.input("y", f32, {}));
              }) == "If: the condition has more axes than the branches' results");

TEST_CASE("combine: the extents are those of the branch that is taken") {
  builder g;
  const tensor c = g.input("c", boolean, {}), x = g.input("x", f32, {2, 3});
  g.output("y", relu(combine(c, x, slice(x, {.starts = {1}, .ends = {2}}))));
  for (const bool taken : {true, false}) {
    const auto y = evaluate(g.value(), std::vector<host_tensor>{host_tensor::of_integers(boolean, {}, {taken}),
                                                                host_tensor({2, 3}, {1, 2, 3, 4, 5, 6})})[0];
    CHECK(y.dims == std::vector<std::int64_t>{taken ? 2 : 1, 3});
    CHECK(y.reals == (taken ? std::vector<double>{1, 2, 3, 4, 5, 6} : std::vector<double>{4, 5, 6}));
  }
}

TEST_CASE("combine: the branch that is taken") {
  const auto outcome = operator_cases::run("combine");
  CHECK(outcome.cases == 7);
}

}  // namespace
