// SPDX-License-Identifier: MIT
// Tiles that convolutions of several taps get: they have room, and shapes that were measured on an H100 get those that
// docs/measurements/opencl.md compares with the best there.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/opencl/window_tile.hpp"

#include <doctest/doctest.h>

#include <cstdint>

#include "tests/support/random_source.hpp"

namespace cl = dnnkit::opencl;

namespace {

constexpr cl::window_extents square(std::int64_t in, std::int64_t out, std::int64_t size, std::int64_t taps,
                                    std::int64_t stride, std::int64_t groups = 1) {
  return {.m = out / groups,
          .k = in / groups,
          .height = size,
          .width = size,
          .batch = groups,
          .kernel = {taps, taps},
          .stride = {stride, stride}};
}

}  // namespace

static_assert(square(64, 64, 56, 3, 2).reach(0, 4) == 9);
static_assert(square(64, 64, 56, 3, 1).patch({.px = 8, .py = 4}) == 10 * 6);
// Of the sums of many slices, half are added in registers first.
static_assert(square(512, 512, 7, 3, 1).kept_slices({.bm = 8, .px = 7, .py = 4, .slices = 32}) == 32);
static_assert(square(512, 512, 7, 3, 1).kept_slices({.bm = 8, .px = 14, .py = 8, .slices = 16}) == 8);

TEST_CASE("tiles have room in a group") {
  random_source r(1);
  for (int i = 0; i < 100; ++i) {
    const std::int64_t rows = r.between(1, 7), columns = r.between(2, 7);
    const cl::window_extents x{.m = r.between(1, 300),
                               .k = r.between(1, 300),
                               .height = r.between(1, 100),
                               .width = r.between(1, 100),
                               .batch = r.between(1, 9),
                               .kernel = {rows, columns},
                               .stride = {r.between(1, 3), r.between(1, 3)},
                               .dilation = {r.between(1, 2), r.between(1, 2)}};
    CAPTURE(i);
    const cl::window_tile t = cl::choose_window_tile(x);
    if (t.px == 0) continue;
    CHECK(x.local(t) * 4 <= 48 << 10);
    CHECK(x.local(t) >= 2 * x.stage(t));
    CHECK(x.local(t) >= x.kept_slices(t) * t.bm * t.pixels());
    CHECK(x.stage(t) % 4 == 0);
    CHECK(t.pitch() % 4 == 0);
    CHECK(t.items() >= 64);
    CHECK(t.items() <= 512);
    CHECK((t.slices == 1 || t.slices <= x.k));
  }
}

TEST_CASE("tiles that were measured are chosen, and their times within 35 % of what is expected") {
  struct measured {
    cl::window_extents x;
    cl::window_tile tile;  // which is chosen
    double us;             // of a launch on an H100
  };
  constexpr measured table[] = {{square(64, 64, 56, 3, 1), {8, 4, 8, 8, 4, 4}, 13.9},
                                {square(128, 128, 28, 3, 2), {16, 4, 7, 8, 8, 1}, 21.5},
                                {square(128, 128, 28, 3, 1), {8, 4, 14, 8, 8, 2}, 16.0},
                                {square(256, 256, 14, 3, 2), {16, 4, 7, 4, 16, 1}, 25.2},
                                {square(256, 256, 14, 3, 1), {8, 4, 7, 8, 16, 1}, 18.3},
                                {square(512, 512, 7, 3, 2), {8, 4, 7, 4, 16, 1}, 46.7},
                                {square(512, 512, 7, 3, 1), {8, 4, 7, 4, 32, 1}, 24.0},
                                {square(256, 256, 56, 3, 1, 32), {8, 4, 56, 8, 1, 4}, 10.2},
                                {square(3, 64, 112, 7, 2), {16, 4, 16, 8, 1, 1}, 12.4}};
  for (const measured& m : table) {
    CAPTURE(m.us);
    CHECK(cl::choose_window_tile(m.x) == m.tile);
    const double expected = cl::detail::clocks_of_windows(m.x, m.tile, {}) / 1980;
    CHECK(expected > 0.65 * m.us);
    CHECK(expected < 1.35 * m.us);
  }
}
