// SPDX-License-Identifier: MIT
// IsNaN and IsInf: shapes and values.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/classification.hpp"

#include <doctest/doctest.h>

#include "tests/support/inferred.hpp"
#include "tests/support/operator_cases.hpp"

using namespace dnnkit;

namespace {

constexpr sym L{"L", {1, 512}};

static_assert(inferred([](builder& g) { return is_nan(g.input("x", f32, {2, L})); }) == "bool [2, L]");

TEST_CASE("classification: results from elsewhere, with known and with symbolic extents") {
  const auto outcome = operator_cases::run("classification");
  CHECK(outcome.cases >= 6);
  CHECK(outcome.symbolic_graphs >= 4);
}

}  // namespace
