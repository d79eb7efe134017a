// SPDX-License-Identifier: MIT
// Tiles that products get: they have room, their stages divide into fours, and shapes that were measured on an H100 get
// the tiles that docs/measurements/opencl.md compares with the best there.
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

TEST_CASE("many columns in fours get large tiles, be they a multiple of four or not") {
  CHECK(cl::choose_product_tile({128, 50257, 768}) == cl::product_tile{64, 128, 8, 8, 1, 16, 1});
  CHECK(cl::choose_product_tile({128, 50256, 768}) == cl::product_tile{64, 128, 8, 8, 1, 16, 1});
}

TEST_CASE("tiles that were measured are chosen, and their times within 45 % of what is expected") {
  struct measured {
    cl::product_extents x;
    cl::product_tile tile;  // which is chosen
    double us;              // of a launch on an H100
  };
  constexpr measured table[] = {
      {{128, 768, 768}, {32, 96, 8, 4, 4, 8, 4}, 11.0},     {{128, 2304, 768}, {64, 64, 8, 4, 2, 16, 3}, 21.0},
      {{128, 3072, 768}, {32, 96, 8, 4, 4, 8, 1}, 23.1},    {{128, 768, 3072}, {64, 64, 8, 4, 2, 16, 11}, 23.4},
      {{197, 768, 768}, {32, 64, 8, 4, 4, 8, 3}, 13.8},     {{197, 2304, 768}, {32, 64, 8, 4, 4, 8, 1}, 27.3},
      {{197, 3072, 768}, {64, 96, 8, 4, 2, 16, 1}, 36.2},   {{197, 768, 3072}, {40, 96, 8, 4, 2, 16, 6}, 35.0},
      {{3136, 384, 96}, {32, 96, 8, 4, 2, 8, 1}, 11.1},     {{3136, 96, 384}, {32, 96, 8, 4, 4, 8, 1}, 13.1},
      {{784, 768, 192}, {64, 96, 8, 4, 2, 16, 1}, 12.4},    {{784, 192, 768}, {32, 64, 8, 4, 4, 8, 3}, 13.7},
      {{196, 1536, 384}, {40, 64, 8, 4, 4, 8, 1}, 13.1},    {{196, 384, 1536}, {32, 64, 8, 4, 4, 8, 6}, 13.9},
      {{49, 3072, 768}, {32, 96, 8, 4, 4, 8, 2}, 15.3},     {{49, 768, 3072}, {32, 64, 8, 4, 4, 8, 11}, 14.9},
      {{196, 1024, 256}, {32, 32, 8, 4, 8, 8, 1}, 8.5},     {{196, 256, 1024}, {32, 32, 8, 4, 8, 8, 4}, 10.2},
      {{1024, 1024, 1024}, {64, 64, 8, 4, 2, 16, 1}, 59.3}, {{4096, 4096, 4096}, {64, 128, 8, 8, 1, 16, 1}, 2896.2},
      {{384, 768, 3072}, {64, 96, 8, 8, 2, 8, 5}, 58.5},    {{77, 3072, 768}, {40, 96, 8, 4, 2, 16, 4}, 17.7},
      {{257, 1024, 4096}, {64, 64, 8, 4, 2, 16, 3}, 87.7},  {{512, 512, 2048}, {64, 64, 8, 4, 2, 16, 4}, 36.0},
      {{300, 256, 2048}, {32, 64, 8, 4, 4, 8, 6}, 16.9},    {{1500, 384, 384}, {64, 96, 8, 4, 2, 16, 1}, 20.2},
      {{50, 2048, 512}, {32, 32, 4, 4, 8, 8, 1}, 9.2},      {{577, 768, 768}, {64, 64, 8, 4, 2, 16, 2}, 27.2},
      {{64, 3136, 64}, {32, 32, 8, 4, 8, 8, 1}, 5.9},       {{256, 3136, 64}, {64, 96, 8, 4, 2, 16, 1}, 8.1},
      {{64, 3136, 256}, {32, 32, 8, 4, 8, 8, 1}, 8.7},      {{128, 3136, 256}, {32, 96, 8, 4, 4, 8, 1}, 10.8},
      {{512, 784, 128}, {32, 56, 8, 4, 4, 16, 1}, 8.0},     {{128, 784, 512}, {32, 32, 4, 4, 8, 8, 1}, 9.5},
      {{256, 784, 512}, {32, 56, 8, 4, 4, 16, 1}, 11.7},    {{1024, 196, 256}, {32, 56, 8, 4, 4, 16, 1}, 8.0},
      {{256, 196, 1024}, {32, 56, 8, 4, 4, 16, 4}, 10.1},   {{512, 196, 1024}, {32, 56, 8, 4, 4, 16, 4}, 13.8},
      {{2048, 49, 512}, {32, 32, 4, 4, 8, 8, 1}, 10.2},     {{512, 49, 2048}, {32, 32, 4, 4, 8, 8, 4}, 11.8}};
  for (measured m : table) {
    m.x.is_gathered = m.x.n % 4 != 0;  // pixels as they lie
    CAPTURE(m.x.m);
    CAPTURE(m.x.n);
    CAPTURE(m.x.k);
    CHECK(cl::choose_product_tile(m.x) == m.tile);
    const double expected = cl::detail::clocks_of_tile(m.x, m.tile, {}) / 1980;
    CHECK(expected > 0.55 * m.us);
    CHECK(expected < 1.45 * m.us);
  }
}
