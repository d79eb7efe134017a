// SPDX-License-Identifier: MIT
// C[M,N] = A[M,K] x B[K,N] of bytes in 32-bit integers, exact (sums wrap around), with A read in place (rows row_stride
// bytes apart) and B packed once into panels; an epilogue takes C.
#pragma once

#include <cstdint>

#include "dnnkit/cpu/micro/byte_tiles.hpp"
#include "dnnkit/cpu/micro/pack.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

// The widest panel of B for a reduction over k bytes, in vectors (see gemm_panel_vectors).
constexpr int byte_panel_vectors(const cpu_facts& facts, index_t k) noexcept {
  if (facts.tile_registers) return 2;
  return best_width(facts,
                    {.rows = 1024,
                     .vectors = 48,
                     .depth = static_cast<double>(ceil_div(k, bytes_a_step)),
                     .rows_collide = rows_collide(facts, k)},
                    tile_vectors(facts));
}

// Steps of four bytes that runs of `run` bytes take.
constexpr index_t byte_steps(index_t runs, index_t run) noexcept {
  if (in_tile_registers) return runs * pieces_of(run).pieces * pieces_of(run).steps;
  return runs * ceil_div(run, bytes_a_step);
}
// Are bytes of A read that lie behind a run? Fewer than 64, whatever they are.
constexpr bool reads_behind(const cpu_facts& facts, index_t run) noexcept {
  return facts.tile_registers && pieces_of(run).pieces * pieces_of(run).steps * bytes_a_step != run;
}
inline constexpr index_t most_behind = in_tile_registers ? vector_bytes : 0;

// rows x vectors of sums over runs of `run` bytes, in panels of as many vectors as `widest`.
constexpr tiled_cycles cycles_of_bytes(const cpu_facts& facts, double rows, double vectors, index_t runs, index_t run,
                                       int widest, bool collide = false) noexcept {
  if (!facts.tile_registers)
    return cycles_of(facts,
                     {.rows = rows,
                      .vectors = vectors,
                      .depth = static_cast<double>(byte_steps(runs, run)) * facts.products_of_bytes,
                      .runs = static_cast<double>(runs),
                      .rows_collide = collide},
                     widest);
  // a register of A by one of B takes as many cycles as they have rows
  const double tiles = cut(rows, tile_height).count * vectors;
  return {tiles * static_cast<double>(runs * pieces_of(run).pieces * tile_height), tiles / 4 * facts.costs.tile};
}

// Writes panels of the (runs * run) x n matrix value(run, k in the run, column), signed bytes, to out, which holds
// byte_steps(runs, run) * bytes_a_step elements for each of Panels::padded(n) columns. Panel p starts where its first
// column would.
template <class Panels, class Value>
void pack_byte_panels(index_t runs, index_t run, index_t n, Value&& value, packed_byte* out) {
  const index_t steps = byte_steps(1, run);
  for (index_t p = 0; p < Panels::count(n); ++p)
    Panels::visit(p, [&](auto vectors, index_t first) {
      packed_byte* at = out + runs * steps * bytes_a_step * first;
      for (index_t r = 0; r < runs; ++r)
        for (index_t s = 0; s < steps; ++s)
          for (index_t j = 0; j < vectors(); ++j, at += packed_step)
            for (index_t k = 0; k < bytes_a_step; ++k)
              for (index_t lane = 0; lane < float_lanes; ++lane) {
                const index_t row = s * bytes_a_step + k, column = first + j * float_lanes + lane;
                at[place_in_step(k, lane)] =
                    row < run && column < n ? static_cast<packed_byte>(value(r, row, column)) : packed_byte(0);
              }
    });
}

// Extents are constant<N> or index_t. Describes the product; holds no data.
//
//   byte_gemm<byte_sign::is_unsigned, constant<128>, constant<768>, constant<3072>> g{};
//   g.pack([&](index_t k, index_t n) { return weight[k * 768 + n]; }, packed);   // once
//   g.run(a, packed, 0, g.units(),
//         [&](index_t m, index_t n) { return int_vec(0); },
//         [&](auto acc, index_t m, index_t n, auto lanes) { acc.store(c + m * 768 + n, lanes); });
//
// Instantiates the micro-kernel for at most two panel widths, each with at most two heights (known M) or four
// (run-time M); in tile registers, with one block of rows and with two.
template <byte_sign Sign, class M, class N, class K, class RowStride = K,
          int MaxVectors = byte_panel_vectors(targets::native::facts, value_or<K>(1))>
