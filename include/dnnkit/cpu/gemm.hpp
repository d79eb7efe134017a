// SPDX-License-Identifier: MIT
// C[M,N] = A[M,K] x B[K,N] with A read in place (rows row_stride floats apart) and B packed once into panels; an
// epilogue takes C.
#pragma once

#include "pack.hpp"

namespace dnnkit::cpu {

// Extents are constant<N> or index_t. Describes the product; holds no data. Bit-for-bit the same for every division
// into units.
//
//   gemm<constant<128>, constant<768>, constant<3072>> g{};
//   g.pack([&](index_t k, index_t n) { return weight[n * 3072 + k]; }, packed);   // once
//   g.run(a, packed, bias, 0, g.units(), [&](auto acc, index_t m, index_t n, auto lanes) { acc.store(c + m * 768 + n,
//   lanes); });
//
// Instantiates the micro-kernel for at most two panel widths, each with at most two heights (known M) or four (run-time
// M).
template <class M, class N, class K, class RowStride = K, int MaxVectors = panel_vectors> struct gemm {
  [[no_unique_address]] M m{};
  [[no_unique_address]] N n{};
  [[no_unique_address]] K k{};
  [[no_unique_address]] RowStride row_stride{};

  using panel_layout = panels<(is_constant<N> ? MaxVectors : 2), N>;

  // Floats of the packed B, and of a bias if there is one.
  constexpr index_t packed_size() const noexcept { return k * panel_layout::padded(n); }
  constexpr index_t bias_size() const noexcept { return panel_layout::padded(n); }

  // value(k, n) yields an element of B.
  template <class Value> void pack(Value&& value, float* packed) const {
    pack_panels<panel_layout>(k, n, value, packed);
  }

  // Independent pieces of work; any partition of [0, units()) into ranges may run in any order or at once.
  constexpr index_t units() const noexcept { return panel_layout::count(n) * blocks(); }

  // Computes the units [first, last). bias: bias_size() floats or null. epilogue(float_vec acc, index_t m, index_t n,
  // lanes): row m, first column n; lanes is constant<float_lanes> or a smaller index_t, the number of valid lanes.
  template <class Epilogue>
  void run(const float* a, const float* packed, const float* bias, index_t first, index_t last,
           Epilogue&& epilogue) const {
    // Row blocks outside, so that a block of A stays in L2 while all panels pass; panels inside, rows of the block
    // innermost.
    for (index_t u = first; u < last; ++u) {
      const index_t block = u / panel_layout::count(n), p = u % panel_layout::count(n);
      panel_layout::visit(p, [&](auto vectors, index_t column) {
        constexpr int width = static_cast<int>(decltype(vectors)::value);
        const split<tile_rows(width), M> rows(m);
        const index_t begin = rows.count() * block / blocks(), end = rows.count() * (block + 1) / blocks();
        for (index_t t = begin; t < end; ++t) {
          rows.visit(t, [&](auto height, index_t row) {
            run_tile<static_cast<int>(decltype(height)::value), width>(a + row * row_stride, packed + k * column, bias,
                                                                       row, column, epilogue);
          });
        }
      });
    }
  }

 private:
  // Blocks of rows such that a block of A takes half of L2, and at least enough of them to be worth splitting.
  constexpr index_t blocks() const noexcept {
    const index_t by_cache = ceil_div(m * k * 4, l2_bytes / 2), by_rows = ceil_div(m, 64);
    return m == 0 || n == 0 ? 0 : by_cache > by_rows ? by_cache : by_rows;
  }

  template <int Rows, int Vectors, class Epilogue>
  [[gnu::always_inline]] void run_tile(const float* a, const float* b, const float* bias, index_t row, index_t column,
                                       Epilogue& epilogue) const {
    const k_walk walk{.depth = {}, .height = {}, .width = {}, .run = {k, 1, Vectors * float_lanes}};
    tile<Rows, Vectors>(
        a, row_stride, b, walk,
        [&](int, int j) { return bias ? float_vec::load(bias + column + j * float_lanes) : float_vec(0.0f); },
        [&](int i, int j, float_vec acc) {
          constexpr bool full = is_constant<N> && value_or<N>(1) % float_lanes == 0;
          const index_t at = column + j * float_lanes;
          if (is_constant<N> && j + 1 < Vectors) {
            epilogue(acc, row + i, at, constant<float_lanes>{});
          } else {
            with_lanes<full>(n - at, [&](auto lanes) { epilogue(acc, row + i, at, lanes); });
          }
        });
  }
};

}  // namespace dnnkit::cpu
