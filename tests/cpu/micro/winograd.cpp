// SPDX-License-Identifier: MIT
// LABELS: no_sanitize
// Winograd's convolutions against plain loops in double, along one axis and two, in steps of one and two: the largest
// error is within what is said of tiles of 2, 4 and 6 outputs along an axis, for sizes that tiles do not divide,
// channels that vectors do not, groups, images, planes, parts and blocks.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/cpu/micro/winograd.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "tests/support/thoroughly.hpp"
#include "winograd_problem.hpp"

using namespace dnnkit::cpu;
using namespace reference;

namespace {

template <winograd_attributes A>
void check_run_time(index_t images, index_t d, index_t h, index_t w, index_t pad, bool with_bias = true) {
  CAPTURE(h);
  CAPTURE(w);
  CAPTURE(A.in_channels);
  CAPTURE(A.out_channels);
  const auto p = problem<convolution_of(A)>(images, d, h, w, 0, pad, pad);
  const auto x = values(images * A.in_channels * d * h * w);
  const haloed close(p, x, 0), wide(p, x, 3);
  const auto check = [&](auto kernel, const haloed& input) {
    kernel.images = images;
    kernel.out_h = p.out(1);
    kernel.out_w = p.out(2);
    kernel.row_stride = input.row_stride;
    kernel.image_stride = input.image_stride;
    kernel.out_d = p.out(0);
    kernel.depth_stride = input.depth_stride;
    kernel.is_one_element = (A.taps_h == 1 || (h == 1 && pad == 1)) && (A.taps_w == 1 || (w == 1 && pad == 1));
    CHECK(error_of(p, kernel, input, x, with_bias) <= allowed_of(A));
  };
  check(winograd<A>{}, close);
  winograd<A, index_t, index_t, index_t, index_t, index_t, index_t> of_any_stride;
  of_any_stride.pixel_stride = wide.pixel_stride;
  check(of_any_stride, wide);
}

template <winograd_attributes A, index_t Images, index_t H, index_t W> struct problem_of {};

}  // namespace

namespace {

// Of each element of the input alone, from the first of them on: the sum of products at all points is the sum of
// products of taps. `axis` has the weights of `whole`.
template <class whole, class axis> void check_axis_by(int taps, int stride, int first, int last, double allowed) {
  constexpr double filters[3] = {1, -2, 3};
  double g[whole::of_filter[0].size()][1];
  for (int t = 0; t < taps; ++t) g[t][0] = filters[t];
  float u[whole::weights];
  winograd_filters<whole, winograd_axis<1, 1, 1>>(g, u, 1);
  for (int at = first; at < last; ++at) {
    float_vec d[axis::inputs], m[axis::points], y[axis::outputs];
    for (int i = 0; i < axis::inputs; ++i) d[i] = float_vec(i == at ? 1.0f : 0.0f);
    axis::input(d, m);
    for (int i = 0; i < axis::points; ++i) m[i] = m[i] * float_vec(u[axis::weight_of(i)]);
    axis::output(m, y);
    for (int i = 0; i < axis::outputs; ++i) {
      const int tap = at - i * stride;
      const double want = tap >= 0 && tap < taps ? filters[tap] : 0;
      CHECK(std::abs(static_cast<double>(y[i][0]) - want) <= allowed);
    }
  }
}
template <int Taps, int Stride, int Outputs> void check_axis() {
  using axis = winograd_axis<Taps, Stride, Outputs>;
  using two = axis_of_two<axis>;
  check_axis_by<axis, axis>(Taps, Stride, 0, axis::inputs, Outputs == 6 ? 1e-5 : 2e-6);
  check_axis_by<axis, two>(Taps, Stride, 0, two::inputs, 2e-6);
  check_axis_by<axis, axis_of_one<axis>>(Taps, Stride, Taps / 2, Taps / 2 + 1, 1e-6);  // the middle one
}

}  // namespace

TEST_CASE("a filter at the points, interpolated, is the filter") {
  check_axis<1, 1, 1>();
  check_axis<3, 1, 2>();
  check_axis<3, 1, 4>();
  check_axis<3, 1, 6>();
  check_axis<3, 2, 2>();
  check_axis<3, 2, 4>();
  check_axis<3, 2, 6>();
}

