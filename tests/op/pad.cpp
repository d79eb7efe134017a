// SPDX-License-Identifier: MIT
// Pad: shapes and values.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/pad.hpp"

#include <doctest/doctest.h>

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
              }) == "Pad 'Pad': pads take away more than there is");
static_assert(inferred([](builder& g) { return pad(g.input("x", f32, {4}), {.pads = {1}}); }) ==
              "Pad 'Pad': pads must name two numbers for each axis");
static_assert(inferred([](builder& g) {
                return pad(g.input("x", f32, {4}), {.pads = {-1, 0}, .mode = pad_mode::edge});
              }) == "Pad 'Pad': negative pads need mode constant");

TEST_CASE("pad: ONNX Runtime's results, with known and with symbolic extents") {
  const auto outcome = operator_cases::run("pad");
  CHECK(outcome.cases >= 16);
  CHECK(outcome.symbolic_graphs >= 40);
}

}  // namespace
