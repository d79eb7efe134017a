// SPDX-License-Identifier: MIT
// CumSum and CumProd: shapes and values.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/cumulative.hpp"

#include <doctest/doctest.h>

#include "tests/support/inferred.hpp"
#include "tests/support/operator_cases.hpp"

using namespace dnnkit;

namespace {

TEST_CASE("cumulative: results from elsewhere, with known and with symbolic extents") {
  const auto outcome = operator_cases::run("cumulative");
  CHECK(outcome.cases >= 29);
  CHECK(outcome.symbolic_graphs >= 40);
}

}  // namespace
