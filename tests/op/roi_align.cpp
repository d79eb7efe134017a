// SPDX-License-Identifier: MIT
// RoiAlign: shapes and values.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/roi_align.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "dnnkit/reference/evaluator.hpp"
#include "tests/support/inferred.hpp"
#include "tests/support/operator_cases.hpp"

using namespace dnnkit;

namespace {

constexpr sym L{"L", {1, 512}};

static_assert(inferred([](builder& g) {
                return roi_align(g.input("x", f32, {2, 3, 8, 9}), g.input("r", f32, {L, 4}), g.input("i", i64, {L}),
                                 {.output_height = 5, .output_width = 7});
              }) == "f32 [L, 3, 5, 7]");

TEST_CASE("roi_align: a region that is no number, infinite or far away is sampled outside the image") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  for (const roi_pooling mode : {roi_pooling::average, roi_pooling::best})
    for (const std::int64_t ratio : {0, 1, 3})
      for (const std::int64_t height : {0, 2}) {
        builder g;
        const tensor image = g.input("x", f32, {1, 1, height, 3}), regions = g.input("r", f32, {1, 4});
        g.output("y", roi_align(image, regions, g.input("i", i64, {1}),
                                {.mode = mode, .output_height = 2, .output_width = 2, .sampling_ratio = ratio}));
        REQUIRE(g.value().error.str() == "");
        host_tensor x(f32, {1, 1, height, 3}), rois(f32, {1, 4});
        x.reals.assign(x.reals.size(), 1);
        for (const double first : {nan, inf, -inf, 1e30, -1e30})
          for (const double last : {nan, inf, -inf, 2.0}) {
            if (first == -1e30 && last > 1) continue;  // the image is part of it
            rois.reals = {first, first, last, last};
            const host_tensor y = evaluate(g.value(), {x, rois, host_tensor(i64, {1})})[0];
            CAPTURE(first);
            CAPTURE(last);
            CHECK(y.reals == std::vector<double>(4, 0.0));
          }
      }
}

TEST_CASE("roi_align: results from elsewhere, with known and with symbolic extents") {
  const auto outcome = operator_cases::run("roi_align");
  CHECK(outcome.cases >= 20);
  CHECK(outcome.symbolic_graphs >= 12);
}

}  // namespace
