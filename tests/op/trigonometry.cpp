// SPDX-License-Identifier: MIT
// Tan ... Atanh: shapes and values.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/trigonometry.hpp"

#include <doctest/doctest.h>

#include "tests/support/inferred.hpp"
#include "tests/support/operator_cases.hpp"

using namespace dnnkit;

namespace {

TEST_CASE("trigonometry: results from elsewhere, with known and with symbolic extents") {
  const auto outcome = operator_cases::run("trigonometry");
  CHECK(outcome.cases >= 9);
  CHECK(outcome.symbolic_graphs >= 9);
}

}  // namespace