TEST_CASE("random sizes at run time") {
  for (int round = 0; round < 4; ++round) {
    const auto size = [] { return pick(1, 23); };
    check_run_time<winograd_attributes{.in_channels = 16, .out_channels = 32, .block = 7}>(pick(1, 3), 1, size(),
                                                                                           size(), 1);
    check_run_time<winograd_attributes{.in_channels = 5, .out_channels = 19, .block = 4, .parts = 2}>(
        1, 1, size(), size(), 1, round % 2 == 0);
    check_run_time<winograd_attributes{.in_channels = 24, .out_channels = 70, .groups = 2, .block = 3, .parts = 3}>(
        1, pick(1, 3), size() + 2, size() + 2, 0);
    check_run_time<winograd_attributes{.in_channels = 5, .out_channels = 19, .taps_w = 1, .block = 4, .parts = 2}>(
        1, pick(1, 3), size() + 2, size(), 0);
    check_run_time<winograd_attributes{
        .in_channels = 17, .out_channels = 20, .taps_w = 1, .stride_h = 2, .block = 40, .parts = 2}>(1, 1, pick(14, 50),
                                                                                                     size(), 1);
    check_run_time<winograd_attributes{
        .in_channels = 24, .out_channels = 70, .groups = 2, .stride_h = 2, .block = 3, .parts = 3}>(
        1, 1, 2 * size() + 2, size() + 2, 0);
    check_run_time<winograd_attributes{.in_channels = 18, .out_channels = 33, .taps_d = 3, .block = 7, .parts = 2}>(
        pick(1, 2), pick(3, 5), size(), size(), 1);
    check_run_time<winograd_attributes{.in_channels = 24, .out_channels = 18, .outputs = 2, .block = 14}>(
        pick(1, 2), 1, size(), size(), 1);
    check_run_time<winograd_attributes{
        .in_channels = 12, .out_channels = 36, .groups = 2, .outputs = 6, .block = 9, .parts = 2}>(1, 1, size(), size(),
                                                                                                   1);
    harness::thoroughly([&](auto) {
      check_run_time<winograd_attributes{.in_channels = 9, .out_channels = 36, .block = 40, .parts = 2}>(
          2, 1, pick(14, 23), pick(14, 23), 1);
      check_run_time<winograd_attributes{.in_channels = 12, .out_channels = 36, .groups = 4, .block = 5}>(2, 1, size(),
                                                                                                          size(), 1);
      check_run_time<winograd_attributes{.in_channels = 16, .out_channels = 32, .taps_h = 1, .block = 7}>(
          pick(1, 3), 1, size(), size(), 1);
      check_run_time<winograd_attributes{
          .in_channels = 9, .out_channels = 36, .taps_h = 1, .stride_w = 2, .block = 13}>(2, 1, size(), 3 * size(), 1);
      check_run_time<winograd_attributes{
          .in_channels = 16, .out_channels = 20, .stride_h = 2, .stride_w = 2, .block = 5}>(pick(1, 2), 1, 2 * size(),
                                                                                            2 * size(), 1);
      check_run_time<winograd_attributes{
          .in_channels = 10, .out_channels = 16, .stride_w = 2, .taps_d = 2, .stride_d = 2, .block = 12}>(
          1, pick(2, 6), size(), size() + 2, 1);
    });
  }
}

