// SPDX-License-Identifier: MIT
// Activations with thresholds: shapes and values.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/threshold.hpp"

#include <doctest/doctest.h>

#include "tests/support/inferred.hpp"
#include "tests/support/operator_cases.hpp"

using namespace dnnkit;

namespace {

TEST_CASE("threshold: results from elsewhere, with known and with symbolic extents") {
  const auto outcome = operator_cases::run("threshold");
  CHECK(outcome.cases >= 7);
  CHECK(outcome.symbolic_graphs >= 7);
}

}  // namespace
