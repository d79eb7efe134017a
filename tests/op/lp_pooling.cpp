// SPDX-License-Identifier: MIT
// LpPool, GlobalLpPool, the indices of MaxPool, MaxUnpool: shapes and values.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/lp_pooling.hpp"

#include <doctest/doctest.h>

#include "tests/support/inferred.hpp"
#include "tests/support/operator_cases.hpp"

using namespace dnnkit;

namespace {

constexpr sym L{"L", {1, 512}};

static_assert(inferred([](builder& g) {
                return max_pool_indices(g.input("x", f32, {1, 3, L, 8}), {.kernel_shape = {2, 2}, .strides = {2, 2}});
              }) == "i64 [1, 3, floor_div(L, 2), 4]");
static_assert(inferred([](builder& g) {
                return max_unpool(g.input("x", f32, {1, 3, L, 4}), g.input("i", i64, {1, 3, L, 4}),
                                  {.kernel_shape = {2, 2}, .strides = {2, 2}});
              }) == "f32 [1, 3, 2*L, 8]");

TEST_CASE("lp_pooling: results from elsewhere, with known and with symbolic extents") {
  const auto outcome = operator_cases::run("lp_pooling");
  CHECK(outcome.cases >= 13);
  CHECK(outcome.symbolic_graphs >= 20);
}

}  // namespace