TEST_CASE("images of one element and of two along an axis, of sizes known at run time") {
  for (index_t h = 1; h <= 4; ++h)
    for (index_t w = 1; w <= 4; ++w) {
      check_run_time<winograd_attributes{.in_channels = 16, .out_channels = 32, .block = 7}>(pick(1, 9), 1, h, w, 1);
      check_run_time<winograd_attributes{.in_channels = 9, .out_channels = 17, .outputs = 2, .block = 1}>(2, 1, h, w,
                                                                                                          1);
      check_run_time<winograd_attributes{
          .in_channels = 5, .out_channels = 16, .stride_h = 2, .stride_w = 2, .outputs = 2, .block = 3}>(3, 1, h, w, 1);
      check_run_time<winograd_attributes{
          .in_channels = 20, .out_channels = 19, .taps_w = 1, .stride_h = 2, .block = 4}>(1, 1, h, w, 1);
      harness::thoroughly([&](auto) {
        check_run_time<winograd_attributes{
            .in_channels = 6, .out_channels = 34, .groups = 2, .outputs = 6, .block = 5}>(1, 1, h, w, 1);
        check_run_time<winograd_attributes{
            .in_channels = 18, .out_channels = 33, .stride_h = 2, .stride_w = 2, .block = 6, .parts = 2}>(1, 1, h, w,
                                                                                                          1);
        check_run_time<winograd_attributes{
            .in_channels = 5, .out_channels = 16, .stride_w = 2, .outputs = 6, .block = 2}>(1, 1, h, w, 1);
        check_run_time<winograd_attributes{.in_channels = 20, .out_channels = 19, .taps_h = 1, .block = 4}>(
            1, pick(1, 2), h, w, 1);
        check_run_time<winograd_attributes{.in_channels = 18, .out_channels = 33, .taps_d = 3, .block = 7, .parts = 2}>(
            1, pick(3, 4), h, w, 1);
      });
    }
}

TEST_CASE("known sizes, blocks of two sizes") {
  const auto check =
      []<winograd_attributes A, index_t Images, index_t H, index_t W>(problem_of<A, Images, H, W>) -> void {
    CAPTURE(A.in_channels);
    CAPTURE(A.outputs);
    const double error = error_of_known<A, Images, H, W>();
    CHECK(error <= allowed_of(A));
    CHECK(error > 1e-9);  // it is no direct convolution in double
  };
  // rows that products cut, of 36 tiles
  check(problem_of<winograd_attributes{.in_channels = 8, .out_channels = 24, .block = 40}, 1, 23, 24>{});
  check(problem_of<winograd_attributes{.in_channels = 3, .out_channels = 33, .block = 4}, 2, 9, 11>{});
  check(problem_of<winograd_attributes{.in_channels = 54, .out_channels = 72, .groups = 3, .block = 12, .parts = 2}, 1,
                   13, 8>{});
  check(problem_of<winograd_attributes{.in_channels = 16, .out_channels = 64, .taps_h = 1, .stride_w = 2, .block = 24},
                   1, 1, 301>{});
  // tiles of 2 and 6
  check(problem_of<winograd_attributes{.in_channels = 20, .out_channels = 33, .outputs = 2, .block = 16}, 1, 7, 7>{});
  check(problem_of<winograd_attributes{
                       .in_channels = 17, .out_channels = 20, .stride_h = 2, .stride_w = 2, .outputs = 2, .block = 5},
                   1, 15, 9>{});
  check(problem_of<winograd_attributes{
                       .in_channels = 17, .out_channels = 20, .stride_h = 2, .stride_w = 2, .outputs = 6, .block = 5},
                   1, 27, 30>{});
  harness::thoroughly([&](auto) {
    check(problem_of<winograd_attributes{.in_channels = 16, .out_channels = 16, .block = 6}, 1, 14, 14>{});
    check(problem_of<winograd_attributes{.in_channels = 8, .out_channels = 64, .block = 12, .parts = 4}, 1, 1, 30>{});
    check(
        problem_of<winograd_attributes{.in_channels = 20, .out_channels = 33, .stride_h = 2, .stride_w = 2, .block = 4},
                   1, 18, 30>{});
    check(problem_of<winograd_attributes{.in_channels = 5, .out_channels = 16, .taps_h = 1, .outputs = 2, .block = 9},
                     2, 5, 12>{});
    check(
        problem_of<winograd_attributes{.in_channels = 20, .out_channels = 33, .outputs = 6, .block = 9}, 1, 23, 14>{});
    check(problem_of<winograd_attributes{.in_channels = 33, .out_channels = 20, .taps_w = 1, .outputs = 6, .block = 9},
                     2, 14, 5>{});
    check(problem_of<winograd_attributes{
                         .in_channels = 9, .out_channels = 36, .taps_h = 1, .stride_w = 2, .outputs = 6, .block = 13},
                     1, 2, 77>{});
  });
}
