// SPDX-License-Identifier: MIT
// How the kernel of a depthwise convolution (depthwise_windows.hpp) divides its work on a GPU, chosen by what the
// convolution's shape is expected to take.
#pragma once

#include <algorithm>
#include <cstdint>

#include "dnnkit/opencl/product_tile.hpp"
#include "dnnkit/opencl/window_tile.hpp"

namespace dnnkit::opencl {

// A group makes px x (rows * bands) pixels of so many channels; an item `rows` pixels of one, one below the other.
struct depthwise_tile {
  std::int64_t channels = 8, px = 16, rows = 4, bands = 1;

  constexpr std::int64_t height() const { return rows * bands; }
  constexpr std::int64_t pixels() const { return px * height(); }
  constexpr std::int64_t items() const { return channels * px * bands; }

  friend constexpr bool operator==(const depthwise_tile&, const depthwise_tile&) = default;
};

// A depthwise convolution with two spatial axes as window_extents, m being its channels, k 1, and `batch` images.
// reads_channels: those of a pixel of the input lie side by side.
struct depthwise_extents : window_extents {
  bool reads_channels = false;

  constexpr std::int64_t patch_width(const depthwise_tile& t) const { return reach(1, t.px); }
  constexpr std::int64_t patch(const depthwise_tile& t) const { return reach(0, t.height()) * patch_width(t); }
  // From a channel's patch to the next in local memory: neighbours that come with a pixel are in different banks.
  constexpr std::int64_t pitch(const depthwise_tile& t) const {
    const std::int64_t numbers = patch(t);
    return reads_channels ? numbers + (36 - numbers % 32) % 32 : numbers;
  }
  // Numbers in local memory: patches, and weights behind them; later the sums.
  constexpr std::int64_t local(const depthwise_tile& t) const {
    return std::max(t.channels * (pitch(t) + taps()), t.channels * t.pixels());
  }
  constexpr std::int64_t groups(const depthwise_tile& t) const {
    return batch * detail::divided_up(m, t.channels) * detail::divided_up(width, t.px) *
           detail::divided_up(height, t.height());
  }
};

namespace detail {

// Clocks that a depthwise convolution takes with a tile, as clocks_of_tile(): what its items load, multiply, read and
// hand over, and what one of them waits for. Numbers are fitted to the tiles of 16 convolutions of 3x3, 5x5 and 7x7
// taps on an H100 (bench_opencl --sweep): the tile chosen takes 1.07 of the time of the best on average.
constexpr double clocks_of_depthwise(const depthwise_extents& x, const depthwise_tile& t, const product_gpu& gpu) {
  constexpr double lanes = 128, clocks_of_group = 2380, clocks_of_load = 62;
  constexpr double of_load = 40, of_product = 0.64, of_read = 3.85, of_sum = 35.6;
  constexpr std::int64_t warp = 32;
  const auto real = [](std::int64_t n) { return static_cast<double>(n); };
  const std::int64_t groups = divided_up(x.groups(t), gpu.compute_units);
  const std::int64_t items = divided_up(t.items(), warp) * warp;
  const std::int64_t resident =
      std::max<std::int64_t>(1, std::min({groups, gpu.unit_local / x.local(t), gpu.unit_items / items}));
  const double loads = real(divided_up(t.channels * x.patch(t), t.items()));
  const double products = real(t.rows * x.taps()), reads = real(x.kernel[1] * (x.reach(0, t.rows) + x.kernel[0]));
  const double of_item = of_load * loads + of_product * products + of_read * reads + of_sum * real(t.rows);
  return in_batches(groups, resident, [&](double n) {
    return clocks_of_group + clocks_of_load * loads + n * real(items) * of_item / lanes;
  });
}

}  // namespace detail

// Calls visit(tile) with the tiles that a group of the GPU has room for.
constexpr void for_depthwise_tiles(const depthwise_extents& x, const product_gpu& gpu, auto visit) {
  constexpr std::int64_t widest = 32, narrowest = 7, fewest_items = 64;
  for (std::int64_t channels : {4, 8, 16, 32}) {
    if (channels > 4 && channels / 2 >= x.m) break;
    for (std::int64_t cuts = 1, before = 0; cuts <= 64; ++cuts) {
      depthwise_tile t{.channels = channels, .px = detail::divided_up(x.width, cuts)};
      if (cuts > 1 && t.px < narrowest) break;
      if (t.px > widest || t.px == before) continue;
      before = t.px;
      for (t.rows = 2; t.rows <= 8 && (t.rows == 2 || t.rows <= x.height); ++t.rows)
        for (t.bands = 1; t.bands <= 4 && (t.bands == 1 || t.rows * (t.bands - 1) < x.height); t.bands *= 2)
          if (x.local(t) <= gpu.group_local && t.items() >= fewest_items && t.items() <= gpu.group_items) visit(t);
    }
  }
}

// The tile that a convolution takes least time with; none (px 0) where there is room for none.
constexpr depthwise_tile choose_depthwise_tile(const depthwise_extents& x, const product_gpu& gpu = {}) {
  detail::least_of_tiles<depthwise_tile> least{{.px = 0}};
  for_depthwise_tiles(x, gpu, [&](const depthwise_tile& t) { least.offer(t, detail::clocks_of_depthwise(x, t, gpu)); });
  return least.best;
}

}  // namespace dnnkit::opencl
