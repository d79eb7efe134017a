// SPDX-License-Identifier: MIT
// DepthToSpace and SpaceToDepth: shapes, values, and views that agree with them.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/block_rearrangement.hpp"

#include <doctest/doctest.h>

#include "tests/support/inferred.hpp"
#include "tests/support/movement_laws.hpp"
#include "tests/support/operator_cases.hpp"

using namespace dnnkit;

namespace {

constexpr sym H{"H", {1, 512}}, W{"W", {1, 512}};

static_assert(inferred([](builder& g) {
                return depth_to_space(g.input("x", f32, {1, 12, H, W}), {.blocksize = 2});
              }) == "f32 [1, 3, 2*H, 2*W]");
static_assert(
    inferred([](builder& g) {
      return space_to_depth(depth_to_space(g.input("x", f32, {1, 12, H, W}), {.blocksize = 2}), {.blocksize = 2});
    }) == "f32 [1, 12, H, W]");
static_assert(inferred([](builder& g) {
                return depth_to_space(g.input("x", f32, {1, 6, H, W}), {.blocksize = 2});
              }) == "DepthToSpace: blocksize squared does not divide the channels");
static_assert(inferred([](builder& g) {
                return space_to_depth(g.input("x", f32, {1, 6, H, W}), {.blocksize = 2});
              }) == "SpaceToDepth: blocksize does not divide height and width");

TEST_CASE("block_rearrangement: ONNX Runtime's results, with known and with symbolic extents") {
  const auto outcome = operator_cases::run("block_rearrangement");
  CHECK(outcome.cases >= 11);
  CHECK(outcome.symbolic_graphs >= 18);
}

TEST_CASE("at(), forward() and backward() agree") {
  const auto seed = std::random_device{}();
  CAPTURE(seed);
  positions::generator random(seed);
  movement_laws::outcome outcome;
  for (int round = 0; round < 100; ++round) {
    const std::int64_t b = random.between(1, 3);
    positions::index_list in{random.between(1, 2), random.between(1, 3), random.between(1, 3), random.between(1, 3)};
    positions::index_list deep = in, large = in;
    deep[1] *= b * b;
    large[2] *= b;
    large[3] *= b;
    for (op::depth_to_space_mode mode : {op::depth_to_space_mode::dcr, op::depth_to_space_mode::crd}) {
      movement_laws::check(op::depth_to_space{b, mode}, deep, random, outcome);
      movement_laws::check(op::space_to_depth{b, mode}, large, random, outcome);
    }
  }
  CHECK(outcome.refused == 0);
}

}  // namespace
