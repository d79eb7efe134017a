// SPDX-License-Identifier: MIT
// Transposition in registers, float_lanes x float_lanes at a time, and of whole matrices by such blocks.
#pragma once

#include <algorithm>
#include <utility>

#include "dnnkit/cpu/micro/extent.hpp"
#include "dnnkit/cpu/micro/vec.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

// As many vectors as a vector has lanes.
using square_block = float_vec[float_lanes];

namespace detail {

// Exchanges the lanes of a whose numbers have bit Distance with the others of b.
template <int Distance, int... Lane>
[[gnu::always_inline]] inline void exchange(float_vec& a, float_vec& b, std::integer_sequence<int, Lane...>) noexcept {
  const auto low = __builtin_shufflevector(a.v, b.v, (Lane & Distance ? (Lane ^ Distance) + float_lanes : Lane)...);
  const auto high = __builtin_shufflevector(a.v, b.v, (Lane & Distance ? Lane + float_lanes : Lane | Distance)...);
  a = float_vec(low);
  b = float_vec(high);
}

// Exchanges bit Distance of the row's number with the same bit of the lane's, then the lower bits.
template <int Distance> [[gnu::always_inline]] inline void exchange_bits(square_block& rows) noexcept {
  if constexpr (Distance > 0) {
#pragma GCC unroll 16
    for (int i = 0; i < float_lanes; ++i)
      if ((i & Distance) == 0)
        exchange<Distance>(rows[i], rows[i | Distance], std::make_integer_sequence<int, float_lanes>());
    exchange_bits<Distance / 2>(rows);
  }
}

}  // namespace detail

// @post rows[i][j] == before[j][i]
[[gnu::always_inline]] inline void transpose(square_block& rows) noexcept {
  detail::exchange_bits<float_lanes / 2>(rows);
}

namespace detail {

// Reads rows x columns values, at most float_lanes each way; lanes past the rows are written as zeros.
[[gnu::always_inline]] inline void transpose_block(const float* in, index_t in_stride, auto rows, auto columns,
                                                   float* out, index_t out_stride) noexcept {
  square_block block;
#pragma GCC unroll 16
  for (int i = 0; i < float_lanes; ++i) {
    block[i] = float_vec(0.0f);
    if (i < rows) {
      if constexpr (is_constant<decltype(columns)>) block[i] = float_vec::load(in + i * in_stride);
      else block[i] = float_vec::load(in + i * in_stride, columns);
    }
  }
  transpose(block);
#pragma GCC unroll 16
  for (int i = 0; i < float_lanes; ++i)
    if (i < columns) block[i].store(out + i * out_stride);
}

}  // namespace detail

// out[c * out_stride + r] = in[r * in_stride + c]. Rows of `out` are written up to whole vectors, with zeros behind the
// last value: out_stride is at least `rows`, rounded up to float_lanes.
[[gnu::noinline]] inline void transpose_matrix(const float* in, index_t in_stride, index_t rows, index_t columns,
                                               float* out, index_t out_stride) noexcept {
  constexpr constant<float_lanes> all{};
  for (index_t r = 0; r < rows; r += float_lanes) {
    for (index_t c = 0; c < columns; c += float_lanes) {
      const float* const from = in + r * in_stride + c;
      float* const to = out + c * out_stride + r;
      if (r + float_lanes <= rows && c + float_lanes <= columns)
        detail::transpose_block(from, in_stride, all, all, to, out_stride);
      else
        detail::transpose_block(from, in_stride, rows - r, std::min<index_t>(columns - c, float_lanes), to, out_stride);
    }
  }
}

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
