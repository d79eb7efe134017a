// SPDX-License-Identifier: MIT
// TfIdfVectorizer: shapes and values.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/text_features.hpp"

#include <doctest/doctest.h>

#include "tests/support/inferred.hpp"
#include "tests/support/operator_cases.hpp"

using namespace dnnkit;

namespace {

TEST_CASE("text_features: results from elsewhere, with known and with symbolic extents") {
  const auto outcome = operator_cases::run("text_features");
  CHECK(outcome.cases >= 10);
  CHECK(outcome.symbolic_graphs >= 4);
}

}  // namespace
