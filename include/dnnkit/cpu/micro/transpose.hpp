// SPDX-License-Identifier: MIT
// Transposition in registers, float_lanes x float_lanes at a time, and of whole matrices by such blocks; and of
// matrices of elements of any size, by blocks whose rows take 16 bytes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
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

namespace detail {

// The lanes of a and b in turn, from lane First of both on.
template <int First, class T, int N, int... Lane>
[[gnu::always_inline]] inline vec<T, N> interleaved(vec<T, N> a, vec<T, N> b,
                                                    std::integer_sequence<int, Lane...>) noexcept {
  return vec<T, N>(__builtin_shufflevector(a.v, b.v, (First + Lane / 2 + (Lane % 2 == 0 ? 0 : N))...));
}

// @post rows[i][j] == before[j][i]
// Interleaving the first half of the rows with the second moves the highest bit of the row's number below the lane's,
// and that of the lane's into the row's: after as many times as there are bits, they have changed places.
template <int Times, class T, int N> [[gnu::always_inline]] inline void interleave_rows(vec<T, N> (&rows)[N]) noexcept {
  if constexpr (Times > 1) {
    constexpr auto all = std::make_integer_sequence<int, N>();
    vec<T, N> turned[N];
#pragma GCC unroll 8
    for (int i = 0; i < N / 2; ++i) {
      turned[2 * i] = interleaved<0>(rows[i], rows[i + N / 2], all);
      turned[2 * i + 1] = interleaved<N / 2>(rows[i], rows[i + N / 2], all);
    }
#pragma GCC unroll 16
    for (int i = 0; i < N; ++i) rows[i] = turned[i];
    interleave_rows<Times / 2>(rows);
  }
}

template <int N, class Bits, class T>
[[gnu::always_inline]] inline void transpose_whole_block(const T* in, index_t in_stride, T* out,
                                                         index_t out_stride) noexcept {
  vec<Bits, N> rows[N];
#pragma GCC unroll 16
  for (int i = 0; i < N; ++i) rows[i] = vec<Bits, N>::load(reinterpret_cast<const Bits*>(in + i * in_stride));
  interleave_rows<N>(rows);
#pragma GCC unroll 16
  for (int i = 0; i < N; ++i) rows[i].store(reinterpret_cast<Bits*>(out + i * out_stride));
}

template <int N, class T>
inline void transpose_by_blocks(const T* in, index_t in_stride, index_t rows, index_t columns, T* out,
                                index_t out_stride) noexcept {
  using bits = std::make_unsigned_t<signed_of<sizeof(T)>>;
  constexpr index_t together = 4;  // blocks side by side, which read whole lines of the cache
  for (index_t begin = 0; begin < columns; begin += together * N) {
    const index_t end = std::min<index_t>(begin + together * N, columns);
    for (index_t r = 0; r < rows; r += N)
      for (index_t c = begin; c < end; c += N) {
        // The last blocks overlap those before.
        const index_t row = std::min<index_t>(r, rows - N), column = std::min<index_t>(c, columns - N);
        transpose_whole_block<N, bits>(in + row * in_stride + column, in_stride, out + column * out_stride + row,
                                       out_stride);
      }
  }
}

}  // namespace detail

// Rows and columns of the largest block of elements of so many bytes that fits a matrix; 1 where none of 4 does, or of
// 2 of 8 bytes.
constexpr int largest_block(std::size_t bytes, index_t rows, index_t columns) noexcept {
  const int least = bytes == 8 ? 2 : 4;
  int n = static_cast<int>(16 / bytes);
  while (n >= least && (n > rows || n > columns)) n /= 2;
  return n >= least ? n : 1;
}

// out[c * out_stride + r] = in[r * in_stride + c], which do not overlap. T has 1, 2, 4 or 8 bytes, which stay as they
// are.
template <class T>
[[gnu::noinline]] void transpose_elements(const T* in, index_t in_stride, index_t rows, index_t columns, T* out,
                                          index_t out_stride) noexcept {
  constexpr int most = static_cast<int>(16 / sizeof(T));
  const int n = largest_block(sizeof(T), rows, columns);
  if (n == most) return detail::transpose_by_blocks<most>(in, in_stride, rows, columns, out, out_stride);
  if constexpr (most >= 8)
    if (n == most / 2) return detail::transpose_by_blocks<most / 2>(in, in_stride, rows, columns, out, out_stride);
  if constexpr (most >= 16)
    if (n == most / 4) return detail::transpose_by_blocks<most / 4>(in, in_stride, rows, columns, out, out_stride);
  for (index_t c = 0; c < columns; ++c)
    for (index_t r = 0; r < rows; ++r) out[c * out_stride + r] = in[r * in_stride + c];
}

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
