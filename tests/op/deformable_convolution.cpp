// SPDX-License-Identifier: MIT
// DeformConv: shapes and values.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/deformable_convolution.hpp"

#include <doctest/doctest.h>

#include "tests/support/inferred.hpp"
#include "tests/support/operator_cases.hpp"

using namespace dnnkit;

namespace {

TEST_CASE("deformable_convolution: results from elsewhere, with known and with symbolic extents") {
  const auto outcome = operator_cases::run("deformable_convolution");
  CHECK(outcome.cases >= 13);
  CHECK(outcome.symbolic_graphs >= 4);
}

}  // namespace
