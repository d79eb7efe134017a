// SPDX-License-Identifier: MIT
// How the kernel of a matrix product divides its work on a GPU, chosen by what the product's shape is expected to take.
#pragma once

#include <algorithm>
#include <cstdint>

namespace dnnkit::opencl {

// A group makes bm x bn elements, an item tm x tn of them; `slices` parts of the group each sum over a part of K,
// `depth` elements of it at a time, and are added up at the end.
struct product_tile {
  std::int64_t bm = 16, bn = 32, tm = 4, tn = 4, slices = 1, depth = 16;

  constexpr std::int64_t items_of_slice() const { return bm / tm * (bn / tn); }
  constexpr std::int64_t items() const { return items_of_slice() * slices; }
  // Numbers of a stage of a slice: rows of A, each with four more so that they begin in different banks, and of B.
  constexpr std::int64_t stage() const { return bm * (depth + 4) + depth * bn; }
  // Numbers in local memory: two stages a slice, later the slices' sums.
  constexpr std::int64_t local() const { return std::max(2 * slices * stage(), slices * bm * bn); }

  friend constexpr bool operator==(const product_tile&, const product_tile&) = default;
};

// What the choice asks of a GPU, by default of NVIDIA's H100 and H200.
struct product_gpu {
  std::int64_t compute_units = 132;
  std::int64_t group_local = 12 << 10, unit_local = 56 << 10;  // floats of local memory a group may have, a unit has
  std::int64_t group_items = 512, unit_items = 2048, unit_registers = 64 << 10;
};

// M x K by K x N, `batch` of them.
struct product_extents {
  std::int64_t m = 1, n = 1, k = 1, batch = 1;
};

namespace detail {

constexpr std::int64_t divided_up(std::int64_t n, std::int64_t by) { return (n + by - 1) / by; }

// Clocks that a product takes with a tile, to compare tiles by. Fitted to the best tiles of 12 shapes on an H200, which
// it gives within 20 %: so many of a unit's 128 multiplications a clock are done as an item's tile allows (its reads of
// local memory come between them), the more the more items are there to hide what the others wait for.
constexpr double clocks_of_tile(const product_extents& x, const product_tile& t, const product_gpu& gpu) {
  constexpr double lanes = 128, warp = 32, warps_for_half = 4, clocks_of_stage = 60;
  const std::int64_t groups = x.batch * divided_up(x.m, t.bm) * divided_up(x.n, t.bn);
  const std::int64_t waves = divided_up(groups, gpu.compute_units);
  const std::int64_t registers = t.items() * (t.tm * t.tn * 3 / 2 + 32);
  const std::int64_t resident = std::max<std::int64_t>(
      1, std::min({waves, gpu.unit_local / t.local(), gpu.unit_items / t.items(), gpu.unit_registers / registers}));
  const double warps = static_cast<double>(resident * divided_up(t.items(), static_cast<std::int64_t>(warp)));
  const std::int64_t multiplied = t.tm * t.tn;
  const double share = (multiplied >= 64 ? 0.84 : multiplied >= 32 ? 0.58 : 0.47) * warps / (warps + warps_for_half);
  const std::int64_t stages = divided_up(x.k, t.depth * t.slices);
  const double products = static_cast<double>(waves * t.bm * t.bn * stages * t.depth * t.slices);
  const double sums = static_cast<double>(waves * t.slices * t.bm * t.bn) / lanes * 2;
  return products / (lanes * share) + clocks_of_stage * static_cast<double>(stages * divided_up(waves, resident)) +
         sums;
}

}  // namespace detail

// Calls visit(tile) with the tiles that a group of the GPU has room for. depth: stages have this depth; 0: any of the
// table.
constexpr void for_product_tiles(const product_extents& x, std::int64_t depth, const product_gpu& gpu, auto visit) {
  constexpr product_tile shapes[] = {{64, 128, 8, 8}, {64, 64, 8, 8}, {64, 96, 8, 4}, {64, 48, 8, 4}, {32, 64, 4, 8},
                                     {32, 32, 8, 4},  {32, 32, 4, 4}, {32, 28, 4, 4}, {16, 32, 4, 4}, {16, 16, 4, 4}};
  constexpr std::int64_t slices[] = {1, 2, 4, 8, 16}, depths[] = {32, 16, 8}, fewest_items = 64;
  for (product_tile t : shapes)
    for (std::int64_t s : slices) {
      t.slices = s;
      if (t.items() < fewest_items || t.items() > gpu.group_items) continue;
      for (std::int64_t d : depths) {
        t.depth = depth == 0 ? d : depth;
        if (t.local() <= gpu.group_local && (t.depth * s <= x.k || t.items_of_slice() * s == fewest_items)) visit(t);
        if (depth != 0) break;
      }
    }
}

// The tile that a product takes least time with.
constexpr product_tile choose_product_tile(const product_extents& x, std::int64_t depth = 0,
                                           const product_gpu& gpu = {}) {
  const std::int64_t groups = x.batch * detail::divided_up(x.m, 16) * detail::divided_up(x.n, 32);
  product_tile best, before;
  double least = -1;
  for_product_tiles(x, depth, gpu, [&](const product_tile& t) {
    // The smallest tile reads each operand most often; it is for products that leave units idle with the next.
    if (t.bn == 16 && groups >= gpu.compute_units) return;
    if (t.bn == 28 && (x.n % 28 != 0 || x.n % 32 == 0)) return;  // 28 and 56 pixels a side, and 14
    // Of the depths, the largest that there is room for.
    const bool is_same = t.bm == before.bm && t.bn == before.bn && t.tm == before.tm && t.slices == before.slices;
    if (is_same) return;
    before = t;
    const double clocks = detail::clocks_of_tile(x, t, gpu);
    if (least < 0 || clocks < least) least = clocks, best = t;
  });
  return best;
}

}  // namespace dnnkit::opencl
