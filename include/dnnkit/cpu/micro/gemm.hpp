// SPDX-License-Identifier: MIT
// C[M,N] = A[M,K] x B[K,N] with A read in place (rows row_stride elements apart) and B packed once into panels; an
// epilogue takes C. Elements are floats, or others of which a vector of float_lanes takes one register or two.
#pragma once

#include "dnnkit/cost/register_tile.hpp"
#include "dnnkit/cpu/micro/pack.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

// The widest panel of B for a reduction over k elements, in vectors: the one of which large products take least time.
// Vectors of elements of 8 bytes take two registers each.
// Panels of two pass over A more often than wider ones, but over the panel, which seldom fits L1, less often. Rows of a
// multiple of what a way of L1 holds all start in one set: fewer of them at once, and so wider panels (128x768x3072 on
// a Zen 4: 86 % of the peak with two vectors, 95 with three).
constexpr int gemm_panel_vectors(const cpu_facts& facts, index_t k, index_t element_bytes = 4) noexcept {
  constexpr double many_rows = 1024, many_vectors = 48;
  const int registers = best_width(facts,
                                   {.rows = many_rows,
                                    .vectors = many_vectors,
                                    .depth = static_cast<double>(k),
                                    .rows_collide = rows_collide(facts, k * element_bytes)},
                                   usual_width(facts));
  return element_bytes > 4 ? (registers + 1) / 2 : registers;
}
template <class K> constexpr int gemm_panel_vectors() noexcept {
  return gemm_panel_vectors(targets::native::facts, value_or<K>(1));
}

// Longer reductions are cut into blocks.
inline constexpr index_t longest_whole_reduction = 1536;

// How a product is cut, where it is said from outside; of what is 0, gemm decides.
struct gemm_cut {
  int most_rows = 0;  // of a register tile
  index_t block = 0;  // rows that all panels pass at once, at the most
  index_t depth = 0;  // steps of the reduction that a register tile takes in one go, at the most

  // Blocks of a reduction over k elements, such that a panel's part takes a quarter of L2.
  constexpr index_t blocks_of_reduction(index_t k) const noexcept {
    if (depth > 0) return k <= depth ? 1 : ceil_div(k, depth);
    return k <= longest_whole_reduction ? 1 : ceil_div(k, 1024);
  }
  // Blocks of m rows such that a block of A takes half of L2; more of them when there are too few panels to divide the
  // work.
  constexpr index_t blocks_of_rows(index_t m, index_t k, index_t panels, index_t element_bytes,
                                   index_t second_cache) const noexcept {
    const index_t by_cache = block > 0
                                 ? ceil_div(m, block)
                                 : ceil_div(m * ceil_div(k, blocks_of_reduction(k)) * element_bytes, second_cache / 2);
    const index_t to_divide = std::min(ceil_div(16, panels), ceil_div(m, 32));
    return std::max(by_cache, to_divide);
  }
};

// Extents are constant<N> or index_t; Vec is vec or wide, of float_lanes elements. Describes the product; holds no
// data. Bit-for-bit the same for every division into units.
//
//   gemm<constant<128>, constant<768>, constant<3072>> g{};
//   g.pack([&](index_t k, index_t n) { return weight[n * 3072 + k]; }, packed);   // once
//   g.run(a, packed, bias, 0, g.units(),
//         [&](auto acc, index_t m, index_t n, auto lanes) { acc.store(c + m * 768 + n, lanes); });
//
// Instantiates the micro-kernel for at most two panel widths, each with at most two heights (known M) or four
// (run-time M).
template <class M, class N, class K, class RowStride = K, int MaxVectors = gemm_panel_vectors<K>(),
          class Vec = float_vec, gemm_cut Cut = gemm_cut{}>
struct gemm {
  using element = typename Vec::value_type;

  [[no_unique_address]] M m{};
  [[no_unique_address]] N n{};
  [[no_unique_address]] K k{};
  [[no_unique_address]] RowStride row_stride{};

  using panel_layout = panels<MaxVectors, N>;

  // Elements of the packed B, and of a bias if there is one.
  constexpr index_t packed_size() const noexcept { return k * panel_layout::padded(n); }
  constexpr index_t bias_size() const noexcept { return panel_layout::padded(n); }

  // value(k, n) yields an element of B.
  template <class Value> void pack(Value&& value, element* packed) const {
    pack_panels<panel_layout>(k, n, value, packed);
  }
  // value(k, n, lanes) yields a vector of a row of B from column n on, of which the first `lanes` elements are there.
  template <class Value> void pack_vectors(Value&& value, element* packed) const {
    pack_panels_of_vectors<panel_layout, Vec>(k, n, value, packed);
  }

  // Independent pieces of work; any partition of [0, units()) into ranges may run in any order or at once.
  constexpr index_t units() const noexcept { return panel_layout::count(n) * blocks(); }

