// SPDX-License-Identifier: MIT
// Slice and Split: shapes, values, and views that agree with them.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/slice.hpp"

#include <doctest/doctest.h>

#include "tests/support/inferred.hpp"
#include "tests/support/movement_laws.hpp"
#include "tests/support/operator_cases.hpp"

using namespace dnnkit;

namespace {

constexpr sym H{"H", {2, 512}}, L{"L", {1, 512}};

static_assert(inferred([](builder& g) {
                return slice(g.input("x", f32, {3, H}), {.starts = {1}, .ends = {-1}, .axes = {1}});
              }) == "f32 [3, H-2]");
static_assert(
    inferred([](builder& g) {
      return slice(g.input("x", f32, {H, H}), {.starts = {0, 1}, .ends = {1 << 30, 1 << 30}, .steps = {2, 2}});
    }) == "f32 [floor_div(H+1, 2), floor_div(H, 2)]");
static_assert(inferred([](builder& g) {
                return slice(g.input("x", f32, {H}), {.starts = {-1}, .ends = {-1000000000000}, .steps = {-1}});
              }) == "f32 [H]");
static_assert(inferred([](builder& g) {  // a start before all is the first element, and -1, before it, no longer taken
                return slice(g.input("x", f32, {3}), {.starts = {-10}, .ends = {-10}, .steps = {-2}});
              }) == "f32 [1]");
static_assert(inferred([](builder& g) {
                return slice(g.input("x", f32, {0}), {.starts = {-10}, .ends = {-10}, .steps = {-2}});
              }) == "f32 [0]");
static_assert(inferred([](builder& g) { return slice(g.input("x", f32, {L}), {.starts = {0}, .ends = {4}}); }) ==
              "f32 [min(4, L)]");
static_assert(inferred([](builder& g) {
                return slice(g.input("x", f32, {4}), {.starts = {0}, .ends = {1}, .axes = {1}});
              }) == "Slice: axis 1 is outside a tensor of rank 1");
static_assert(inferred([](builder& g) {
                return slice(g.input("x", f32, {4}), {.starts = {0}, .ends = {1}, .steps = {0}});
              }) == "Slice: steps must not be 0");
static_assert(inferred([](builder& g) { return narrow(g.weight("positions", {512, 64}), 0, 0, L); }) == "f32 [L, 64]");
static_assert(inferred([](builder& g) { return split(g.input("x", f32, {2, 12, L}), 3, 1)[2]; }) == "f32 [2, 4, L]");
static_assert(inferred([](builder& g) { return split(g.input("x", f32, {2, 12}), {3, 9}, 1)[1]; }) == "f32 [2, 9]");
static_assert(inferred([](builder& g) {
                return split(g.input("x", f32, {2, 12}), {3, 10}, 1)[1];
              }) == "Split: the part ends at 13, the axis at 12");

TEST_CASE("slice: ONNX Runtime's results, with known and with symbolic extents") {
  const auto outcome = operator_cases::run("slice");
  CHECK(outcome.cases >= 20);
  CHECK(outcome.symbolic_graphs >= 55);
}

TEST_CASE("at() and forward() agree") {
  const auto seed = std::random_device{}();
  CAPTURE(seed);
  positions::generator random(seed);
  movement_laws::outcome outcome;
  for (int round = 0; round < 300; ++round) {
    const positions::index_list in = random.shape_of(1, 3, 5);
    const int_list order = random.permutation(in.size());
    op::slice slice;
    for (std::int64_t a : order) {
      slice.axes.push_back(a);
      slice.starts.push_back(random.between(-6, 6));
      slice.ends.push_back(random.between(-6, 6));
      slice.steps.push_back(random.between(0, 3) == 0 ? -random.between(1, 2) : random.between(1, 3));
    }
    movement_laws::check(slice, in, random, outcome);
    const std::int64_t begin = random.between(0, in[0]), size = random.between(0, in[0] - begin);
    movement_laws::check(op::split{0, begin, size}, in, random, outcome);
  }
  CHECK(outcome.forward > outcome.refused);  // negative steps have no view
}

}  // namespace
