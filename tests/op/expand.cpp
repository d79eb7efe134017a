// SPDX-License-Identifier: MIT
// Expand and Tile: shapes, values, and views that agree with them.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/expand.hpp"

#include <doctest/doctest.h>

#include "tests/support/inferred.hpp"
#include "tests/support/movement_laws.hpp"
#include "tests/support/operator_cases.hpp"

using namespace dnnkit;

namespace {

constexpr sym L{"L", {1, 512}};

static_assert(inferred([](builder& g) { return expand(g.input("x", f32, {3, 1}), {2, 1, L}); }) == "f32 [2, 3, L]");
static_assert(inferred([](builder& g) { return expand(g.input("x", f32, {3}), {2}); }) ==
              "Expand: shapes [3] and [2] do not broadcast");
static_assert(inferred([](builder& g) {
                return tile(g.input("x", f32, {L, 2}), {.repeats = {3, 2}});
              }) == "f32 [3*L, 4]");
static_assert(inferred([](builder& g) {
                return tile(g.input("x", f32, {L}), {.repeats = {3, 2}});
              }) == "Tile: repeats must name one number for each axis");

TEST_CASE("expand: ONNX Runtime's results, with known and with symbolic extents") {
  const auto outcome = operator_cases::run("expand");
  CHECK(outcome.cases >= 12);
  CHECK(outcome.symbolic_graphs >= 10);
}

TEST_CASE("at() and forward() agree") {
  const auto seed = std::random_device{}();
  CAPTURE(seed);
  positions::generator random(seed);
  movement_laws::outcome outcome;
  for (int round = 0; round < 200; ++round) {
    positions::index_list in = random.shape_of(1, 3);
    op::tile tile;
    for (std::size_t i = 0; i < in.size(); ++i) tile.repeats.push_back(random.between(1, 3));
    movement_laws::check(tile, in, random, outcome);
    op::expand expand{positions::to_shape(in)};
    for (std::int64_t& d : in)
      if (random.between(0, 1) == 1) d = 1;
    movement_laws::check(expand, in, random, outcome);
  }
  CHECK(outcome.refused == 0);
}

}  // namespace
