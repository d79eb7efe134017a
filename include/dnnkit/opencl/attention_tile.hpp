// SPDX-License-Identifier: MIT
// How the kernel of attention divides its work on a GPU, chosen by what its extents are expected to take.
#pragma once

#include <algorithm>
#include <cstdint>

#include "dnnkit/opencl/product_tile.hpp"

namespace dnnkit::opencl {

// softmax(f(Q K')) V for `heads` heads: Q is queries x depth, K keys x depth, V keys x width.
struct attention_extents {
  std::int64_t heads = 1, queries = 1, keys = 1, depth = 1, width = 1;
};

// A group has bq queries of a head; each of its slices takes every so many-th tile of bk keys. An item has tm queries
// by tn keys of a tile's scores, and of the results tm queries by as many columns as the items of a row share. Keys and
// values come into local memory `step` numbers of each key, or about as many of the values, at a time, in one or two
// buffers.
struct attention_tile {
  std::int64_t bq = 16, bk = 32, tm = 4, tn = 4, slices = 1, step = 16, buffers = 2;

  constexpr std::int64_t rows() const { return bq / tm; }    // of a slice's items, each with tm queries,
  constexpr std::int64_t across() const { return bk / tn; }  // and so many items in each
  constexpr std::int64_t items_of_slice() const { return rows() * across(); }
  constexpr std::int64_t items() const { return items_of_slice() * slices; }
  constexpr bool has_pairs() const { return rows() % 2 == 0 && across() % 2 == 0; }

  // A query in local memory, and what separates one from the next so that they begin in different banks.
  constexpr std::int64_t depth(const attention_extents& x) const { return detail::divided_up(x.depth, step) * step; }
  constexpr std::int64_t query_pitch(const attention_extents& x) const { return depth(x) + 4; }
  constexpr std::int64_t key_pitch() const { return step + 4; }
  constexpr std::int64_t weight_pitch() const { return bk + 4; }
  // Columns of the results: so many fours an item, and with those that are beyond the last.
  constexpr std::int64_t fours(const attention_extents& x) const { return detail::divided_up(x.width, 4 * across()); }
  constexpr std::int64_t width(const attention_extents& x) const { return 4 * across() * fours(x); }
  // Keys whose values are staged at once: at least four, and no more numbers than of keys.
  constexpr std::int64_t values_at_once(const attention_extents& x) const {
    std::int64_t n = bk;
    while (n % 8 == 0 && n * width(x) > bk * key_pitch()) n /= 2;
    return n;
  }
  // Steps over the tiles of keys, of which a slice takes one in each.
  constexpr std::int64_t steps(const attention_extents& x) const {
    return detail::divided_up(detail::divided_up(x.keys, bk), slices);
  }

  // Numbers in local memory: of a buffer, of a slice (buffers, weights, and the largest of each item's), and of all;
  // later the slices' sums and what they are multiplied with.
  constexpr std::int64_t buffer(const attention_extents& x) const {
    return std::max(bk * key_pitch(), values_at_once(x) * width(x));
  }
  constexpr std::int64_t slice(const attention_extents& x) const {
    return buffers * buffer(x) + bq * (weight_pitch() + across());
  }
  constexpr std::int64_t local(const attention_extents& x) const {
    return std::max(bq * query_pitch(x) + slices * slice(x), slices * bq * (across() + 1 + width(x)));
  }

