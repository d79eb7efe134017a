// SPDX-License-Identifier: MIT
// Resize: shapes and values.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/resize.hpp"

#include <doctest/doctest.h>

#include "tests/support/inferred.hpp"
#include "tests/support/operator_cases.hpp"

using namespace dnnkit;

namespace {

constexpr sym H{"H", {1, 512}}, W{"W", {1, 512}};

static_assert(inferred([](builder& g) {
                return resize(g.input("x", f32, {1, 3, H, W}), {.scales = {1, 1, 2, 0.5f}});
              }) == "f32 [1, 3, 2*H, floor_div(W, 2)]");
static_assert(
    inferred([](builder& g) {
      const tensor x = g.input("x", f32, {1, 3, H, W}), like = g.input("like", f32, {1, 3, sym{"A"}, sym{"B"}});
      return resize(x, {.sizes = like.dims(), .mode = resize_mode::linear});
    }) == "f32 [1, 3, A, B]");
static_assert(inferred([](builder& g) {
                return resize(g.input("x", f32, {1, 3, H, W}), {.scales = {1, 1, 0.3f, 2}});
              }) == "Resize: an extent that is a symbol needs a scale that is a multiple of 1/64, or sizes");
static_assert(inferred([](builder& g) {
                return resize(g.input("x", f32, {1, 3}), {.scales = {1}});
              }) == "Resize: scales, sizes or both must name one number for each axis");

static_assert(inferred([](builder& g) {
                return resize(g.input("x", f32, {4, 6}), {.scales = {1.3f, 1.3f}, .sizes = {5, 8}});
              }) == "f32 [5, 8]");

TEST_CASE("resize: ONNX Runtime's results, with known and with symbolic extents") {
  const auto outcome = operator_cases::run("resize");
  CHECK(outcome.cases >= 158);
  CHECK(outcome.symbolic_graphs >= 150);
}

}  // namespace
