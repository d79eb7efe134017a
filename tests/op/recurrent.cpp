// SPDX-License-Identifier: MIT
// RNN, GRU, LSTM: shapes and values.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/recurrent.hpp"

#include <doctest/doctest.h>

#include "tests/support/inferred.hpp"
#include "tests/support/operator_cases.hpp"

using namespace dnnkit;

namespace {

constexpr sym L{"L", {1, 512}};

static_assert(inferred([](builder& g) {
                return g.apply(op::lstm{.direction = recurrent_direction::bidirectional},
                               {g.input("x", f32, {L, 2, 5}), g.weight("w", {2, 12, 5}), g.weight("r", {2, 12, 3})});
              }) == "f32 [L, 2, 2, 3]");
static_assert(inferred([](builder& g) {
                return g.apply(op::gru{.output = 1},
                               {g.input("x", f32, {L, 2, 5}), g.weight("w", {1, 9, 5}), g.weight("r", {1, 12, 3})});
              }) == "GRU 'GRU': the second extent of a weight is 12, but gates times units is 9");

TEST_CASE("recurrent: results from elsewhere, with known and with symbolic extents") {
  const auto outcome = operator_cases::run("recurrent");
  CHECK(outcome.cases >= 56);
  CHECK(outcome.symbolic_graphs >= 40);
}

}  // namespace
