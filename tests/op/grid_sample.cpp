// SPDX-License-Identifier: MIT
// GridSample: shapes and values.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/grid_sample.hpp"

#include <doctest/doctest.h>

#include "tests/support/inferred.hpp"
#include "tests/support/operator_cases.hpp"

using namespace dnnkit;

namespace {

constexpr sym L{"L", {1, 512}};

static_assert(inferred([](builder& g) {
                return grid_sample(g.input("x", f32, {2, 3, L, 9}), g.input("g", f32, {2, 7, L, 2}));
              }) == "f32 [2, 3, 7, L]");

TEST_CASE("grid_sample: results from elsewhere, with known and with symbolic extents") {
  const auto outcome = operator_cases::run("grid_sample");
  CHECK(outcome.cases >= 36);
  CHECK(outcome.symbolic_graphs >= 26);
}

}  // namespace
