// SPDX-License-Identifier: MIT
// Comparison, logic and choice: shapes, types and values.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/comparison.hpp"

#include <doctest/doctest.h>

#include "tests/support/inferred.hpp"
#include "tests/support/operator_cases.hpp"

using namespace dnnkit;

namespace {

constexpr sym L{"L", {1, 512}};

static_assert(inferred([](builder& g) {
                return less(g.input("x", f32, {2, L}), g.input("y", f32, {1}));
              }) == "bool [2, L]");
static_assert(inferred([](builder& g) {
                return logical_not(equal(g.input("x", boolean, {3}), g.input("y", boolean, {3})));
              }) == "bool [3]");
static_assert(inferred([](builder& g) {
                return where(g.input("c", boolean, {L, 1}), g.input("x", i64, {4}), g.input("y", i64, {}));
              }) == "i64 [L, 4]");
static_assert(inferred([](builder& g) {
                return where(g.input("c", f32, {4}), g.input("x", f32, {4}), g.input("y", f32, {4}));
              }) == "Where: condition is f32, expected bool");
static_assert(inferred([](builder& g) {
                return where(g.input("c", boolean, {4}), g.input("x", f32, {4}), g.input("y", i64, {4}));
              }) == "Where: a is f32, b is i64");
static_assert(inferred([](builder& g) { return logical_and(g.input("x", f32, {4}), g.input("y", f32, {4})); }) ==
              "And: input 0 is f32, expected bool");

TEST_CASE("comparison: ONNX Runtime's results, with known and with symbolic extents") {
  const auto outcome = operator_cases::run("comparison");
  CHECK(outcome.cases >= 26);
  CHECK(outcome.symbolic_graphs >= 40);
}

}  // namespace