struct byte_gemm {
  [[no_unique_address]] M m{};
  [[no_unique_address]] N n{};
  [[no_unique_address]] K k{};
  [[no_unique_address]] RowStride row_stride{};

  using panel_layout = panels<MaxVectors, N>;

  // Columns of storage, the length of what is kept beside B, an element a column.
  constexpr index_t columns() const noexcept { return panel_layout::padded(n); }
  // Elements of the packed B.
  constexpr index_t packed_size() const noexcept { return byte_steps(1, k) * bytes_a_step * columns(); }

  // value(k, n) yields an element of B, from -128 to 127.
  template <class Value> void pack(Value&& value, packed_byte* packed) const {
    pack_byte_panels<panel_layout>(
        1, k, n, [&](index_t, index_t row, index_t column) { return value(row, column); }, packed);
  }

  // Independent pieces of work; any partition of [0, units()) into ranges may run in any order or at once.
  constexpr index_t units() const noexcept { return panel_layout::count(n) * blocks(); }

  // Computes the units [first, last). start(m, n) is what the sums of row m and columns n, ... begin with, as an
  // int_vec; epilogue(int_vec acc, index_t m, index_t n, lanes): lanes is constant<float_lanes> or a smaller index_t,
  // the number of valid lanes.
  template <class Start, class Epilogue>
  void run(const std::uint8_t* a, const packed_byte* packed, index_t first, index_t last, Start&& start,
           Epilogue&& epilogue) const {
    const index_t count = panel_layout::count(n);
    if constexpr (in_tile_registers) {
      if (first >= last) return;
      const even_rows rows{m};
      const byte_tiles tiles(rows.height, pieces_of(k).steps);
      for (index_t u = first; u < last; ++u)
        run_panel_in_tiles(tiles, rows, a, packed, u / count, u % count, start, epilogue);
      return;
    }
    for (index_t u = first; u < last; ++u) run_panel(a, packed, u / count, u % count, start, epilogue);
  }

 private:
  // Blocks of rows such that a block of A takes half of L2; more of them when there are too few panels to divide the
  // work.
  constexpr index_t blocks() const noexcept {
    if (m == 0 || n == 0) return 0;
    const index_t by_cache = ceil_div(m * k, l2_bytes / 2);
    const index_t to_divide = std::min(ceil_div(16, panel_layout::count(n)), ceil_div(m, 32));
    return std::max({index_t{1}, by_cache, to_divide});
  }

  template <class Start, class Epilogue>
  [[gnu::always_inline]] void run_panel(const std::uint8_t* a, const packed_byte* packed, index_t block, index_t p,
                                        Start& start, Epilogue& epilogue) const {
    panel_layout::visit(p, [&](auto vectors, index_t column) {
      constexpr int width = static_cast<int>(decltype(vectors)::value);
      constexpr index_t row_of_panel = width * packed_step;
      const split<tile_rows(width), M> rows(m);
      const index_t begin = rows.count() * block / blocks(), end = rows.count() * (block + 1) / blocks();
      const index_t steps = byte_steps(1, k);
      const packed_byte* b = packed + steps * bytes_a_step * column;
      const packed_byte* packed_end = packed + steps * bytes_a_step * panel_layout::padded(n);
      for (index_t t = begin; t < end; ++t)
        rows.visit(t, [&](auto height, index_t row) {
          const fetch_ahead ahead =
              share_of(b + steps * row_of_panel, packed_end, steps, row_of_panel, t - begin, end - begin);
          run_tile<static_cast<int>(decltype(height)::value), width>(a + row * row_stride, b, row, column, ahead, start,
                                                                     epilogue);
        });
    });
  }

