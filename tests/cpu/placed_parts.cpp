// SPDX-License-Identifier: MIT
// LABELS: no_sanitize
// OPTIONS: -O1
// Kernels that write parts of joined images where the whole has them, and kernels that read them there.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/pass/place_parts.hpp"

#include "tests/support/fused_groups.hpp"
#include "tests/support/joined_models.hpp"

namespace joined = harness::joined;
using harness::check_model;

TEST_CASE("branches") { check_model<joined::branches>("branches"); }
TEST_CASE("branches of images of any height") { check_model<joined::symbolic_branches>("symbolic_branches", 4); }
TEST_CASE("halves of one value") { check_model<joined::halves>("halves"); }
TEST_CASE("pools of pools") { check_model<joined::pyramid>("pyramid"); }
TEST_CASE("joined images that are parts of others") { check_model<joined::nested>("nested"); }
