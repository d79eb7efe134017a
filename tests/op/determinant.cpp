// SPDX-License-Identifier: MIT
// Det: shapes and values.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/determinant.hpp"

#include <doctest/doctest.h>

#include "tests/support/inferred.hpp"
#include "tests/support/operator_cases.hpp"

using namespace dnnkit;

namespace {

TEST_CASE("determinant: results from elsewhere, with known and with symbolic extents") {
  const auto outcome = operator_cases::run("determinant");
  CHECK(outcome.cases >= 6);
  CHECK(outcome.symbolic_graphs >= 4);
}

}  // namespace