  template <class Start, class Epilogue>
  [[gnu::always_inline]] void run_panel_in_tiles(const byte_tiles& tiles, const even_rows& rows, const std::uint8_t* a,
                                                 const packed_byte* packed, index_t block, index_t p, Start& start,
                                                 Epilogue& epilogue) const {
    panel_layout::visit(p, [&](auto vectors, index_t column) {
      constexpr int width = static_cast<int>(decltype(vectors)::value);
      const index_t pairs = ceil_div(rows.blocks, 2), end = pairs * (block + 1) / blocks();
      const index_t panel = byte_steps(1, k) * bytes_a_step * width * float_lanes, begin = pairs * block / blocks();
      const packed_byte* b = packed + byte_steps(1, k) * bytes_a_step * column;
      for (index_t t = begin; t < end; ++t) {
        const tile_fetch ahead = tile_share(b + panel, panel, t - begin, end - begin, pieces_of(k).pieces);
        if (2 * t + 1 < rows.blocks) run_tiles<2, width>(tiles, rows, 2 * t, a, b, column, ahead, start, epilogue);
        else run_tiles<1, width>(tiles, rows, 2 * t, a, b, column, ahead, start, epilogue);
      }
    });
  }

  // What a tile that begins there hands its sums to (finish_tile): Finish takes sum, row, first column and lanes.
  template <class Finish> struct finished_at {
    const Finish& finish_one;
    index_t row, first;

    template <class Lanes> struct one_column {
      const finished_at& at;
      index_t first;
      Lanes lanes;
      [[gnu::always_inline]] void finish(int i, int_vec sum) const { at.finish_one(sum, at.row + i, first, lanes); }
    };
    template <class Lanes> [[gnu::always_inline]] one_column<Lanes> column(int j, Lanes lanes) const {
      return {*this, first + j * float_lanes, lanes};
    }
  };

  template <int Blocks, int Vectors, class Start, class Epilogue>
  [[gnu::noinline]] void run_tiles(const byte_tiles& tiles, const even_rows& rows, index_t t, const std::uint8_t* a,
                                   const packed_byte* b, index_t column, tile_fetch ahead, Start& start,
                                   Epilogue& epilogue) const {
    const std::uint8_t* at[Blocks];
    for (int i = 0; i < Blocks; ++i) at[i] = a + rows.first(t + i) * row_stride;
    int_vec zeros[Vectors], sums[Blocks * tile_height * Vectors];
    for (int_vec& zero : zeros) zero = int_vec(0);
    tiles.multiply<Sign, Blocks, Vectors>(
        at, row_stride, b, byte_walk{.depth = {}, .height = {}, .width = {}, .run = k}, ahead, zeros, sums);
    // sums begin with zeros: what they are to begin with is added to them
    const auto with_start = [&](int_vec sum, index_t row, index_t first, auto lanes) __attribute__((always_inline)) {
      epilogue(sum + start(row, first), row, first, lanes);
    };
    for (int i = 0; i < Blocks; ++i) {
      const index_t again = rows.again(t + i), row = rows.first(t + i) + again;
      finish_tile<is_full>(sums + (i * rows.height + again) * Vectors, static_cast<int>(rows.height - again), Vectors,
                           n - column, finished_at<decltype(with_start)>{with_start, row, column});
    }
  }

  static constexpr bool is_full = is_constant<N> && value_or<N>(1) % float_lanes == 0;

  // A function of its own: with more around it, GCC runs out of registers in some of them.
  template <int Rows, int Vectors, class Start, class Epilogue>
  [[gnu::noinline]] void run_tile(const std::uint8_t* a, const packed_byte* b, index_t row, index_t column,
                                  fetch_ahead ahead, Start& start, Epilogue& epilogue) const {
    int_vec sums[Rows][Vectors];
    byte_tile<Sign, Rows, Vectors>(
        a, row_stride, b, byte_walk{.depth = {}, .height = {}, .width = {}, .run = k}, ahead,
        [&](int i, int j) { return start(row + i, column + j * float_lanes); }, sums);
    finish_tile<is_full>(&sums[0][0], Rows, Vectors, n - column, finished_at<Epilogue>{epilogue, row, column});
  }
};

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
