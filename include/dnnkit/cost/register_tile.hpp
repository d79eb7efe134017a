// SPDX-License-Identifier: MIT
// What products take in register tiles (cpu/micro/tile.hpp): rows x vectors of sums, to each of which a step of the
// reduction adds a product. Which tile is best follows from it.
#pragma once

#include <cstdint>

#include "dnnkit/core/namespaces.hpp"
#include "dnnkit/cost/target.hpp"

namespace dnnkit::plan {

// An extent cut into pieces of at most `most`, as even as can be.
struct even_pieces {
  double count = 0, size = 0;  // on average
};
constexpr even_pieces cut(double extent, double most) {
  auto n = static_cast<double>(static_cast<std::int64_t>(extent / most));
  if (n * most < extent) ++n;
  if (n < 1) n = 1;
  return {n, extent / n};
}

// The most rows of a tile of so many vectors: sums, one row of the second factor and one element of the first in all
// lanes fit the registers. Where a load brings several elements of the first factor: sums, one such load for each row,
// or two where there are few vectors, and two vectors of the second factor.
constexpr int tile_rows(const cpu_facts& facts, int vectors) {
  if (facts.vector_registers == 32 && facts.elements_a_load > 1) return vectors == 1 ? 14 : vectors < 4 ? 7 : 6;
  if (facts.vector_registers == 32) return vectors == 1 ? 14 : vectors == 2 ? 13 : vectors == 3 ? 9 : 6;
  return vectors == 1 ? 8 : vectors == 2 ? 6 : 3;
}
// The same where `most` are asked for, if that is not 0.
constexpr int tile_rows(const cpu_facts& facts, int vectors, int most) {
  const int rows = tile_rows(facts, vectors);
  return most > 0 && most < rows ? most : rows;
}
// The most vectors of a tile.
constexpr int tile_vectors(const cpu_facts& facts) { return facts.vector_registers == 32 ? 4 : 2; }

// The number of vectors of a tile, where nothing says which is best: two, which leave most rows, so that a panel is
// read least often. Where a load brings several elements of the first factor, the widest tiles have nearly as many
// rows, and need fewer loads for a multiply-add.
constexpr int usual_width(const cpu_facts& facts) { return facts.elements_a_load > 1 ? tile_vectors(facts) : 2; }

// Cycles of a step: multiply-adds start so many a cycle, each sum waits for the one before, operands are loaded, the
// second factor comes from the second cache.
constexpr double cycles_a_step(const cpu_facts& facts, double rows, double vectors) {
  const double sums = rows * vectors, second = vectors * facts.float_lanes * 4;
  double cycles = facts.costs.product * sums / facts.multiply_adds;
  if (cycles < facts.costs.latency) cycles = facts.costs.latency;
  const double loads = (rows / facts.elements_a_load + vectors) / facts.loads;
  if (cycles < loads) cycles = loads;
  const double fetched = second / facts.costs.panel;
  if (cycles < fetched) cycles = fetched;
  return cycles;
}

// Do rows of so many bytes begin in one set of the first cache?
constexpr bool rows_collide(const cpu_facts& facts, std::int64_t bytes) {
  return bytes > 0 && bytes % (facts.l1_bytes / facts.l1_ways) == 0;
}

// rows x vectors of sums over `depth` steps, in tiles of as many vectors as `widest` and as many rows as fit.
struct tiled_product {
  double rows = 0, vectors = 0, depth = 0;
  double runs = 1;            // stretches that the reduction of a tile is made of
  bool rows_collide = false;  // the rows of the first factor begin in one set of the first cache
  int most_rows = 0;          // of a tile; 0: as many as registers hold
};
struct tiled_cycles {
  double arithmetic = 0, starts = 0;
  constexpr double all() const { return arithmetic + starts; }
};
constexpr tiled_cycles cycles_of(const cpu_facts& facts, const tiled_product& p, int widest) {
  const even_pieces panels = cut(p.vectors, widest);
  const auto width = static_cast<int>(panels.size);
  const int most = tile_rows(facts, static_cast<double>(width) < panels.size ? width + 1 : width, p.most_rows);
  const even_pieces tiles = cut(p.rows, most);
  double step = cycles_a_step(facts, tiles.size, panels.size);
  // Rows beyond the ways of a set push each other out of it.
  if (const double beyond = tiles.size - static_cast<double>(facts.l1_ways); p.rows_collide && beyond > 0)
    step += beyond * facts.costs.collision;
  const double count = panels.count * tiles.count;
  return {count * p.depth * step, count * (facts.costs.tile + (p.runs - 1) * facts.costs.run)};
}

// What pieces of an extent are that is cut into pieces of at most `most`, as even as can be: the largest.
constexpr std::int64_t largest_piece(std::int64_t extent, std::int64_t most) {
  const std::int64_t pieces = (extent + most - 1) / most;
  return pieces < 1 ? extent : (extent + pieces - 1) / pieces;
}

// The number of vectors of the tiles that take least time; of about equals, the first that is asked about.
constexpr int best_width(const cpu_facts& facts, const tiled_product& p, int first) {
  constexpr double clearly = 0.97;
  int best = first;
  double least = cycles_of(facts, p, first).all();
  for (int width = 1; width <= tile_vectors(facts); ++width)
    if (const double cycles = cycles_of(facts, p, width).all(); cycles < clearly * least) {
      best = width;
      least = cycles;
    }
  return best;
}

// The number of vectors of the tiles of an output row of `items` (0: not known before the run) by `vectors` of
// channels: the widest, unless it leaves tiles too low for that row.
constexpr int row_width(const cpu_facts& facts, std::int64_t vectors, std::int64_t items) {
  const auto pieces = [](std::int64_t n, std::int64_t most) { return (n + most - 1) / most; };
  constexpr double clearly = 0.96;
  if (vectors < 1) vectors = 1;
  int best = tile_vectors(facts);
  double least = 1e30;
  for (int width = best; width >= 1; --width) {
    const std::int64_t widest = pieces(vectors, pieces(vectors, width));
    const std::int64_t most = tile_rows(facts, static_cast<int>(widest));
    const auto v = static_cast<double>(widest);
    const auto r =
        items == 0 ? static_cast<double>(most) : cut(static_cast<double>(items), static_cast<double>(most)).size;
    const double of_a_sum = cycles_a_step(facts, r, v) / (r * v);
    if (of_a_sum >= clearly * least) continue;
    least = of_a_sum;
    best = width;
  }
  return best;
}

}  // namespace dnnkit::plan
