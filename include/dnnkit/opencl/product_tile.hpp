// SPDX-License-Identifier: MIT
// How the kernel of a matrix product divides its work on a GPU, chosen by what the product's shape is expected to take.
#pragma once

#include <algorithm>
#include <cstdint>

namespace dnnkit::opencl {

// A group makes bm x bn elements, an item tm x tn of them; `slices` parts of the group each sum over a part of K,
// `depth` elements of it at a time, and are added up at the end. `parts` groups may make the same elements, each over a
// part of K: the last of them that is ready adds up what all have summed.
struct product_tile {
  std::int64_t bm = 16, bn = 32, tm = 4, tn = 4, slices = 1, depth = 16, parts = 1;

  constexpr std::int64_t items_of_slice() const { return bm / tm * (bn / tn); }
  constexpr std::int64_t items() const { return items_of_slice() * slices; }
  // Can items be in fours of two by two, of which two have the same rows and two the same columns?
  constexpr bool has_pairs() const { return bm / tm % 2 == 0 && bn / tn % 2 == 0; }
  // Numbers of a stage of a slice, by k: of A, with four more so that they begin in different banks, and of B.
  constexpr std::int64_t stage() const { return depth * (bm + 4 + bn); }
  // Numbers in local memory: two stages a slice, later the slices' sums.
  constexpr std::int64_t local() const { return std::max(2 * slices * stage(), slices * bm * bn); }

