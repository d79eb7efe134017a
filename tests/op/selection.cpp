// SPDX-License-Identifier: MIT
// Compress, NonZero, Unique: shapes and values.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/selection.hpp"

#include <doctest/doctest.h>

#include "dnnkit/reference/evaluator.hpp"
#include "tests/support/inferred.hpp"
#include "tests/support/operator_cases.hpp"

using namespace dnnkit;

namespace {

constexpr sym L{"L", {1, 512}};

static_assert(inferred([](builder& g) { return non_zero(g.input("x", f32, {2, L})); }) == "i64 [2, ?]");
static_assert(inferred([](builder& g) {
                return compress(g.input("x", f32, {2, L}), g.input("c", boolean, {L}), {.axis = 1});
              }) == "f32 [2, ?]");
static_assert(inferred([](builder& g) {
                return unique(g.input("x", f32, {2, L}), {.flatten = true, .output = 2});
              }) == "i64 [2*L]");

TEST_CASE("selection: results from elsewhere, with known and with symbolic extents") {
  const auto outcome = operator_cases::run("selection");
  CHECK(outcome.cases >= 27);
  CHECK(outcome.symbolic_graphs >= 20);
}

TEST_CASE("what follows sees the extents that came out") {
  builder g;
  const tensor x = g.input("x", f32, {4});
  const tensor chosen = compress(x, g.input("c", boolean, {4}));
  g.output("y", compress(chosen, g.constant({0, 1}, {2}, boolean)));
  const auto y = evaluate(
      g.value(), std::vector{host_tensor({4}, {1, 2, 3, 4}), host_tensor::of_integers(boolean, {4}, {1, 0, 0, 1})});
  CHECK(y[0].reals == std::vector<double>{4});
}

}  // namespace
