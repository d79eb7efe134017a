// SPDX-License-Identifier: MIT
// GridSample: shapes and values.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/grid_sample.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "dnnkit/graph/builder.hpp"
#include "dnnkit/reference/evaluator.hpp"
#include "tests/support/inferred.hpp"
#include "tests/support/operator_cases.hpp"

using namespace dnnkit;

namespace {

constexpr sym L{"L", {1, 512}};

static_assert(inferred([](builder& g) {
                return grid_sample(g.input("x", f32, {2, 3, L, 9}), g.input("g", f32, {2, 7, L, 2}));
              }) == "f32 [2, 3, 7, L]");

TEST_CASE("grid_sample: results from elsewhere, with known and with symbolic extents") {
  const auto outcome = operator_cases::run("grid_sample");
  CHECK(outcome.cases >= 36);
  CHECK(outcome.symbolic_graphs >= 26);
}

TEST_CASE("grid_sample: what is sampled from an image without elements is 0") {
  for (const grid_sample_mode mode : {grid_sample_mode::nearest, grid_sample_mode::bilinear, grid_sample_mode::bicubic})
    for (const grid_padding padding : {grid_padding::zeros, grid_padding::border, grid_padding::reflection}) {
      builder g;
      const tensor image = g.input("image", f32, {1, 1, 0, 3}), grid = g.input("grid", f32, {1, 1, 2, 2});
      g.output("y", grid_sample(image, grid, {.mode = mode, .padding_mode = padding}));
      REQUIRE(g.value().error.str() == "");
      const std::vector<host_tensor> inputs{host_tensor(f32, {1, 1, 0, 3}), host_tensor({1, 1, 2, 2}, {0, 0, -1, 1})};
      CHECK(evaluate(g.value(), inputs)[0].reals == std::vector<double>{0, 0});
    }
}

}  // namespace
