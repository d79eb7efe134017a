// SPDX-License-Identifier: MIT
// LABELS: no_sanitize
// Winograd's convolutions of windows wider than three taps against plain loops in double, with vectors of output
// channels and along rows of tiles: the largest error is within what is said, for sizes that tiles do not divide,
// windows that segments do not, channels that vectors do not, images and strips.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/cpu/micro/wide_winograd.hpp"

#include <cmath>
#include <cstddef>

#include "tests/support/thoroughly.hpp"
#include "wide_winograd_problem.hpp"

using namespace dnnkit::cpu;
using namespace reference;

namespace {

template <wide_winograd_attributes A>
void check_run_time(index_t images, index_t h, index_t w, index_t pad_h, index_t pad_w, bool with_bias = true) {
  CAPTURE(h);
  CAPTURE(w);
  CAPTURE(A.taps_h);
  CAPTURE(A.taps_w);
  CAPTURE(A.in_channels);
  CAPTURE(A.out_channels);
  const auto p = problem<convolution_of(A)>(images, 1, h, w, 0, pad_h, pad_w);
  const auto x = values(images * A.in_channels * h * w);
  const haloed close(p, x, 0), wide(p, x, 3);
  const auto check = [&](auto kernel, const haloed& input) {
    kernel.images = images;
    kernel.out_h = p.out(1);
    kernel.out_w = p.out(2);
    kernel.row_stride = input.row_stride;
    kernel.image_stride = input.image_stride;
    const double error = error_of(p, kernel, input, x, with_bias);
    CHECK(error <= allowed_of(A));
    CHECK(error > 1e-9);  // it is no direct convolution in double
  };
  check(wide_winograd<A>{}, close);
  wide_winograd<A, index_t, index_t, index_t, index_t> of_any_stride;
  of_any_stride.pixel_stride = wide.pixel_stride;
  check(of_any_stride, wide);
  constexpr wide_winograd_attributes row_by_row = [] {
    wide_winograd_attributes a = A;
    a.takes_rows = true;
    return a;
  }();
  check(wide_winograd<row_by_row>{}, wide);
}

}  // namespace

TEST_CASE("a segment at the points, interpolated, is the segment") {
  using axis = segmented_axis<9>;
  static_assert(axis::segments == 3 && segmented_axis<7>::segments == 3 && segmented_axis<5>::segments == 2 &&
                segmented_axis<3>::segments == 1 && segmented_axis<1>::segments == 1);
  constexpr double filters[3] = {1, -2, 3};
  const double g[3][1] = {{1}, {-2}, {3}};
  float u[axis::points];
  winograd_filters<axis, winograd_axis<1, 1, 1>>(g, u, 1);
  for (int at = 0; at < axis::inputs; ++at) {
    float_vec d[axis::inputs], m[axis::points], y[axis::outputs];
    for (int i = 0; i < axis::inputs; ++i) d[i] = float_vec(i == at ? 1.0f : 0.0f);
    axis::input(d, m);
    for (int i = 0; i < axis::points; ++i) m[i] = m[i] * float_vec(u[i]);
    axis::output(m, y);
    for (int i = 0; i < axis::outputs; ++i)
      CHECK(std::abs(static_cast<double>(y[i][0]) - (at - i >= 0 && at - i < 3 ? filters[at - i] : 0)) <= 2e-6);
  }
}

