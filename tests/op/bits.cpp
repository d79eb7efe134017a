// SPDX-License-Identifier: MIT
// Integers as bits: shapes and values.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/bits.hpp"

#include <doctest/doctest.h>

#include "tests/support/inferred.hpp"
#include "tests/support/operator_cases.hpp"

using namespace dnnkit;

namespace {

TEST_CASE("bits: results from elsewhere, with known and with symbolic extents") {
  const auto outcome = operator_cases::run("bits");
  CHECK(outcome.cases >= 30);
  CHECK(outcome.symbolic_graphs >= 30);
}

}  // namespace
