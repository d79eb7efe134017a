// SPDX-License-Identifier: MIT
// Col2Im, AffineGrid, CenterCropPad: shapes and values.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/image_columns.hpp"

#include <doctest/doctest.h>

#include "tests/support/inferred.hpp"
#include "tests/support/operator_cases.hpp"

using namespace dnnkit;

namespace {

constexpr sym L{"L", {1, 512}};

static_assert(inferred([](builder& g) {
                return center_crop_pad(g.input("x", f32, {L, 7, 8}), {.target = {9, 4}, .axes = {1, 2}});
              }) == "f32 [L, 9, 4]");
static_assert(inferred([](builder& g) {
                return affine_grid(g.input("t", f32, {L, 2, 3}), {.size = {g.symbol(L), 3, 4, 5}});
              }) == "f32 [L, 4, 5, 2]");

TEST_CASE("image_columns: results from elsewhere, with known and with symbolic extents") {
  const auto outcome = operator_cases::run("image_columns");
  CHECK(outcome.cases >= 12);
  CHECK(outcome.symbolic_graphs >= 6);
}

}  // namespace