TEST_CASE("vectors of output channels, random sizes at run time") {
  for (int round = 0; round < 3; ++round) {
    const auto size = [](index_t least) { return least + pick(0, 40); };
    check_run_time<wide_winograd_attributes{.in_channels = 3, .out_channels = 32, .taps_h = 9, .taps_w = 9}>(
        1, size(1), size(1), 4, 4, round % 2 == 0);
    check_run_time<wide_winograd_attributes{.in_channels = 2, .out_channels = 5, .taps_h = 4, .taps_w = 6, .strip = 2}>(
        2, size(4), size(6), 2, 0);
    check_run_time<wide_winograd_attributes{.in_channels = 16, .out_channels = 18, .taps_h = 8, .taps_w = 1}>(
        1, size(8), size(1), 0, 0);
    check_run_time<wide_winograd_attributes{
        .in_channels = 20, .out_channels = 16, .taps_h = 3, .taps_w = 11, .strip = 1, .panel_vectors = 1}>(
        1, size(3), size(11), 1, 2);
    harness::thoroughly([&](auto) {
      check_run_time<wide_winograd_attributes{
          .in_channels = 1, .out_channels = 20, .taps_h = 5, .taps_w = 5, .strip = 1}>(pick(1, 3), size(5), size(5), 0,
                                                                                       1);
      check_run_time<wide_winograd_attributes{
          .in_channels = 17, .out_channels = 70, .taps_h = 7, .taps_w = 5, .strip = 1}>(1, size(3), size(3), 2, 1);
      check_run_time<wide_winograd_attributes{
          .in_channels = 9, .out_channels = 36, .taps_h = 1, .taps_w = 7, .strip = 2}>(2, size(1), size(7), 0, 3);
      check_run_time<wide_winograd_attributes{.in_channels = 4, .out_channels = 48, .taps_h = 5, .taps_w = 2}>(
          1, size(5), size(2), 1, 0);
    });
  }
}

TEST_CASE("vectors along rows of tiles, random sizes at run time") {
  for (int round = 0; round < 3; ++round) {
    const auto size = [](index_t least) { return least + pick(0, 40); };
    check_run_time<wide_winograd_attributes{
        .in_channels = 32, .out_channels = 3, .taps_h = 9, .taps_w = 9, .along_rows = true, .strip = 1}>(
        1, size(1), 3 * size(1), 4, 4, round % 2 == 0);
    check_run_time<wide_winograd_attributes{.in_channels = 18,
                                            .out_channels = 9,
                                            .taps_h = 7,
                                            .taps_w = 4,
                                            .along_rows = true,
                                            .strip = 2,
                                            .panel_vectors = 2}>(2, size(7), 3 * size(4), 0, 0);
    check_run_time<wide_winograd_attributes{.in_channels = 16,
                                            .out_channels = 2,
                                            .taps_h = 6,
                                            .taps_w = 1,
                                            .along_rows = true,
                                            .strip = 1,
                                            .panel_vectors = 2}>(1, size(6), size(1), 1, 0);
    harness::thoroughly([&](auto) {
      check_run_time<wide_winograd_attributes{.in_channels = 5,
                                              .out_channels = 1,
                                              .taps_h = 5,
                                              .taps_w = 5,
                                              .along_rows = true,
                                              .strip = 1,
                                              .panel_vectors = 1}>(pick(1, 3), size(5), 2 * size(5), 0, 1);
      check_run_time<wide_winograd_attributes{.in_channels = 7,
                                              .out_channels = 4,
                                              .taps_h = 1,
                                              .taps_w = 13,
                                              .along_rows = true,
                                              .strip = 1,
                                              .panel_vectors = 1}>(1, size(1), 3 * size(13), 0, 5);
    });
  }
}

TEST_CASE("known sizes") {
  const auto check = [](double error, double allowed) {
    CHECK(error <= allowed);
    CHECK(error > 1e-9);
    MESSAGE("error " << error << " of " << allowed);
  };
  constexpr wide_winograd_attributes first{.in_channels = 3, .out_channels = 32, .taps_h = 9, .taps_w = 9, .strip = 2};
  check(error_of_known<first, 31, 130>(1), allowed_of(first));
  constexpr wide_winograd_attributes last{
      .in_channels = 32, .out_channels = 3, .taps_h = 9, .taps_w = 9, .along_rows = true, .strip = 1};
  check(error_of_known<last, 40, 219>(2), allowed_of(last));
}
