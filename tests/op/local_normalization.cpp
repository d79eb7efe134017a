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

using operators = op_set<op::lrn, op::lp_normalization, op::mean_variance_normalization,
                         op::batch_normalization_training, op::standardize, op::reshape, op::add, op::sub, op::mul,
                         op::div, op::reduce_l1, op::reduce_l2, op::reduce_mean>;

TEST_CASE("local_normalization: results from elsewhere, with known and with symbolic extents") {
  const auto outcome = operator_cases::run<operators>("local_normalization");
  CHECK(outcome.cases >= 14);
  CHECK(outcome.symbolic_graphs >= 20);
}

}  // namespace
