// SPDX-License-Identifier: MIT
// Pad: shapes and values.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/pad.hpp"

#include <doctest/doctest.h>

#include "dnnkit/reference/evaluator.hpp"
#include "tests/support/inferred.hpp"
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

TEST_CASE("pad: ONNX Runtime's results, with known and with symbolic extents") {
  const auto outcome = operator_cases::run("pad");
  CHECK(outcome.cases >= 50);
  CHECK(outcome.symbolic_graphs >= 40);
}

}  // namespace
