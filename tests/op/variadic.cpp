// SPDX-License-Identifier: MIT
// Sum and Mean: shapes and values.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/variadic.hpp"

#include <doctest/doctest.h>

#include "tests/support/inferred.hpp"
#include "tests/support/operator_cases.hpp"

using namespace dnnkit;

namespace {

constexpr sym L{"L", {1, 512}};

static_assert(inferred([](builder& g) {
                return sum(vector<tensor>{g.input("x", f32, {2, L}), g.input("y", f32, {L}), g.input("z", f32, {})});
              }) == "f32 [2, L]");

TEST_CASE("variadic: results from elsewhere, with known and with symbolic extents") {
  const auto outcome = operator_cases::run("variadic");
  CHECK(outcome.cases >= 8);
  CHECK(outcome.symbolic_graphs >= 8);
}

}  // namespace