  friend constexpr bool operator==(const product_tile&, const product_tile&) = default;
};

// What the choice asks of a GPU, by default of NVIDIA's H100 and H200.
struct product_gpu {
  std::int64_t compute_units = 132;
  std::int64_t group_local = 12 << 10, unit_local = 56 << 10;  // floats of local memory a group may have, a unit has
  std::int64_t group_items = 512, unit_items = 2048, unit_registers = 64 << 10;
  std::int64_t parts = 16;  // groups that may hand over sums to each other; 1 where what one writes others may not see
};

// M x K by K x N, `batch` of them. is_gathered: elements of B are read one by one, not in fours.
struct product_extents {
  std::int64_t m = 1, n = 1, k = 1, batch = 1;
  bool is_gathered = false;
};

namespace detail {

constexpr std::int64_t divided_up(std::int64_t n, std::int64_t by) { return (n + by - 1) / by; }

// What a kernel takes that waits for both: the cube root of the sum of cubes, hardly more than the longer of two that
// differ.
constexpr double together(double a, double b) {
  const double longer = a > b ? a : b, shorter = a > b ? b : a;
  const double ratio = longer > 0 ? shorter / longer : 0;  // (1 + r^3)^(1/3) within 1 %
  return longer * (1 + 0.26 * ratio * ratio * ratio);
}

// Clocks that groups take which a unit runs one batch of `resident` behind the other.
constexpr double in_batches(std::int64_t groups, std::int64_t resident, auto clocks) {
  const std::int64_t whole = groups / resident, rest = groups % resident;
  return static_cast<double>(whole) * clocks(static_cast<double>(resident)) +
         (rest == 0 ? 0.0 : clocks(static_cast<double>(rest)));
}

// Of tiles that are offered, the first that takes least time; before any, the one it begins with.
template <class Tile> struct least_of_tiles {
  Tile best{};
  double clocks = -1;

  constexpr void offer(const Tile& t, double its_clocks) {
    if (clocks < 0 || its_clocks < clocks) clocks = its_clocks, best = t;
  }
};

// What a kernel takes whatever its tile: from the launch to the first groups, and from the last ones to the next.
inline constexpr double clocks_of_launch = 4800;

// Clocks that a product takes with a tile. A group's stage takes its multiplications and loads, the longer the fewer
// items there are to hide what the others wait for; or what comes from the second cache, which all units share; and a
// barrier, which those of other groups overlap in part. What follows the product is a turn for every element of an
// item. Numbers are fitted to the tiles of 20 products and 12 convolutions of one tap on an H100 (bench_opencl --sweep,
// launches one behind the other): the tile chosen takes 1.04 of the time of the best on average, and 1.05 of eight
// other products.
constexpr double clocks_of_tile(const product_extents& x, const product_tile& t, const product_gpu& gpu) {
  constexpr double lanes = 128, warp = 32, warps_for_half = 5.2, clocks_of_stage = 270, overlap_of_stages = 0.38;
  constexpr double of_load = 20, bytes_a_clock = 17.25, clocks_of_turn = 89, of_slice = 4.5;
  constexpr double clocks_of_fences = 1900, of_element = 94, of_part = 14;
  const auto real = [](std::int64_t n) { return static_cast<double>(n); };
  const std::int64_t groups =
      divided_up(x.batch * divided_up(x.m, t.bm) * divided_up(x.n, t.bn) * t.parts, gpu.compute_units);
  const std::int64_t warps = divided_up(t.items(), static_cast<std::int64_t>(warp));
  const std::int64_t items = t.items_of_slice(), columns = t.bn * t.depth / (x.is_gathered ? 1 : 4);
  const std::int64_t loads = divided_up(t.bm * t.depth / 4, items) + divided_up(columns, items);
  const std::int64_t registers = warps * 32 * divided_up(t.tm * t.tn * 3 / 2 + 48 + 4 * loads, 8) * 8;
  const std::int64_t resident = std::max<std::int64_t>(
      1, std::min({groups, gpu.unit_local / t.local(), gpu.unit_items / t.items(), gpu.unit_registers / registers}));
  double share = t.tm * t.tn >= 64 ? 1.62 : t.tm * t.tn >= 32 ? 1.31 : 1.01;  // of the multiplications a clock
  if (!t.has_pairs()) share /= 1.15;
  const double stages = real(divided_up(x.k, t.depth * t.slices * t.parts));
  const double work =
      (real(t.bm * t.bn * t.depth * t.slices) / share + of_load * real(t.items() * loads)) / lanes * stages;
  const double bytes = 4 * real((t.bm + t.bn) * t.depth * t.slices) * stages;
  const double elements = real(t.bm * t.bn) / lanes;
  const double written = t.parts > 1 ? of_element * elements : 0;  // for others
  const double turn = clocks_of_turn + of_slice * real(t.slices);
  const double added = t.parts > 1 ? clocks_of_fences + of_part * real(t.parts) * elements : 0;
  return clocks_of_launch + added + in_batches(groups, resident, [&](double n) {
           const double hidden = n * real(warps) / (n * real(warps) + warps_for_half);
           return together(n * work / hidden, n * bytes / bytes_a_clock) +
                  clocks_of_stage * stages / (1 + overlap_of_stages * (n - 1)) + n * written +
                  turn * real(divided_up(t.bm * t.bn, t.items()));
         });
}

}  // namespace detail

// Calls visit(tile) with the tiles that a group of the GPU has room for. depth: stages have this depth; 0: any of the
// table. Where tiles are fewer than compute units, also with so many groups a tile that a unit has one or two.
constexpr void for_product_tiles(const product_extents& x, std::int64_t depth, const product_gpu& gpu, auto visit) {
  constexpr product_tile shapes[] = {{64, 128, 8, 8}, {64, 96, 8, 8}, {64, 64, 8, 8}, {64, 96, 8, 4}, {64, 64, 8, 4},
                                     {40, 96, 8, 4},  {40, 64, 8, 4}, {32, 96, 8, 4}, {32, 64, 8, 4}, {32, 56, 8, 4},
                                     {32, 32, 8, 4},  {32, 64, 4, 4}, {32, 32, 4, 4}, {16, 64, 4, 4}, {16, 32, 4, 4},
                                     {16, 28, 4, 4},  {16, 16, 4, 4}};
  constexpr std::int64_t slices[] = {1, 2, 4, 8, 16}, depths[] = {32, 16, 8}, fewest_items = 64, fewest_stages = 4;
  const auto visit_parts = [&](product_tile t) {
    visit(t);
    const std::int64_t tiles = x.batch * detail::divided_up(x.m, t.bm) * detail::divided_up(x.n, t.bn);
    const std::int64_t most = std::min(gpu.parts, x.k / (fewest_stages * t.depth * t.slices));
    for (std::int64_t groups_of_unit : {1, 2}) {
      const std::int64_t before = t.parts;
      t.parts = std::max(before, std::min(groups_of_unit * gpu.compute_units / tiles, most));
      if (t.parts > before) visit(t);
    }
  };
  for (product_tile t : shapes)
    for (std::int64_t s : slices) {
      t.slices = s;
      if (t.items() < fewest_items || t.items() > gpu.group_items) continue;
      for (std::int64_t d : depths) {
        t.depth = depth == 0 ? d : depth;
        if (t.local() <= gpu.group_local && (t.depth * s <= x.k || t.items_of_slice() * s == fewest_items))
          visit_parts(t);
        if (depth != 0) break;
      }
    }
}

// The tile that a product takes least time with.
constexpr product_tile choose_product_tile(const product_extents& x, std::int64_t depth = 0,
                                           const product_gpu& gpu = {}) {
  detail::least_of_tiles<product_tile> least;
  for_product_tiles(x, depth, gpu, [&](const product_tile& t) {
    if (t.bn % 28 == 0 && (x.n % 28 != 0 || x.n % 32 == 0)) return;  // 28 and 56 pixels a side, and 14
    least.offer(t, detail::clocks_of_tile(x, t, gpu));
  });
  return least.best;
}

}  // namespace dnnkit::opencl
