// SPDX-License-Identifier: MIT
// Concat: shapes and values.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/concat.hpp"

#include <doctest/doctest.h>

#include "tests/support/inferred.hpp"
#include "tests/support/operator_cases.hpp"

using namespace dnnkit;

namespace {

constexpr sym H{"H", {1, 512}}, L{"L", {1, 512}};

static_assert(inferred([](builder& g) {
                return concat({g.input("x", f32, {1, 3, H}), g.input("y", f32, {1, 5, H})}, {.axis = 1});
              }) == "f32 [1, 8, H]");
static_assert(inferred([](builder& g) {
                return concat({g.input("x", f32, {L, 3}), g.input("y", f32, {H, 3}), g.input("z", f32, {1, 3})});
              }) == "f32 [H+L+1, 3]");
static_assert(inferred([](builder& g) {
                return concat({g.input("x", f32, {2, 3}), g.input("y", f32, {3, 3})}, {.axis = 1});
              }) == "Concat: an extent of input 0 is 2, but that of another input is 3");
static_assert(inferred([](builder& g) {
                return concat({g.input("x", f32, {2}), g.input("y", i32, {2})});
              }) == "Concat: input 0 is f32, input 1 is i32");

TEST_CASE("concat: ONNX Runtime's results, with known and with symbolic extents") {
  const auto outcome = operator_cases::run("concat");
  CHECK(outcome.cases >= 7);
  CHECK(outcome.symbolic_graphs >= 12);
}

}  // namespace
