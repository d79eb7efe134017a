// SPDX-License-Identifier: MIT
// How the kernel of a convolution by Winograd's algorithm (winograd.hpp) divides its work on a GPU, chosen by what the
// convolution's shape is expected to take.
#pragma once

#include <algorithm>
#include <cstdint>

#include "dnnkit/cost/accuracy.hpp"
#include "dnnkit/opencl/product_tile.hpp"
#include "dnnkit/opencl/window_tile.hpp"

namespace dnnkit::opencl {

// A group makes bm channels of bt squares of 2 x 2 outputs: of each of the 16 positions of a transformed square, bm x
// bt elements of a product, an item tm x tn of them. `depth` channels of the input are a stage. `parts` groups may make
// the same elements, each from a part of the input's channels: the last of them that is ready adds up what all have.
struct winograd_tile {
  static constexpr std::int64_t side = 2, positions = 16;  // of a square

  std::int64_t bm = 32, bt = 32, tm = 8, tn = 8, depth = 4, parts = 1;

  constexpr std::int64_t down() const { return bm / tm; }
  constexpr std::int64_t across() const { return bt / tn; }
  constexpr std::int64_t items_of_position() const { return down() * across(); }
  constexpr std::int64_t items() const { return positions * items_of_position(); }
  // From a channel of the input to the next in local memory: eight more, so that what neighbours write at once, eight
  // of each of four channels, are different banks.
  static constexpr std::int64_t pitch(std::int64_t lines) { return lines + 8; }
  // Numbers of a position in a stage: of weights, behind them of the input.
  constexpr std::int64_t of_position() const { return depth * (pitch(bm) + pitch(bt)); }
  constexpr std::int64_t stage() const { return positions * of_position(); }
  // Products are transformed back in turns, a four of an item's rows by a four of its columns each.
  constexpr std::int64_t turns() const { return tm / 4 * (tn / 4); }
  constexpr std::int64_t turn() const { return bm * bt / turns(); }
  // Numbers in local memory: two stages, later what is transformed back in a turn.
  constexpr std::int64_t local() const { return std::max(2 * stage(), positions * turn()); }

  // Is the loop over a stage's channels left one, so that a compiler takes few enough registers for two groups a unit?
  constexpr bool keeps_loop() const { return items() == 256 && tm * tn == 64; }
  // Registers of an item, by what NVIDIA's compiler takes.
  constexpr std::int64_t registers() const { return keeps_loop() ? 128 : tm * tn + 80; }

