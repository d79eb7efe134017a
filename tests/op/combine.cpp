// SPDX-License-Identifier: MIT
// The join of two branches: shapes, types and values.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/combine.hpp"

#include <doctest/doctest.h>

#include "tests/support/inferred.hpp"
#include "tests/support/operator_cases.hpp"

using namespace dnnkit;

namespace {

constexpr sym L{"L", {1, 512}};

static_assert(inferred([](builder& g) {
                return combine(g.input("c", boolean, {}), g.input("x", f32, {2, L}), g.input("y", f32, {2, L}));
              }) == "f32 [2, L]");
static_assert(inferred([](builder& g) {
                return combine(g.input("c", boolean, {2}), g.input("x", f32, {2}), g.input("y", f32, {2}));
              }) == "If: the number of elements of the condition is 2, but expected is 1");
static_assert(inferred([](builder& g) {
                return combine(g.input("c", boolean, {}), g.input("x", f32, {2}), g.input("y", f32, {1}));
              }) == "If: an extent of what one branch gives is 2, but that of the other is 1");
static_assert(inferred([](builder& g) {
                return combine(g.input("c", boolean, {1}), g.input("x", f32, {}), g.input("y", f32, {}));
              }) == "If: the condition has more axes than the branches' results");

TEST_CASE("combine: the branch that is taken") {
  const auto outcome = operator_cases::run("combine");
  CHECK(outcome.cases == 7);
}

}  // namespace
