// SPDX-License-Identifier: MIT
// C[M,N] = A[M,K] x B[K,N] of few rows, with B read where it lies: packing it would take longer than the product.
#pragma once

#include <algorithm>

#include "dnnkit/cpu/micro/tile.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

// The rows that one pass over B is enough for.
constexpr int most_thin_rows(const cpu_facts& facts) noexcept { return plan::tile_rows(facts, tile_vectors(facts)); }

// Rows: at most most_thin_rows. N, K and the elements between the rows of A and of B are constant<N> or index_t; the
// elements of a row of B lie next to each other. Vec as in gemm (cpu/micro/gemm.hpp). Describes the product; holds no
// data. Bit-for-bit the same for every division into units.
//
// Some rows of B at a time are read from one end of a piece to the other, as they lie in memory, and added to sums of
// that piece, which stay in the first cache (Goto and van de Geijn, Anatomy of High-Performance Matrix Multiplication,
// 2008, section 4.2.3, on products of a panel and a block).
template <int Rows, class N, class K, class StrideOfA, class StrideOfB, class Vec> struct thin_gemm {
  using element = typename Vec::value_type;

  [[no_unique_address]] N n{};
  [[no_unique_address]] K k{};
  [[no_unique_address]] StrideOfA stride_of_a{};
  [[no_unique_address]] StrideOfB stride_of_b{};

  // Independent pieces of work; any partition of [0, units()) into ranges may run in any order or at once.
  constexpr index_t units() const noexcept { return ceil_div(n, piece); }

  // Computes the units [first, last). epilogue(Vec acc, index_t m, index_t n, lanes) as in gemm.
  template <class Epilogue>
  void run(const element* a, const element* b, index_t first, index_t last, Epilogue&& epilogue) const {
    for (index_t u = first; u < last; ++u) run_piece(a, b, u * piece, std::min<index_t>(n, (u + 1) * piece), epilogue);
  }

 private:
  static constexpr int registers = static_cast<int>(sizeof(Vec) / sizeof(float_vec));  // of a vector
  static constexpr int width = std::max(1, panel_vectors / registers);                 // of a tile, in vectors
  static constexpr index_t piece = 8 * width * float_lanes, depth = 8;  // columns of a piece; rows of B at a time

  struct fetch_nothing {
    [[gnu::always_inline]] void next(index_t = 1) noexcept {}
    [[gnu::always_inline]] void next_height() noexcept {}
  };

  template <class Epilogue>
  void run_piece(const element* a, const element* b, index_t begin, index_t end, Epilogue& epilogue) const {
    alignas(64) element sums[Rows * piece];
    for (index_t from = 0; from == 0 || from < k; from += depth) {
      const index_t to = std::min<index_t>(k, from + depth);
      const element* rows = b + from * stride_of_b;
      index_t at = begin;
      for (; at + width * float_lanes <= end; at += width * float_lanes)
        run_tile<width>(a + from, rows + at, stride_of_b, from, to, sums + (at - begin), at, constant<float_lanes>{},
                        epilogue);
      for (; at + float_lanes <= end; at += float_lanes)
        run_tile<1>(a + from, rows + at, stride_of_b, from, to, sums + (at - begin), at, constant<float_lanes>{},
                    epilogue);
      if (at < end) {  // part of a vector, behind which nothing may be read
        element last[depth * float_lanes];
        for (index_t i = from; i < to; ++i)
          Vec::load(rows + (i - from) * stride_of_b + at, end - at).store(last + (i - from) * float_lanes);
        run_tile<1>(a + from, last, constant<float_lanes>{}, from, to, sums + (at - begin), at, end - at, epilogue);
      }
    }
  }

  // Adds the products of rows `from` to before `to` of B to the sums of some columns, the first of number `column`.
  template <int Vectors, class Epilogue>
  [[gnu::always_inline]] void run_tile(const element* a, const element* b, auto step_of_b, index_t from, index_t to,
                                       element* sums, index_t column, auto lanes, Epilogue& epilogue) const {
    const k_loop walk{to - from, 1, step_of_b};
    tile<Rows, Vectors>(
        a, stride_of_a, b, walk, fetch_nothing{},
        [&](int i, int j) { return from > 0 ? Vec::load(sums + i * piece + j * float_lanes) : Vec(element(0)); },
        [&](int i, int j, Vec acc) {
          if (to < k) acc.store(sums + i * piece + j * float_lanes);
          else epilogue(acc, i, column + j * float_lanes, lanes);
        });
  }
};

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