  friend constexpr bool operator==(const winograd_tile&, const winograd_tile&) = default;
};

// The largest error against sums in double precision, as a part of the largest output, of numbers alike in size
// (tests/opencl/winograd.cpp). As elements are added up before they are multiplied, what is lost is a part of the
// largest of a window's products, whether or not they cancel, and finite numbers above a quarter of the largest float
// overflow.
inline constexpr accuracy error_of_winograd{1e-6};

// Has the convolution 3 x 3 taps without steps and holes?
constexpr bool is_for_winograd(const window_extents& x) {
  for (std::size_t i = 0; i < 2; ++i)
    if (x.kernel[i] != 3 || x.stride[i] != 1 || x.dilation[i] != 1) return false;
  return true;
}
// Squares of 2 x 2 outputs along an axis.
constexpr std::int64_t squares(std::int64_t extent) { return detail::divided_up(extent, winograd_tile::side); }
constexpr std::int64_t squares(const window_extents& x) { return squares(x.height) * squares(x.width); }
constexpr std::int64_t groups_of(const window_extents& x, const winograd_tile& t) {
  return x.batch * detail::divided_up(x.m, t.bm) * detail::divided_up(squares(x), t.bt);
}

namespace detail {

// Clocks that a convolution takes with a tile, as clocks_of_windows(). Reads of local memory and of what other items of
// the group have read, too, are what work waits for. Numbers are fitted to the tiles of 18 convolutions on an H100
// (bench_opencl --sweep): the tile chosen takes 1.01 of the time of the best on average, at most 1.04.
constexpr double clocks_of_winograd(const window_extents& x, const winograd_tile& t, const product_gpu& gpu) {
  constexpr double lanes = 128, warps_for_half = 4.6, clocks_of_stage = 203, of_task = 137, bytes_a_clock = 12.4;
  constexpr double clocks_of_turn = 667, of_output = 50, clocks_of_fences = 4700, of_part = 5.2;
  constexpr std::int64_t warp = 32, bytes_of_task = 36;
  const auto real = [](std::int64_t n) { return static_cast<double>(n); };
  const std::int64_t groups = divided_up(groups_of(x, t) * t.parts, gpu.compute_units);
  const std::int64_t warps = divided_up(t.items(), warp), tasks = (t.bm + t.bt) * t.depth;
  const std::int64_t registers = warps * warp * t.registers();
  const std::int64_t resident = std::max<std::int64_t>(
      1, std::min({groups, gpu.unit_local / t.local(), gpu.unit_items / t.items(), gpu.unit_registers / registers}));
  const double stages = real(divided_up(x.k, t.depth * t.parts));
  const double products = real(winograd_tile::positions * t.bm * t.bt * t.depth);
  const double work = stages * (products + of_task * real(divided_up(tasks, t.items()) * t.items())) / lanes;
  const double bytes = stages * real(bytes_of_task * tasks), outputs = real(4 * t.bm * t.bt) / lanes;
  const double added = t.parts > 1 ? clocks_of_fences + of_part * real(t.parts) * outputs : 0;
  return added + in_batches(groups, resident, [&](double n) {
           const double hidden = n * real(warps) / (n * real(warps) + warps_for_half);
           return together(n * work / hidden, n * bytes / bytes_a_clock) + clocks_of_stage * stages +
                  clocks_of_turn * real(t.turns()) + n * of_output * outputs;
         });
}

}  // namespace detail

// Calls visit(tile) with the tiles that a group of the GPU has room for. Where tiles are fewer than compute units, also
// with so many groups a tile that a unit has one or two.
constexpr void for_winograd_tiles(const window_extents& x, const product_gpu& gpu, auto visit) {
  constexpr winograd_tile shapes[] = {{64, 32, 8, 8}, {32, 64, 8, 8}, {32, 32, 8, 8}, {16, 32, 8, 8}, {32, 16, 8, 8},
                                      {32, 32, 8, 4}, {32, 16, 8, 4}, {16, 16, 8, 4}, {16, 32, 8, 4}, {16, 16, 8, 8}};
  constexpr std::int64_t fewest_stages = 4;
  for (winograd_tile t : shapes)
    for (t.depth = 8; t.depth >= 2; t.depth /= 2) {
      if (t.local() > gpu.group_local || t.items() > gpu.group_items) continue;
      if (t.bm / 2 >= x.m && t.bm > 16) continue;
      t.parts = 1;
      visit(t);
      const std::int64_t tiles = groups_of(x, t), most = std::min(gpu.parts, x.k / (fewest_stages * t.depth));
      for (std::int64_t groups_of_unit : {1, 2, 4}) {
        const std::int64_t before = t.parts, wanted = std::min(groups_of_unit * gpu.compute_units / tiles, most);
        if (wanted <= before) continue;
        // As many as get channels.
        const std::int64_t stages = detail::divided_up(x.k, t.depth * wanted);
        t.parts = detail::divided_up(x.k, t.depth * stages);
        if (t.parts > before) visit(t);
        else t.parts = before;
      }
    }
}

// The tile that a convolution takes least time with.
constexpr winograd_tile choose_winograd_tile(const window_extents& x, const product_gpu& gpu = {}) {
  detail::least_of_tiles<winograd_tile> least;
  for_winograd_tiles(x, gpu, [&](const winograd_tile& t) { least.offer(t, detail::clocks_of_winograd(x, t, gpu)); });
  return least.best;
}

}  // namespace dnnkit::opencl
