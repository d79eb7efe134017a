// SPDX-License-Identifier: MIT
// GatherElements, GatherND, ReverseSequence: shapes and values.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/gather_elements.hpp"

#include <doctest/doctest.h>

#include "tests/support/inferred.hpp"
#include "tests/support/operator_cases.hpp"

using namespace dnnkit;

namespace {

constexpr sym L{"L", {1, 512}};

static_assert(inferred([](builder& g) {
                return gather_elements(g.input("x", f32, {7, L}), g.input("i", i64, {2, L}));
              }) == "f32 [2, L]");
static_assert(inferred([](builder& g) {
                return gather_nd(g.input("x", f32, {7, 4, L}), g.input("i", i32, {2, 1}));
              }) == "f32 [2, 4, L]");
static_assert(inferred([](builder& g) {
                return gather_nd(g.input("x", f32, {7, L}), g.input("i", i64, {2, 3}));
              }) == "GatherND 'GatherND': batch_dims and the last extent of indices exceed data's rank");

TEST_CASE("gather_elements: results from elsewhere, with known and with symbolic extents") {
  const auto outcome = operator_cases::run("gather_elements");
  CHECK(outcome.cases >= 15);
  CHECK(outcome.symbolic_graphs >= 20);
}

}  // namespace
