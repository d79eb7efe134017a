// SPDX-License-Identifier: MIT
// What a row is folded into, several vectors of it at a time: their lanes merged by merge(a, b), any function of two
// vectors. Halves with halves, so that what waits for what is as short as can be.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dnnkit/cpu/micro/extent.hpp"
#include "dnnkit/cpu/micro/vec.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

// Elements [First, First + Count) of an array, lane by lane.
template <index_t First, index_t Count> [[gnu::always_inline]] inline auto merged(const auto& all, auto merge) {
  if constexpr (Count == 1) return all[static_cast<std::size_t>(First)];
  else
    return merge(merged<First, Count - Count / 2>(all, merge),
                 merged<First + Count - Count / 2, Count / 2>(all, merge));
}

// All lanes of a vector of 2 * Step, in all lanes.
template <int Step, class T> [[gnu::always_inline]] inline T merged_lanes(T x, auto merge) {
  if constexpr (Step == 0) {
    return x;
  } else if constexpr (requires { x.low; }) {
    const auto half = merged_lanes<Step / 2>(merge(x.low, x.high), merge);
    return {half, half};
  } else {
    return merged_lanes<Step / 2>(merge(x, swap_lanes<Step>(x)), merge);
  }
}

// The mask of the first n lanes.
template <int Lanes> [[gnu::always_inline]] inline auto first_lanes(index_t n) {
  using numbers = vec<std::int32_t, Lanes>;
  return numbers::iota() < numbers(static_cast<std::int32_t>(n));
}

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
