// SPDX-License-Identifier: MIT
// Pad: shapes and values.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/pad.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "dnnkit/reference/evaluator.hpp"
#include "tests/support/inferred.hpp"
#include "tests/support/movement_laws.hpp"
#include "tests/support/operator_cases.hpp"

using namespace dnnkit;

namespace {

constexpr sym H{"H", {1, 512}};

static_assert(inferred([](builder& g) {
                return pad(g.input("x", f32, {1, H}), {.pads = {0, 2, 0, 1}});
              }) == "f32 [1, H+3]");
static_assert(inferred([](builder& g) { return pad(g.input("x", f32, {4}), {.pads = {-1, -1}}); }) == "f32 [2]");
static_assert(inferred([](builder& g) {
                return pad(g.input("x", f32, {4}), {.pads = {-3, -2}});
              }) == "Pad: pads take away more than there is");
static_assert(inferred([](builder& g) { return pad(g.input("x", f32, {4}), {.pads = {1}}); }) ==
              "Pad: pads must name two numbers for each axis");
static_assert(inferred([](builder& g) {
                return pad(g.input("x", f32, {4}), {.pads = {-1, 2}, .mode = pad_mode::edge});
              }) == "f32 [5]");
static_assert(inferred([](builder& g) {
                return pad(g.input("x", f32, {4}), {.pads = {-4, 1}, .mode = pad_mode::reflect});
              }) == "Pad: there is no element to repeat");
static_assert(inferred([](builder& g) {
                return pad(g.input("x", f32, {0, 4}), {.pads = {0, 1, 0, 1}, .mode = pad_mode::reflect});
              }) == "f32 [0, 6]");

TEST_CASE("a symbol that leaves no element to repeat: there is the value") {
  builder g;
  g.output("y", pad(g.input("x", f32, {sym{"N", {0, 9}}}), {.pads = {-1, 2}, .mode = pad_mode::wrap, .value = 7}));
  CHECK(evaluate(g.value(), std::vector{host_tensor({3}, {1, 2, 3})})[0].reals == std::vector<double>{2, 3, 2, 3});
  CHECK_THROWS_AS(evaluate(g.value(), std::vector{host_tensor({1}, {1})}), error);
}

static_assert(inferred([](builder& g) {
                return g.apply(op::repeated_border{{0, 2, 0, 1}}, {g.input("x", f32, {3, H})});
              }) == "f32 [3, H+3]");
static_assert(inferred([](builder& g) {
                return g.apply(op::repeated_border{{2, 1}}, {g.input("x", f32, {sym{"N", {0, 9}}})});
              }) == "RepeatedBorder: there may be no element to repeat");
static_assert(inferred([](builder& g) {
                return g.apply(op::repeated_border{{-1, 1}}, {g.input("x", f32, {4})});
              }) == "RepeatedBorder: pads must not be negative");
static_assert(inferred([](builder& g) {
                return g.apply(op::repeated_border{{1, 1}, pad_mode::constant}, {g.input("x", f32, {4})});
              }) == "RepeatedBorder: a border of a constant is Pad's");
static_assert(inferred([](builder& g) { return g.apply(op::repeated_border{{1}}, {g.input("x", f32, {4})}); }) ==
              "RepeatedBorder: pads must name two numbers for each axis");

TEST_CASE("a repeated border is Pad's, and a view where there is none") {
  const auto seed = std::random_device{}();
  CAPTURE(seed);
  positions::generator random(seed);
  movement_laws::outcome outcome;
  for (int round = 0; round < 200; ++round) {
    const positions::index_list in{random.between(1, 4), random.between(1, 4)};
    op::repeated_border border{{}, static_cast<pad_mode>(random.between(1, 3))};
    const std::int64_t most = round % 4 == 0 ? 0 : 9;
    for (int k = 0; k < 4; ++k) border.pads.push_back(random.between(0, most));
    movement_laws::check(border, in, random, outcome);
    builder g;
    const tensor x = g.input("x", f32, {in[0], in[1]});
    g.output("border", g.apply(border, {x}));
    g.output("pad", pad(x, {.pads = border.pads, .mode = border.mode}));
    host_tensor elements(f32, in);
    for (std::size_t i = 0; i < elements.reals.size(); ++i) elements.reals[i] = static_cast<double>(i);
    const auto y = evaluate(g.value(), std::vector{elements});
    CHECK(y[0].dims == y[1].dims);
    CHECK(y[0].reals == y[1].reals);
  }
  CHECK(outcome.forward >= 50);
}

TEST_CASE("pad: ONNX Runtime's results, with known and with symbolic extents") {
  const auto outcome = operator_cases::run("pad");
  CHECK(outcome.cases >= 50);
  CHECK(outcome.symbolic_graphs >= 40);
}

}  // namespace
