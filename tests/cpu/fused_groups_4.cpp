// SPDX-License-Identifier: MIT
// LABELS: no_sanitize
// OPTIONS: -O1
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "tests/support/fused_groups.hpp"

TEST_CASE("random models agree with the reference evaluator") { harness::check_random_models<4000, 14>(30); }
