// SPDX-License-Identifier: MIT
// Reshape, Flatten, Squeeze, Unsqueeze, Transpose, Identity: shapes, values, and views that agree with them.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/movement.hpp"

#include <doctest/doctest.h>

#include "tests/support/inferred.hpp"
#include "tests/support/movement_laws.hpp"
#include "tests/support/operator_cases.hpp"

using namespace dnnkit;

namespace {

constexpr sym H{"H", {1, 512}}, L{"L", {1, 512}};

static_assert(inferred([](builder& g) {
                return reshape(g.input("x", f32, {2, L, 768}), {0, 0, 12, 64});
              }) == "f32 [2, L, 12, 64]");
static_assert(inferred([](builder& g) {
                return reshape(g.input("x", f32, {2, L, 12, 64}), {-1, 768});
              }) == "f32 [2*L, 768]");
static_assert(inferred([](builder& g) {
                return reshape(g.input("x", f32, {1, 3, H, H}), {1, 3, -1});
              }) == "f32 [1, 3, H*H]");
static_assert(inferred([](builder& g) {
                return reshape(g.input("x", f32, {2, L, 6}), {L, 2, -1});
              }) == "f32 [L, 2, 6]");
static_assert(inferred([](builder& g) {
                return reshape(g.input("x", f32, {2, 3}), {4, 2});
              }) == "Reshape: [2, 3] has 6 elements, which do not fit shape [4, 2]");
static_assert(inferred([](builder& g) {
                return reshape(g.input("x", f32, {L, 3}), {2, -1});
              }) == "f32 [2, floor_div(L, 2)+L]");  // it is assumed that L is even
static_assert(inferred([](builder& g) {
                return reshape(g.input("x", f32, {4}), {-1, -1});
              }) == "Reshape: more than one -1 in the shape");
// extents whose product no integer holds
static_assert(inferred([](builder& g) {
                return reshape(g.input("x", f32, {3, 4}), {5'000'000'000, 7'000'000'000});
              }) == "Reshape: [3, 4] has 12 elements, which do not fit shape [5000000000, 7000000000]");
static_assert(inferred([](builder& g) { return reshape(g.input("x", f32, {0, 3}), {0, 3}); }) == "f32 [0, 3]");
static_assert(inferred([](builder& g) { return reshape(g.input("x", f32, {0, 3}), {3, -1}); }) == "f32 [3, 0]");
static_assert(inferred([](builder& g) { return flatten(g.input("x", f32, {2, 3, H, 4})); }) == "f32 [2, 12*H]");
static_assert(inferred([](builder& g) {
                return squeeze(g.input("x", f32, {1, L, 1}), {.axes = {-1}});
              }) == "f32 [1, L]");
static_assert(inferred([](builder& g) {
                return squeeze(g.input("x", f32, {1, L, 2}), {.axes = {2}});
              }) == "Squeeze: the extent of an axis to squeeze is 2, but what it must be is 1");
static_assert(inferred([](builder& g) {
                return unsqueeze(g.input("x", f32, {L}), {.axes = {0, -1}});
              }) == "f32 [1, L, 1]");
static_assert(inferred([](builder& g) {
                return transpose(g.input("x", f32, {1, L, 12, 64}), {.perm = {0, 2, 3, 1}});
              }) == "f32 [1, 12, 64, L]");
static_assert(inferred([](builder& g) {
                return transpose(g.input("x", f32, {1, L}), {.perm = {0, 0}});
              }) == "Transpose: perm names an axis twice");
static_assert(inferred([](builder& g) { return identity(g.input("x", boolean, {L})); }) == "bool [L]");

TEST_CASE("movement: ONNX Runtime's results, with known and with symbolic extents") {
  const auto outcome = operator_cases::run("movement");
  CHECK(outcome.cases >= 34);
  CHECK(outcome.symbolic_graphs >= 70);
}

TEST_CASE("at(), forward() and backward() agree") {
  const auto seed = std::random_device{}();
  CAPTURE(seed);
  positions::generator random(seed);
  movement_laws::outcome outcome;
  const auto check = [&](const auto& op, const positions::index_list& in) {
    movement_laws::check(op, in, random, outcome);
  };
  for (int round = 0; round < 200; ++round) {
    const positions::index_list in = random.shape_of(1, 4);
    const auto rank = static_cast<std::int64_t>(in.size());
    check(op::transpose{random.permutation(in.size())}, in);
    check(op::flatten{random.between(0, rank)}, in);
    check(op::identity{}, in);
    check(op::unsqueeze{{random.between(0, rank)}}, in);
    positions::index_list with_one = in;
    const std::int64_t place = random.between(0, rank);
    with_one.insert(with_one.begin() + place, 1);
    check(op::squeeze{{place}}, with_one);
    shape joined;
    for (std::int64_t d : in)
      if (!joined.empty() && random.between(0, 1) == 1) joined.back() = joined.back().value() * d;
      else joined.push_back(d);
    check(op::reshape{joined}, in);
  }
  CHECK(outcome.forward > 600);
  CHECK(outcome.backward > 600);
}

}  // namespace
