// SPDX-License-Identifier: MIT
// Tiles that products get: they have room, their stages divide into fours, and shapes that were measured on an H100 get
// the tiles that docs/measurements.md compares with the best there.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/opencl/product_tile.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>

#include "tests/support/random_source.hpp"

namespace cl = dnnkit::opencl;

static_assert(cl::product_tile{64, 128, 8, 8, 1, 16}.items() == 128);
static_assert(cl::product_tile{32, 32, 8, 4, 8, 8}.local() == 2 * 8 * 8 * (36 + 32));
static_assert(cl::product_tile{32, 96, 8, 4, 4, 8}.local() == 4 * 32 * 96);  // of sums
static_assert(cl::product_tile{32, 64, 8, 4, 4, 8}.has_pairs() && !cl::product_tile{40, 64, 8, 4, 4, 8}.has_pairs());
// Slices, and groups that share a tile, where there are too few tiles.
static_assert(cl::choose_product_tile({4096, 4096, 4096}).slices == 1);
static_assert(cl::choose_product_tile({4096, 4096, 4096}).parts == 1);
static_assert(cl::choose_product_tile({512, 49, 4608}).slices >= 4);
static_assert(cl::choose_product_tile({512, 49, 4608}).parts >= 4);
static_assert(cl::choose_product_tile({512, 49, 4608, 20}).parts == 1);
static_assert(cl::choose_product_tile({1024, 196, 256}).bn == 56);
// None where groups cannot hand over sums.
static_assert(cl::choose_product_tile({128, 768, 3072}).parts == 11);
static_assert(cl::choose_product_tile({128, 768, 3072}, 0, {.parts = 1}).parts == 1);

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
    const std::int64_t tiles = x.batch * ((x.m + t.bm - 1) / t.bm) * ((x.n + t.bn - 1) / t.bn);
    CHECK(t.parts >= 1);
    CHECK((t.parts == 1 || (tiles * t.parts <= 2 * 132 && t.parts * t.slices * t.depth <= x.k)));
    CHECK((depth == 0 ? t.depth % 4 == 0 : t.depth == depth));
  }
}

TEST_CASE("tiles that were measured are chosen, and their times within 45 % of what is expected") {
  struct measured {
    cl::product_extents x;
    cl::product_tile tile;  // which is chosen
    double us;              // of a launch on an H100
  };
  constexpr measured table[] = {
      {{128, 768, 768}, {16, 16, 4, 4, 8, 16}, 11.8},    {{128, 2304, 768}, {32, 96, 8, 4, 4, 8}, 23.5},
      {{128, 3072, 768}, {32, 96, 8, 4, 4, 8}, 23.7},    {{128, 768, 3072}, {32, 32, 8, 4, 8, 8}, 38.9},
      {{197, 768, 768}, {16, 16, 4, 4, 4, 32}, 17.0},    {{197, 2304, 768}, {32, 64, 8, 4, 2, 16}, 29.4},
      {{197, 3072, 768}, {64, 96, 8, 4, 2, 16}, 38.0},   {{197, 768, 3072}, {16, 16, 4, 4, 4, 32}, 56.5},
      {{3136, 384, 96}, {32, 96, 8, 4, 1, 32}, 12.0},    {{3136, 96, 384}, {32, 96, 8, 4, 4, 8}, 13.3},
      {{784, 768, 192}, {64, 96, 8, 4, 2, 16}, 12.5},    {{784, 192, 768}, {16, 16, 4, 4, 4, 32}, 16.5},
      {{196, 1536, 384}, {32, 96, 8, 4, 4, 8}, 13.6},    {{196, 384, 1536}, {32, 32, 8, 4, 8, 8}, 20.0},
      {{49, 3072, 768}, {16, 32, 4, 4, 4, 16}, 16.6},    {{49, 768, 3072}, {16, 16, 4, 4, 8, 16}, 28.1},
      {{196, 1024, 256}, {32, 32, 8, 4, 4, 16}, 8.7},    {{196, 256, 1024}, {16, 16, 4, 4, 8, 16}, 12.2},
      {{1024, 1024, 1024}, {64, 64, 8, 4, 1, 32}, 65.3}, {{4096, 4096, 4096}, {64, 96, 8, 4, 1, 32}, 3422.5},
      {{64, 3136, 64}, {16, 32, 4, 4, 4, 16}, 6.5},      {{256, 3136, 64}, {64, 96, 8, 4, 2, 16}, 8.1},
      {{64, 3136, 256}, {16, 32, 4, 4, 4, 16}, 8.0},     {{128, 3136, 256}, {32, 96, 8, 4, 4, 8}, 10.9},
      {{512, 784, 128}, {32, 56, 8, 4, 2, 32}, 8.5},     {{128, 784, 512}, {16, 16, 4, 4, 8, 16}, 9.0},
      {{256, 784, 512}, {32, 56, 8, 4, 4, 16}, 12.5},    {{1024, 196, 256}, {32, 56, 8, 4, 4, 16}, 8.3},
      {{256, 196, 1024}, {16, 28, 4, 4, 8, 16}, 11.0},   {{512, 196, 1024}, {32, 32, 8, 4, 8, 8}, 16.1},
      {{2048, 49, 512}, {32, 32, 4, 4, 8, 8}, 10.9},     {{512, 49, 2048}, {16, 16, 4, 4, 16, 8}, 14.4}};
  for (const measured& m : table) {
    CAPTURE(m.x.m);
    CAPTURE(m.x.n);
    CAPTURE(m.x.k);
    CHECK(cl::choose_product_tile(m.x) == m.tile);
    const double expected = cl::detail::clocks_of_tile(m.x, m.tile, {}) / 1980;
    CHECK(expected > 0.55 * m.us);
    CHECK(expected < 1.45 * m.us);
  }
}
