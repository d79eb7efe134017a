// SPDX-License-Identifier: MIT
// NonMaxSuppression: shapes and values.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/box_selection.hpp"

#include <doctest/doctest.h>

#include "tests/support/inferred.hpp"
#include "tests/support/operator_cases.hpp"

using namespace dnnkit;

namespace {

TEST_CASE("box_selection: results from elsewhere, with known and with symbolic extents") {
  const auto outcome = operator_cases::run("box_selection");
  CHECK(outcome.cases >= 9);
  CHECK(outcome.symbolic_graphs >= 9);
}

}  // namespace
