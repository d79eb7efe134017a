// SPDX-License-Identifier: MIT
// LABELS: sanitize alone
// OPTIONS: -O1
// Random models of the seeds from 1000 on: kernels of many operators against the reference evaluator.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "tests/support/fused_groups.hpp"

TEST_CASE("kernels of random models agree with the reference evaluator") {
  harness::check_random_models<1000, harness::is_sanitized ? 4 : 14>(harness::is_sanitized ? 8 : 30);
}