  // Elements of the scratch that run() may be given: partial sums between blocks of a long reduction.
  constexpr index_t scratch_size() const noexcept { return k_blocks() == 1 ? 0 : m * panel_layout::padded(n); }

  // Computes the units [first, last). bias: bias_size() elements or null. epilogue(Vec acc, index_t m, index_t n,
  // lanes): row m, first column n; lanes is constant<float_lanes> or a smaller index_t, the number of valid lanes.
  // scratch: scratch_size() elements, the same for all ranges of one product, each unit using a part of its own; or
  // null: the sums are the same, a long reduction is slower. What lies behind the packed B, up to read_next,
  // is read after it by another product: it is fetched ahead.
  template <class Epilogue>
  void run(const element* a, const element* packed, const element* bias, index_t first, index_t last,
           Epilogue&& epilogue, element* scratch = nullptr, const element* read_next = nullptr) const {
    // Row blocks outside, then blocks of the reduction, so that a block of A stays in L2 while all panels pass; rows
    // innermost.
    const index_t count = panel_layout::count(n), parts = scratch ? k_blocks() : 1;
    if (read_next == nullptr) read_next = packed + k * panel_layout::padded(n);
    for (index_t u = first; u < last;) {
      const index_t block = u / count, block_last = std::min(last, (block + 1) * count);
      for (index_t part = 0; part < parts; ++part)
        for (index_t v = u; v < block_last; ++v)
          run_panel(a, packed, bias, block, v % count, part, parts, epilogue, scratch, read_next);
      u = block_last;
    }
  }

 private:
  static constexpr int registers = static_cast<int>(sizeof(Vec) / sizeof(float_vec));  // of a vector

  constexpr index_t blocks() const noexcept {
    if (m == 0 || n == 0) return 0;
    return Cut.blocks_of_rows(m, k, panel_layout::count(n), static_cast<index_t>(sizeof(element)), l2_bytes);
  }
  constexpr index_t k_blocks() const noexcept { return Cut.blocks_of_reduction(k); }

  template <class Epilogue>
  [[gnu::always_inline]] void run_panel(const element* a, const element* packed, const element* bias, index_t block,
                                        index_t p, index_t part, index_t parts, Epilogue& epilogue, element* scratch,
                                        const element* read_next) const {
    const index_t k_begin = k * part / parts, k_end = k * (part + 1) / parts;
    panel_layout::visit(p, [&](auto vectors, index_t column) {
      constexpr int width = static_cast<int>(decltype(vectors)::value);
      const split<tile_rows(registers * width, Cut.most_rows), M> rows(m);
      const index_t begin = rows.count() * block / blocks(), end = rows.count() * (block + 1) / blocks();
      const element* b = packed + k * column + k_begin * (width * float_lanes);
      const element* next = b + k * (width * float_lanes);
      panel_layout::template with_half<Vec>(
          column, vectors, [&](auto in_half) __attribute__((always_inline)) {
            for (index_t t = begin; t < end; ++t) {
              rows.visit(t, [&](auto height, index_t row) {
                run_tile<static_cast<int>(decltype(height)::value), width, in_half()>(
                    a + row * row_stride + k_begin, b, bias, row, column, k_begin, k_end,
                    share_of(next, read_next, k_end - k_begin, width * float_lanes, t - begin, end - begin), epilogue,
                    scratch + (scratch ? column * m + row * (width * float_lanes) : 0));
              });
            }
          });
    });
  }

  // A function of its own: with more around it, GCC runs out of registers in some of them.
  template <int Rows, int Vectors, bool EndsInHalf, class Epilogue>
  [[gnu::noinline]] void run_tile(const element* a, const element* b, const element* bias, index_t row, index_t column,
                                  index_t k_begin, index_t k_end, fetch_ahead ahead, Epilogue& epilogue,
                                  element* partial) const {
    constexpr index_t width = Vectors * float_lanes;
    const k_loop walk{k_end - k_begin, 1, width};
    const element* start = k_begin > 0 ? partial : bias ? bias + column : nullptr;
    const index_t start_stride = k_begin > 0 ? width : 0;
    tile<Rows, Vectors, EndsInHalf>(
        a, row_stride, b, walk, ahead,
        [&](int i, int j) { return start ? Vec::load(start + i * start_stride + j * float_lanes) : Vec(element(0)); },
        [&](int i, int j, Vec acc) {
          constexpr bool full = is_constant<N> && value_or<N>(1) % float_lanes == 0;
          const index_t at = column + j * float_lanes;
          if (k_end < k) {
            acc.store(partial + i * width + j * float_lanes);
          } else if (is_constant<N> && j + 1 < Vectors) {
            epilogue(acc, row + i, at, constant<float_lanes>{});
          } else {
            with_lanes<full>(n - at, [&](auto lanes) { epilogue(acc, row + i, at, lanes); });
          }
        });
  }
};

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
