// SPDX-License-Identifier: MIT
// LABELS: sanitize alone
// OPTIONS: -O1
// Random models of the seeds from 1000 on: kernels of many operators against the reference evaluator.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <cstddef>

#include "tests/support/fused_groups.hpp"
#include "tests/support/is_sanitized.hpp"
#include "tests/support/thoroughly.hpp"

TEST_CASE("kernels of random models agree with the reference evaluator") {
  constexpr std::size_t models = harness::is_sanitized ? 4 : harness::is_thorough ? 14 : 7;
  harness::check_random_models<1000, models>(2 * models);
}
