// SPDX-License-Identifier: MIT
// Products of bytes in tile registers: sums of two blocks of up to 16 rows by up to two vectors of columns, of A and B
// as cpu/micro/byte_tile.hpp has them packed. Of each row of A up to three bytes behind a run may be read, and as many
// more as steps are added to make pieces of one length, fewer than 64 in all; B is zero there.
#pragma once

#include <algorithm>
#include <cstdint>

#include "dnnkit/cpu/micro/byte_tile.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

namespace isa {
struct tile_registers;  // of those that have them
}

// Rows of a tile register, and steps of the reduction.
inline constexpr index_t tile_height = 16, tile_steps = 16;

// A run of bytes as pieces of one length, in steps.
struct even_steps {
  index_t pieces = 0, steps = 0;
};
constexpr even_steps pieces_of(index_t run) noexcept {
  const index_t steps = ceil_div(run, bytes_a_step), pieces = ceil_div(steps, tile_steps);
  return {pieces, pieces == 0 ? 0 : ceil_div(steps, pieces)};
}

// Rows as blocks of one height: block t begins at first(t), of which rows before t * height are also the last ones of
// the block before.
struct even_rows {
  index_t rows = 0, blocks = ceil_div(rows, tile_height), height = blocks == 0 ? 0 : ceil_div(rows, blocks);
  constexpr index_t first(index_t t) const noexcept { return std::min(t * height, rows - height); }
  constexpr index_t again(index_t t) const noexcept { return t * height - first(t); }
};

// What is fetched into the second level of cache while tiles are multiplied: `lines` of 64 bytes in each piece. Weights
// come from farther away, which the processor does not see soon enough by itself.
struct tile_fetch {
  const char* address;
  index_t lines;

  [[gnu::always_inline]] void next() noexcept {
    for (index_t i = 0; i < lines; ++i, address += 64) __builtin_prefetch(address, 0, 2);
  }
};
// The share of tile number t of `tiles`, of `pieces` pieces each, in fetching the panel of so many bytes at `next`.
inline tile_fetch tile_share(const packed_byte* next, index_t bytes, index_t t, index_t tiles,
                             index_t pieces) noexcept {
  const index_t lines = pieces == 0 ? 0 : ceil_div(bytes, 64 * tiles * pieces);
  return {reinterpret_cast<const char*>(next) + t * lines * pieces * 64, lines};
}

// The tile registers, shaped for blocks of so many rows and pieces of so many steps while this lives.
template <class Registers> class byte_tiles_of {
 public:
  byte_tiles_of(index_t height, index_t steps) noexcept : height_(height), steps_(std::max<index_t>(steps, 1)) {
    has_tile_registers();  // asks for them, if nobody has
    typename Registers::shapes shapes;
    const auto shape = [&](int tile, index_t rows, index_t bytes) {
      shapes.rows[tile] = static_cast<std::uint8_t>(rows);
      shapes.row_bytes[tile] = static_cast<std::uint16_t>(bytes);
    };
    for (int t = 0; t < 4; ++t) shape(t, height, vector_bytes);  // sums: blocks (0, 1) and (2, 3) of A
    for (int t = 4; t < 6; ++t) shape(t, height, steps_ * bytes_a_step);
    for (int t = 6; t < 8; ++t) shape(t, steps_, vector_bytes);
    Registers::shape(shapes);
  }
  ~byte_tiles_of() { Registers::release(); }
  byte_tiles_of(const byte_tiles_of&) = delete;
  byte_tiles_of& operator=(const byte_tiles_of&) = delete;

  index_t height() const noexcept { return height_; }

  // The sums of Blocks * height() rows by Vectors vectors: those of block t begin at a[t], and all sums of vector j
  // with start[j]. `walk` as byte_tile has it; b is packed for it. Meanwhile `ahead` is fetched.
  template <byte_sign Sign, int Blocks, int Vectors>
  [[gnu::always_inline]] void multiply(const std::uint8_t* const (&a)[Blocks], index_t row_stride, const packed_byte* b,
                                       const byte_walk& walk, tile_fetch ahead, const int_vec* start,
                                       int_vec* sums) const {
    static_assert(Blocks <= 2 && Vectors <= 2);
    constexpr index_t step_b = Vectors * packed_step;
    constexpr bool is_signed = Sign == byte_sign::is_signed;
    for_sums<Blocks, Vectors>([&](auto sum, auto, auto j) { Registers::template load<sum>(start + j, 0); });
    const index_t piece_a = steps_ * bytes_a_step, piece_b = steps_ * step_b, pieces = pieces_of(walk.run).pieces;
    for (index_t d = 0; d < walk.times * walk.depth.count; ++d)
      for (index_t h = 0; h < walk.height.count; ++h)
        for (index_t w = 0; w < walk.width.count; ++w) {
          index_t at = d % walk.depth.count * walk.depth.step + h * walk.height.step + w * walk.width.step;
          for (index_t p = pieces; p > 0; --p, at += piece_a, b += piece_b) {
            ahead.next();
            Registers::template load<4>(a[0] + at, row_stride);
            Registers::template load<6>(b, step_b);
            Registers::template plus_products<0, 4, 6, is_signed>();
            if constexpr (Vectors == 2) {
              Registers::template load<7>(b + packed_step, step_b);
              Registers::template plus_products<1, 4, 7, is_signed>();
            }
            if constexpr (Blocks == 2) {
              Registers::template load<5>(a[1] + at, row_stride);
              Registers::template plus_products<2, 5, 6, is_signed>();
              if constexpr (Vectors == 2) Registers::template plus_products<3, 5, 7, is_signed>();
            }
          }
        }
    for_sums<Blocks, Vectors>([&](auto sum, auto t, auto j) {
      Registers::template store<sum>(sums + t * height_ * Vectors + j, Vectors * vector_bytes);
    });
  }

 private:
  // f(register, block, vector) for each register of sums.
  template <int Blocks, int Vectors, class F> [[gnu::always_inline]] static void for_sums(F&& f) {
    f(constant<0>{}, constant<0>{}, constant<0>{});
    if constexpr (Vectors == 2) f(constant<1>{}, constant<0>{}, constant<1>{});
    if constexpr (Blocks == 2) f(constant<2>{}, constant<1>{}, constant<0>{});
    if constexpr (Blocks == 2 && Vectors == 2) f(constant<3>{}, constant<1>{}, constant<1>{});
  }

  index_t height_, steps_;
};
using byte_tiles = byte_tiles_of<isa::tile_registers>;

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
