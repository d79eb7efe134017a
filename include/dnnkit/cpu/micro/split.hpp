// SPDX-License-Identifier: MIT
// Cuts an extent into tiles of few different sizes without a thin tail, so that few micro-kernels are instantiated.
#pragma once

#include <algorithm>

#include "dnnkit/cpu/micro/extent.hpp"

namespace dnnkit::cpu {

// Tiles of at most Max items. Tile t of count() is visited as f(constant<size>{}, first item).
// A known extent is cut into T = ceil(extent / Max) tiles of h and h - 1 items: at most two sizes, one when T divides
// it.
template <int Max, class E> struct split {
  static constexpr index_t tiles = ceil_div(E::value, Max);
  static constexpr index_t large = tiles == 0 ? 1 : ceil_div(E::value, tiles);
  static constexpr index_t small = large - 1;
  static constexpr index_t large_tiles = E::value - small * tiles;
  static constexpr int largest = static_cast<int>(large);

  constexpr explicit split(E) noexcept {}
  static constexpr index_t count() noexcept { return tiles; }

  template <class F> [[gnu::always_inline]] static constexpr void visit(index_t t, F&& f) {
    if constexpr (large_tiles == tiles) {
      f(constant<large>{}, t * large);
    } else {
      if (t < large_tiles) {
        f(constant<large>{}, t * large);
      } else {
        f(constant<small>{}, t * small + large_tiles);
      }
    }
  }
};

// An extent known at run time: sizes Max and Max - 1 cover most extents exactly; a half-size tile and single items do
// the rest.
template <int Max> struct split<Max, index_t> {
  static constexpr index_t half = std::max(1, Max / 2);
  static constexpr int largest = Max;

  constexpr explicit split(index_t extent) noexcept {
    index_t best = -1;
    for (index_t halves = 0; halves <= (half > 1 ? 2 : 0); ++halves) {
      for (index_t singles = 0; singles < std::max<index_t>(half, 2); ++singles) {
        const index_t rest = extent - halves * half - singles;
        if (rest < 0) break;
        const index_t full = ceil_div(rest, Max);
        if (full * (Max - 1) > rest) continue;  // not a sum of Max and Max - 1
        // A tile with few accumulators waits for its own multiply-adds: a single item costs as much as about four.
        const index_t cost = full * Max + halves * half + singles * 4;
        if (best >= 0 && cost >= best) continue;
        best = cost;
        ends_[1] = full;
        ends_[0] = rest - full * (Max - 1);
        ends_[2] = full + halves;
        ends_[3] = full + halves + singles;
      }
    }
  }

  constexpr index_t count() const noexcept { return ends_[3]; }

  template <class F> [[gnu::always_inline]] constexpr void visit(index_t t, F&& f) const {
    if (t < ends_[0]) return f(constant<Max>{}, t * Max);
    if constexpr (Max > 1) {
      if (t < ends_[1]) return f(constant<Max - 1>{}, t * (Max - 1) + ends_[0]);
      const index_t after_full = ends_[1] * (Max - 1) + ends_[0];
      if constexpr (half > 1) {
        if (t < ends_[2]) return f(constant<half>{}, after_full + (t - ends_[1]) * half);
      }
      if constexpr (Max > 2) return f(constant<1>{}, after_full + (ends_[2] - ends_[1]) * half + (t - ends_[2]));
    }
  }

 private:
  index_t ends_[4] = {};  // past the last tile of size Max, Max - 1, half, 1
};

}  // namespace dnnkit::cpu
