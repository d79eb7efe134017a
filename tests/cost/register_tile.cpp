// SPDX-License-Identifier: MIT
// The laws of register tiles over extents from nothing to thousands, on every target, and the widths that follow.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/cost/register_tile.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <initializer_list>

namespace dk = dnnkit;

namespace {

constexpr dk::cpu_facts all_facts[] = {dk::targets::portable::facts, dk::targets::sse2::facts, dk::targets::avx2::facts,
                                       dk::targets::avx512::facts, dk::targets::neon::facts};
constexpr dk::cpu_facts wide = dk::targets::avx512::facts;

constexpr double cycles(const dk::cpu_facts& facts, double rows, double vectors, double depth, int widest) {
  return dk::plan::cycles_of(facts, {.rows = rows, .vectors = vectors, .depth = depth}, widest).all();
}

// Full tiles keep the units for multiply-adds busy; narrow and low ones wait for their sums and their operands.
static_assert(dk::plan::cycles_a_step(wide, 13, 2) == wide.costs.product * 13);
static_assert(dk::plan::cycles_a_step(wide, 9, 3) == wide.costs.product * 27 / 2);
static_assert(dk::plan::cycles_a_step(wide, 1, 2) > 1);
static_assert(dk::plan::cycles_a_step(wide, 14, 1) > 7);

// Where a load brings several elements of the first factor, a tile has room for one such load for each row and two
// vectors of the second factor, and with two vectors for another load for each row; its loads are fewer.
constexpr dk::cpu_facts by_lanes = dk::targets::neon::facts;
constexpr bool fits(int vectors, int loads) {
  return dk::plan::tile_rows(by_lanes, vectors) * (vectors + loads) + 2 <= by_lanes.vector_registers;
}
static_assert(fits(1, 1) && fits(2, 2) && fits(3, 1) && fits(4, 1));
static_assert(dk::plan::tile_rows(by_lanes, 4) == 6 && dk::plan::tile_rows(by_lanes, 3) == 7);
static_assert(dk::plan::cycles_a_step(by_lanes, 14, 1) == by_lanes.costs.product * 7);
static_assert(dk::plan::usual_width(by_lanes) == 4 && dk::plan::usual_width(wide) == 2);

// Rows that begin in one set of the first cache want low tiles, and so wide ones.
constexpr int width(bool rows_collide) {
  return dk::plan::best_width(wide, {.rows = 1024, .vectors = 48, .depth = 1024, .rows_collide = rows_collide}, 2);
}
static_assert(width(false) == 2);
static_assert(width(true) == 3);

}  // namespace

TEST_CASE("pieces are as many as needed, even, and make up the whole") {
  for (double extent = 1; extent < 300; ++extent)
    for (double most = 1; most < 20; ++most) {
      const dk::plan::even_pieces p = dk::plan::cut(extent, most);
      CHECK(p.count == std::ceil(extent / most));
      CHECK(p.count * p.size == doctest::Approx(extent));
      CHECK(p.size <= most);
    }
  CHECK(dk::plan::cut(0, 13).count == 1);  // something begins all the same
  CHECK(dk::plan::cut(0, 13).size == 0);
}

TEST_CASE("products take no less time than their multiply-adds, and more of them no less than fewer") {
  for (const dk::cpu_facts& facts : all_facts)
    for (int widest = 1; widest <= dk::plan::tile_vectors(facts); ++widest)
      for (double rows = 1; rows < 60; ++rows)
        for (double vectors = 1; vectors < 20; ++vectors) {
          CAPTURE(facts.vector_registers);
          CAPTURE(widest);
          CAPTURE(rows);
          CAPTURE(vectors);
          const double here = cycles(facts, rows, vectors, 64, widest);
          CHECK(here >= rows * vectors * 64 / facts.multiply_adds);
          CHECK(cycles(facts, rows + 1, vectors, 64, widest) >= here);
          CHECK(cycles(facts, rows, vectors, 65, widest) > here);
          CHECK(cycles(facts, rows, vectors + widest, 64, widest) >= here);  // a panel more
        }
}

TEST_CASE("without rows, vectors or depth, a number all the same") {
  for (const dk::cpu_facts& facts : all_facts)
    for (const dk::plan::tiled_product& p :
         {dk::plan::tiled_product{0, 4, 4}, dk::plan::tiled_product{4, 0, 4}, dk::plan::tiled_product{4, 4, 0}})
      for (int widest = 1; widest <= dk::plan::tile_vectors(facts); ++widest)
        CHECK(std::isfinite(dk::plan::cycles_of(facts, p, widest).all()));
}

TEST_CASE("the best width is one that fits, and none takes clearly less time") {
  for (const dk::cpu_facts& facts : all_facts)
    for (double rows = 1; rows < 200; rows += 7)
      for (double vectors = 1; vectors < 30; ++vectors) {
        const dk::plan::tiled_product p{.rows = rows, .vectors = vectors, .depth = 256};
        const int best = dk::plan::best_width(facts, p, 2);
        REQUIRE(best >= 1);
        REQUIRE(best <= dk::plan::tile_vectors(facts));
        for (int other = 1; other <= dk::plan::tile_vectors(facts); ++other)
          CHECK(dk::plan::cycles_of(facts, p, best).all() <= dk::plan::cycles_of(facts, p, other).all() / 0.9);
      }
}

TEST_CASE("rows of an output: widths fit, whatever is known") {
  for (const dk::cpu_facts& facts : all_facts)
    for (std::int64_t vectors = 0; vectors < 70; ++vectors)
      for (std::int64_t items = 0; items < 200; ++items) {
        const int width = dk::plan::row_width(facts, vectors, items);
        REQUIRE(width >= 1);
        REQUIRE(width <= dk::plan::tile_vectors(facts));
      }
  CHECK(dk::plan::row_width(wide, 4, 0) == 4);
  CHECK(dk::plan::row_width(wide, 4, 7) == 3);  // four vectors would leave four rows a tile
  CHECK(dk::plan::row_width(wide, 32, 14) ==
        3);  // two tiles of seven rows; of four vectors, three of five, five and four
}
