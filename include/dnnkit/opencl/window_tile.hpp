// SPDX-License-Identifier: MIT
// How the kernel of a convolution in windows (tiled_windows.hpp) divides its work on a GPU, chosen by what the
// convolution's shape is expected to take.
#pragma once

#include <algorithm>
#include <cstdint>

#include "dnnkit/opencl/product_tile.hpp"

namespace dnnkit::opencl {

// A group makes bm channels of px x py pixels; an item tm channels of `rows` pixels, one below the other. `slices`
// parts of the group sum over parts of the input's channels: of each stage, `channels` each.
struct window_tile {
  static constexpr std::int64_t rows = 4;

  std::int64_t bm = 16, tm = 4, px = 16, py = 4, slices = 1, channels = 1;

  constexpr std::int64_t pixels() const { return px * py; }
  constexpr std::int64_t items_of_slice() const { return bm / tm * px * (py / rows); }
  constexpr std::int64_t items() const { return items_of_slice() * slices; }
  constexpr std::int64_t staged_channels() const { return slices * channels; }
  // Weights of a tap and an input's channel lie side by side in local memory; behind them is room, so that eight of
  // these begin in different banks.
  constexpr std::int64_t pitch() const { return bm + 4; }

  friend constexpr bool operator==(const window_tile&, const window_tile&) = default;
};

// A convolution with two spatial axes, of `batch` images and groups: `m` channels of the output from `k` of the input.
struct window_extents {
  std::int64_t m = 1, k = 1, height = 1, width = 1, batch = 1;  // of the output
  std::int64_t kernel[2] = {1, 1}, stride[2] = {1, 1}, dilation[2] = {1, 1};

  constexpr std::int64_t taps() const { return kernel[0] * kernel[1]; }
  // Positions of the input along an axis that so many of the output need.
  constexpr std::int64_t reach(std::size_t axis, std::int64_t pixels) const {
    return (pixels - 1) * stride[axis] + (kernel[axis] - 1) * dilation[axis] + 1;
  }
  constexpr std::int64_t patch_width(const window_tile& t) const { return reach(1, t.px); }
  constexpr std::int64_t patch(const window_tile& t) const { return reach(0, t.py) * patch_width(t); }
  // Numbers of a stage: weights, and patches of the input; in fours.
  constexpr std::int64_t stage(const window_tile& t) const {
    return (t.staged_channels() * (taps() * t.pitch() + patch(t)) + 3) / 4 * 4;
  }
  // Slices whose sums are in local memory when they are added up: half of them, where there is no room for all.
  constexpr std::int64_t kept_slices(const window_tile& t) const {
    const std::int64_t all = t.slices * t.bm * t.pixels();
    return t.slices > 1 && all > 2 * stage(t) ? t.slices / 2 : t.slices;
  }
  // Numbers in local memory: two stages, later the slices' sums.
  constexpr std::int64_t local(const window_tile& t) const {
    return std::max(2 * stage(t), kept_slices(t) * t.bm * t.pixels());
  }
  constexpr std::int64_t groups(const window_tile& t) const {
    return batch * detail::divided_up(m, t.bm) * detail::divided_up(width, t.px) * detail::divided_up(height, t.py);
  }
};

namespace detail {

// Clocks that a convolution takes with a tile, as clocks_of_tile(). Reads of local memory are what work waits for.
// Numbers are fitted to the tiles of nine convolutions, most of them ResNet-50's, on an H100 (bench_opencl --sweep):
// the tile chosen takes 1.05 of the time of the best on average, at most 1.14.
constexpr double clocks_of_windows(const window_extents& x, const window_tile& t, const product_gpu& gpu) {
  constexpr double lanes = 128, warps_for_half = 4.68, clocks_of_stage = 72.5, clocks_of_slices = 2720;
  constexpr double share = 2.7, of_read = 2.64, of_load = 13.5, of_sum = 10.3, bytes_a_clock = 13.3;
  constexpr std::int64_t warp = 32;
  const auto real = [](std::int64_t n) { return static_cast<double>(n); };
  const std::int64_t groups = divided_up(x.groups(t), gpu.compute_units), warps = divided_up(t.items(), warp);
  const std::int64_t registers = warps * warp * (t.tm * window_tile::rows * 5 / 4 + 150);
  const std::int64_t resident = std::max<std::int64_t>(
      1, std::min({groups, gpu.unit_local / x.local(t), gpu.unit_items / t.items(), gpu.unit_registers / registers}));
  const double stages = real(divided_up(x.k, t.staged_channels()));
  const double products = real(t.items() * t.channels * x.taps() * t.tm * window_tile::rows) / lanes / share;
  const std::int64_t column = std::min(x.reach(0, window_tile::rows), window_tile::rows * x.kernel[0]);
  const double reads = of_read * real(warps * t.channels) * (real(x.taps() * t.tm) / 4 + real(x.kernel[1] * column));
  const std::int64_t weights = divided_up(t.staged_channels() * x.taps(), 8) * 8 * t.bm;
  const double loads =
      real(divided_up(weights, t.items()) + divided_up(t.staged_channels() * x.patch(t), t.items())) * real(t.items());
  const double work = stages * (together(products, reads) + of_load * loads / lanes);
  const double bytes = 4 * stages * real(t.staged_channels() * (x.taps() * t.bm + x.patch(t)));
  const double sums = of_sum * real(t.slices * t.bm * t.pixels()) / lanes;
  return in_batches(groups, resident, [&](double n) {
    const double hidden = n * real(warps) / (n * real(warps) + warps_for_half);
    return together(n * work / hidden, n * bytes / bytes_a_clock) + clocks_of_stage * stages +
           (t.slices > 1 ? clocks_of_slices : 0) + n * sums;
  });
}

}  // namespace detail

// Calls visit(tile) with the tiles that a group of the GPU has room for.
constexpr void for_window_tiles(const window_extents& x, const product_gpu& gpu, auto visit) {
  constexpr std::int64_t rows = window_tile::rows, widest = 64, narrowest = 7, fewest_items = 64;
  for (std::int64_t cuts = 1, before = 0; cuts <= 16; ++cuts) {
    window_tile t;
    t.px = detail::divided_up(x.width, cuts);
    if (cuts > 1 && t.px < narrowest) break;
    // Of columns, a sixteenth may lie beyond the image.
    if (t.px > widest || t.px == before || (t.px * cuts - x.width) * 16 > x.width) continue;
    before = t.px;
    for (t.py = rows; t.py <= 2 * rows && (t.py == rows || rows < x.height); t.py *= 2)
      for (t.bm = 8; t.bm <= 32 && (t.bm == 8 || t.bm / 2 < x.m); t.bm *= 2)
        for (t.slices = 1; t.slices <= 32 && (t.slices == 1 || t.slices <= x.k); t.slices *= 2)
          for (t.channels = 1; t.channels <= 4; t.channels *= 2) {
            if (t.channels > 1 && (t.staged_channels() > x.k || t.channels * x.taps() > 40)) continue;
            const bool fits = x.local(t) <= gpu.group_local && t.items() <= gpu.group_items;
            if (fits && t.items() >= fewest_items) visit(t);
          }
  }
}

// The tile that a convolution takes least time with; none (px 0) where there is room for none.
constexpr window_tile choose_window_tile(const window_extents& x, const product_gpu& gpu = {}) {
  detail::least_of_tiles<window_tile> least{{.px = 0}};
  for_window_tiles(x, gpu, [&](const window_tile& t) { least.offer(t, detail::clocks_of_windows(x, t, gpu)); });
  return least.best;
}

}  // namespace dnnkit::opencl
