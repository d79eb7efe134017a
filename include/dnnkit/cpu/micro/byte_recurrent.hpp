// SPDX-License-Identifier: MIT
// The product of a recurrent layer's states by its recurrent weights, both of bytes, exact in 32-bit integers: a few
// vectors of units at a time and each with all its gates, so that a step's states are finished from registers.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "dnnkit/cpu/micro/byte_gemm.hpp"
#include "dnnkit/cpu/micro/recurrent.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

// As gate_sums (cpu/micro/recurrent.hpp), of signed bytes that are packed once and states of unsigned bytes, of which
// each row has `depth`; what lies behind the last unit counts nothing.
//
//   using sums = byte_gate_sums<512, 4>;
//   sums::pack([&](index_t gate, index_t unit, index_t k) { return r[(gate * 512 + unit) * 512 + k]; }, packed);
//   sums::run(states, stride, constant<1>{}, packed, false, start, finish);
//
// start(row, block, gate) is what a sum begins with, finish(row, block, sums) takes the sums of a block's gates, each a
// vector of units, in 32-bit integers.
template <index_t Units, int Gates> struct byte_gate_sums {
  static constexpr index_t blocks = ceil_div(Units, float_lanes), depth = ceil_div(Units, bytes_a_step) * bytes_a_step,
                           columns = blocks * Gates * float_lanes;
  static constexpr int widest = std::max(1, recurrent_vectors / Gates);  // blocks of a panel
  using block_split = split<widest, constant<blocks>>;
  using sums = std::array<int_vec, static_cast<std::size_t>(Gates)>;

  static constexpr index_t packed_size() noexcept { return byte_steps(1, depth) * bytes_a_step * columns; }

  // value(gate, unit, k) yields a weight, from -128 to 127.
  template <class Value> static void pack(Value&& value, packed_byte* packed) {
    pack_byte_panels<panels_of_blocks>(
        1, depth, columns,
        [&](index_t, index_t k, index_t column) {
          const index_t unit = column / (Gates * float_lanes) * float_lanes + column % float_lanes;
          return k < Units && unit < Units ? static_cast<int>(value(column / float_lanes % Gates, unit, k)) : 0;
        },
        packed);
  }

  // Panels from the first on, or from the last: what of the weights lay last in the second cache is read first when the
  // order changes with each step.
  template <class Rows, class Start, class Finish>
  static void run(const std::uint8_t* states, index_t stride, Rows rows, const packed_byte* packed, bool from_last,
                  Start&& start, Finish&& finish) {
    for (index_t p = 0; p < block_split::count(); ++p)
      block_split::visit(from_last ? block_split::count() - 1 - p : p, [&](auto count, index_t first) {
        constexpr int wide = static_cast<int>(count()) * Gates;
        const packed_byte* const panel = packed + byte_steps(1, depth) * bytes_a_step * first * Gates * float_lanes;
        const split<recurrent_rows(targets::native::facts, wide), Rows> tiles(rows);
        for (index_t t = 0; t < tiles.count(); ++t)
          tiles.visit(t, [&](auto height, index_t row) {
            run_tile<static_cast<int>(height()), static_cast<int>(count())>(states + row * stride, stride, panel, row,
                                                                            first, start, finish);
          });
      });
  }

 private:
  struct panels_of_blocks {
    static constexpr index_t count(index_t) noexcept { return block_split::count(); }
    template <class F> static constexpr void visit(index_t p, F&& f) {
      block_split::visit(
          p, [&](auto count, index_t first) { f(constant<count() * Gates>{}, first * Gates * float_lanes); });
    }
  };

  // A function of its own: with more around it, GCC runs out of registers.
  template <int Rows, int Blocks, class Start, class Finish>
  [[gnu::noinline]] static void run_tile(const std::uint8_t* states, index_t stride, const packed_byte* panel,
                                         index_t row, index_t block, Start& start, Finish& finish) {
    constexpr int wide = Blocks * Gates;
    int_vec of[Rows][wide];
    byte_tile<byte_sign::is_unsigned, Rows, wide>(
        states, stride, panel, byte_walk{.depth = {}, .height = {}, .width = {}, .run = depth}, nothing_ahead{},
        [&](int i, int j) { return start(row + i, block + j / Gates, j % Gates); }, of);
    for (int i = 0; i < Rows; ++i)
      for (int b = 0; b < Blocks; ++b) {
        sums s;
        for (int gate = 0; gate < Gates; ++gate) s[static_cast<std::size_t>(gate)] = of[i][b * Gates + gate];
        finish(row + i, block + b, s);
      }
  }
  // Weights lie in the order in which they are read: processors fetch them ahead by themselves.
  struct nothing_ahead {
    [[gnu::always_inline]] void next() noexcept {}
  };
};

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
