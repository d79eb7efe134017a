// SPDX-License-Identifier: MIT
// Tiles that products get: they have room, their stages divide into fours, and the shapes that were measured on an H200
// get tiles that are expected to be as fast as the best found there.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/opencl/product_tile.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>

#include "tests/support/random_source.hpp"

namespace cl = dnnkit::opencl;

static_assert(cl::product_tile{64, 128, 8, 8, 1, 16}.items() == 128);
static_assert(cl::product_tile{32, 32, 8, 4, 8, 8}.local() == 2 * 8 * (32 * 12 + 8 * 32));
static_assert(cl::choose_product_tile({4096, 4096, 4096}) == cl::product_tile{64, 128, 8, 8, 1, 16});
static_assert(cl::choose_product_tile({128, 768, 768}) == cl::product_tile{32, 32, 8, 4, 8, 8});
// Slices where there are too few tiles, and the smallest tile where there are still.
static_assert(cl::choose_product_tile({512, 49, 4608}).slices >= 8);
static_assert(cl::choose_product_tile({512, 49, 4608}).bn == 16);
static_assert(cl::choose_product_tile({1024, 196, 256}).bn == 28);

TEST_CASE("tiles have room in a group, and a group has items for whole warps") {
  random_source r(1);
  for (int i = 0; i < 300; ++i) {
    const cl::product_extents x{r.between(1, 5000), r.between(1, 5000), r.between(1, 5000), r.between(1, 20)};
    const std::int64_t depth = r.chance(50) ? 0 : 4 * r.between(2, 13);
    CAPTURE(x.m);
    CAPTURE(x.n);
    CAPTURE(x.k);
    CAPTURE(depth);
    const cl::product_tile t = cl::choose_product_tile(x, depth);
    CHECK(t.local() * 4 <= 48 << 10);
    CHECK(t.items() >= 64);
    CHECK(t.items() <= 512);
    CHECK(t.bm % t.tm == 0);
    CHECK(t.bn % t.tn == 0);
    CHECK(t.tn % 4 == 0);
    CHECK((depth == 0 ? t.depth % 4 == 0 : t.depth == depth));
  }
}

TEST_CASE("the clocks of the best measured tiles are within 30 % of the measured times at 1.98 GHz, less 2 us") {
  struct measured {
    cl::product_extents x;
    cl::product_tile tile;
    double us;
  };
  constexpr measured table[] = {
      {{128, 768, 768}, {32, 32, 8, 4, 8, 8}, 10.2},    {{128, 3072, 768}, {32, 32, 8, 4, 4, 16}, 23.4},
      {{128, 768, 3072}, {32, 32, 8, 4, 8, 8}, 31.9},   {{197, 768, 768}, {16, 32, 4, 4, 4, 16}, 15.8},
      {{197, 3072, 768}, {64, 96, 8, 4, 2, 16}, 39.4},  {{197, 768, 3072}, {16, 32, 4, 4, 4, 16}, 55.2},
      {{3136, 384, 96}, {64, 48, 8, 4, 1, 32}, 10.6},   {{784, 768, 192}, {32, 32, 4, 4, 2, 32}, 12.0},
      {{1024, 1024, 1024}, {64, 64, 8, 8, 2, 8}, 61.1}, {{4096, 4096, 4096}, {128, 128, 8, 8, 1, 16}, 3207}};
  for (const measured& m : table) {
    CAPTURE(m.us);
    const double expected = cl::detail::clocks_of_tile(m.x, m.tile, {}) / 1980;
    CHECK(expected > 0.7 * (m.us - 2));
    CHECK(expected < 1.3 * (m.us - 2));
    CHECK(cl::detail::clocks_of_tile(m.x, cl::choose_product_tile(m.x), {}) / 1980 <= 1.05 * expected);
  }
}
