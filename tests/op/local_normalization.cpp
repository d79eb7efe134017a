// SPDX-License-Identifier: MIT
// LRN, norms and moments: shapes and values.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/local_normalization.hpp"

#include <doctest/doctest.h>

#include "tests/support/inferred.hpp"
#include "tests/support/operator_cases.hpp"

using namespace dnnkit;

namespace {

constexpr sym L{"L", {1, 512}};

static_assert(inferred([](builder& g) { return lrn(g.input("x", f32, {2, 3, L}), {.size = 3}); }) == "f32 [2, 3, L]");

TEST_CASE("local_normalization: results from elsewhere, with known and with symbolic extents") {
  const auto outcome = operator_cases::run("local_normalization");
  CHECK(outcome.cases >= 26);
  CHECK(outcome.symbolic_graphs >= 24);
}

}  // namespace