  friend constexpr bool operator==(const attention_tile&, const attention_tile&) = default;
};

namespace detail {

// Clocks that attention takes with a tile: what a group's slices multiply, bring into local memory and read there, do
// with rows of scores, and wait; the longer the fewer items there are to hide what the others wait for. Numbers are
// fitted to the tiles of ten shapes on an H100 (bench_opencl --sweep, launches one behind the other): the tile chosen
// takes 1.05 of the time of the best on average, at most 1.15.
constexpr double clocks_of_tile(const attention_extents& x, const attention_tile& t, const product_gpu& gpu) {
  constexpr double lanes = 128, of_product = 0.92, of_read = 1.43, read_without_pairs = 2.8, of_load = 40.3,
                   of_row = 82;
  constexpr double warps_for_half = 0.9, clocks_of_wait = 84, waits_of_one_buffer = 1.6, clocks_of_ends = 4970;
  constexpr std::int64_t warp = 32;
  const auto real = [](std::int64_t n) { return static_cast<double>(n); };
  const std::int64_t groups = divided_up(x.heads * divided_up(x.queries, t.bq), gpu.compute_units);
  const std::int64_t warps = divided_up(t.items(), warp);
  const std::int64_t registers = warps * warp * (t.tm * (4 * t.fours(x) + t.tn) + 4 * (t.tm + t.tn) + 40) / 2;
  const std::int64_t resident = std::max<std::int64_t>(
      1, std::min({groups, gpu.unit_local / t.local(x), gpu.unit_items / t.items(), gpu.unit_registers / registers}));
  const std::int64_t keys = t.slices * t.bk, both = t.depth(x) + t.width(x);
  const double reads = real(t.depth(x) / 4 * (t.tm + t.tn) + t.bk / 4 * (t.tm + 4 * t.fours(x)));
  const double work =
      of_read * (t.has_pairs() ? 1 : read_without_pairs) * reads * real(t.items()) / real(warp) +
      (of_product * real(t.bq * keys * both) + of_load * real(keys * both / 4) + of_row * real(t.items() * t.tm)) /
          lanes;
  const double stages = real(t.depth(x) / t.step + t.bk / t.values_at_once(x));
  const double waits = clocks_of_wait * (stages * (t.buffers == 1 ? waits_of_one_buffer : 1) + 1);
  const double not_hidden = warps_for_half / real(warps);
  return clocks_of_launch + in_batches(groups, resident, [&](double n) {
           return real(t.steps(x)) * (work * (n + not_hidden) + waits) + clocks_of_ends;
         });
}

}  // namespace detail

// Calls visit(tile) with the tiles that a group of the GPU has room for.
constexpr void for_attention_tiles(const attention_extents& x, const product_gpu& gpu, auto visit) {
  constexpr attention_tile shapes[] = {{8, 32, 4, 4},  {16, 32, 4, 4}, {16, 64, 4, 4}, {32, 32, 4, 4},
                                       {48, 32, 4, 4}, {32, 64, 4, 4}, {16, 80, 4, 4}, {32, 80, 4, 4},
                                       {40, 32, 8, 4}, {64, 32, 8, 4}, {32, 64, 8, 4}};
  constexpr std::int64_t slices[] = {1, 2, 3, 4, 8}, steps[] = {16, 32, 64};
  constexpr std::int64_t fewest_items = 64, most_sums = 80, most_loads = 16;
  for (attention_tile t : shapes)
    for (std::int64_t s : slices) {
      t.slices = s;
      if (t.items() < fewest_items || t.items() > gpu.group_items || t.tm * 4 * t.fours(x) > most_sums) continue;
      for (std::int64_t step : steps)
        for (std::int64_t buffers : {2, 1}) {
          t.step = step, t.buffers = buffers;
          if (step >= x.depth + 16 || t.local(x) > gpu.group_local) continue;
          if (detail::divided_up(t.bk * step / 4, t.items_of_slice()) <= most_loads) visit(t);
        }
    }
}

// The tile that attention takes least time with; bq = 0: there is none.
constexpr attention_tile choose_attention_tile(const attention_extents& x, const product_gpu& gpu = {}) {
  detail::least_of_tiles<attention_tile> least{{.bq = 0}};
  for_attention_tiles(x, gpu, [&](const attention_tile& t) { least.offer(t, detail::clocks_of_tile(x, t, gpu)); });
  return least.best;
}

}  // namespace dnnkit::opencl
