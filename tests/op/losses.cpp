// SPDX-License-Identifier: MIT
// Losses of classifiers: shapes and values.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/losses.hpp"

#include <doctest/doctest.h>

#include "tests/support/inferred.hpp"
#include "tests/support/operator_cases.hpp"

using namespace dnnkit;

namespace {

constexpr sym L{"L", {1, 512}};

static_assert(inferred([](builder& g) {
                return softmax_cross_entropy_loss(g.input("x", f32, {L, 3, 4}), g.input("t", i64, {L, 4}),
                                                  {.reduction = loss_reduction::each});
              }) == "f32 [L, 4]");
static_assert(inferred([](builder& g) {
                return negative_log_likelihood_loss(g.input("x", f32, {L, 3, 4}), g.input("t", i64, {L, 4}));
              }) == "f32 []");

TEST_CASE("losses: results from elsewhere, with known and with symbolic extents") {
  const auto outcome = operator_cases::run("losses");
  CHECK(outcome.cases >= 20);
  CHECK(outcome.symbolic_graphs >= 20);
}

}  // namespace
