// SPDX-License-Identifier: MIT
// Tiles that depthwise convolutions get: they have room, and channels that come with a pixel go to different banks of
// local memory.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/opencl/depthwise_tile.hpp"

#include <doctest/doctest.h>

#include <cstdint>

#include "tests/support/random_source.hpp"

namespace cl = dnnkit::opencl;

namespace {

constexpr cl::depthwise_extents square(std::int64_t channels, std::int64_t size, std::int64_t taps, std::int64_t stride,
                                       bool reads_channels) {
  return {{.m = channels, .height = size, .width = size, .kernel = {taps, taps}, .stride = {stride, stride}},
          reads_channels};
}

}  // namespace

static_assert(square(96, 56, 7, 1, true).patch({.px = 14, .rows = 7, .bands = 2}) == 20 * 20);
static_assert(square(96, 56, 7, 1, true).pitch({.px = 14, .rows = 7, .bands = 2}) == 420);
static_assert(square(96, 56, 7, 1, true).pitch({.px = 14, .rows = 7, .bands = 2}) % 32 == 4);
static_assert(square(96, 56, 7, 1, false).pitch({.px = 14, .rows = 7, .bands = 2}) == 400);
static_assert(square(96, 56, 3, 2, false).patch({.px = 8, .rows = 4, .bands = 1}) == 9 * 17);

TEST_CASE("tiles have room in a group") {
  random_source r(1);
  for (int i = 0; i < 200; ++i) {
    const std::int64_t rows = r.between(1, 9), columns = r.between(2, 9);
    const cl::depthwise_extents x{{.m = r.between(2, 300),
                                   .height = r.between(1, 100),
                                   .width = r.between(1, 100),
                                   .batch = r.between(1, 9),
                                   .kernel = {rows, columns},
                                   .stride = {r.between(1, 3), r.between(1, 3)},
                                   .dilation = {r.between(1, 2), r.between(1, 2)}},
                                  r.between(0, 1) == 1};
    CAPTURE(i);
    const cl::product_gpu gpu;
    const cl::depthwise_tile t = cl::choose_depthwise_tile(x, gpu);
    if (t.px == 0) continue;
    CHECK(x.local(t) <= gpu.group_local);
    CHECK(t.items() <= gpu.group_items);
    CHECK(t.items() >= 64);
    CHECK(t.px <= x.width);
  }
}

TEST_CASE("small images have a tile where some channels make enough work-items") {
  CHECK(cl::choose_depthwise_tile(square(768, 7, 7, 1, true)).px == 7);
  CHECK(cl::choose_depthwise_tile(square(2, 3, 3, 1, false)).px == 0);  // strips are for those
}
