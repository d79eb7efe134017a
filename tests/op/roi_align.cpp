// SPDX-License-Identifier: MIT
// RoiAlign: shapes and values.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/roi_align.hpp"

#include <doctest/doctest.h>

#include "tests/support/inferred.hpp"
#include "tests/support/operator_cases.hpp"

using namespace dnnkit;

namespace {

constexpr sym L{"L", {1, 512}};

static_assert(inferred([](builder& g) {
                return roi_align(g.input("x", f32, {2, 3, 8, 9}), g.input("r", f32, {L, 4}), g.input("i", i64, {L}),
                                 {.output_height = 5, .output_width = 7});
              }) == "f32 [L, 3, 5, 7]");

TEST_CASE("roi_align: results from elsewhere, with known and with symbolic extents") {
  const auto outcome = operator_cases::run("roi_align");
  CHECK(outcome.cases >= 20);
  CHECK(outcome.symbolic_graphs >= 12);
}

}  // namespace
