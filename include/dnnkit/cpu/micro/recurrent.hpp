// SPDX-License-Identifier: MIT
// The product of a recurrent layer's states by its recurrent weights, a few vectors of units at a time and each with
// all its gates, so that a step's states are finished from registers.
#pragma once

#include <algorithm>
#include <array>

#include "dnnkit/cost/register_tile.hpp"
#include "dnnkit/cpu/micro/pack.hpp"
#include "dnnkit/cpu/micro/product_beside.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

// Vectors of sums that are computed at once: as many as an LSTM's unit has gates. The product of one row gains nothing
// from more, as its weights come from the second cache or from farther away; its gates do, of which those of two blocks
// of units do not wait for each other, where registers are left beside a product_beside.
inline constexpr int recurrent_vectors = 4, recurrent_vectors_of_row = 8;
// Rows of the batch in a tile of so many vectors.
constexpr int recurrent_rows(const cpu_facts& facts, int vectors) noexcept {
  return facts.vector_registers == 32 || vectors < 4 ? plan::tile_rows(facts, vectors) : 2;
}

// Sums of `Gates` gates of `Units` units: row `row` of the states, so many floats after the one before, times a matrix
// packed once. Units are cut into blocks of a vector, blocks into panels of as many as have at most `Vectors`
// vectors of sums; a panel is stored step by step of the reduction, block by block, gate by gate, units beyond the last
// with zeros.
//
//   using sums = gate_sums<512, 4>;
//   sums::pack([&](index_t gate, index_t unit, index_t k) { return r[(gate * 512 + unit) * 512 + k]; }, packed);
//   sums::run(states, stride, constant<1>{}, packed, false, start, finish);
//
// start(row, block, gate) is what a sum begins with, finish(row, block, sums) takes the sums of a block's gates, each a
// vector of units.
template <index_t Units, int Gates, int Vectors = recurrent_vectors> struct gate_sums {
  static constexpr index_t blocks = ceil_div(Units, float_lanes);
  static constexpr int widest = std::max(1, Vectors / Gates);  // blocks of a panel
  using panels = split<widest, constant<blocks>>;
  struct nothing {};
  using sums = std::array<float_vec, static_cast<std::size_t>(Gates)>;

  static constexpr index_t packed_size() noexcept { return Units * blocks * Gates * float_lanes; }

  template <class Value> static void pack(Value&& value, float* packed) {
    for (index_t p = 0; p < panels::count(); ++p)
      panels::visit(p, [&](auto count, index_t first) {
        float* out = packed + Units * first * Gates * float_lanes;
        for (index_t k = 0; k < Units; ++k)
          for (index_t b = first; b < first + count(); ++b)
            for (index_t gate = 0; gate < Gates; ++gate)
              for (index_t unit = b * float_lanes; unit < (b + 1) * float_lanes; ++unit)
                *out++ = unit < Units ? static_cast<float>(value(gate, unit, k)) : 0.0f;
      });
  }

  // Panels from the first on, or from the last: what of the weights lay last in the second cache is read first when the
  // order changes with each step.
  // Of one row, a product_beside may be carried on meanwhile, by one of its iterations every Period of the reduction.
  template <int Period = 0, class Rows, class Start, class Finish, class Product = nothing>
  static void run(const float* states, index_t stride, Rows rows, const float* packed, bool from_last, Start&& start,
                  Finish&& finish, Product&& beside = {}) {
    for (index_t p = 0; p < panels::count(); ++p)
      panels::visit(from_last ? panels::count() - 1 - p : p, [&](auto count, index_t first) {
        constexpr int wide = static_cast<int>(count()) * Gates;
        if constexpr (Period > 0) {
          if (!beside.is_complete())
            return run_row<static_cast<int>(count()), Period>(states, packed + Units * first * Gates * float_lanes,
                                                              first, start, finish, beside);
        }
        const split<recurrent_rows(targets::native::facts, wide), Rows> tiles(rows);
        for (index_t t = 0; t < tiles.count(); ++t)
          tiles.visit(t, [&](auto height, index_t row) {
            run_tile<static_cast<int>(height()), static_cast<int>(count())>(
                states + row * stride, stride, packed + Units * first * Gates * float_lanes, row, first, start, finish);
          });
      });
  }

 private:
  // A function of its own: with more around it, GCC runs out of registers.
  template <int Rows, int Blocks, class Start, class Finish>
  [[gnu::noinline]] static void run_tile(const float* states, index_t stride, const float* panel, index_t row,
                                         index_t block, Start& start, Finish& finish) {
    constexpr int wide = Blocks * Gates;
    float_vec of[Rows][wide];
    const k_loop walk{Units, 1, wide * float_lanes};
    tile<Rows, wide>(
        states, stride, panel, walk, nothing_ahead{},
        [&](int i, int j) { return start(row + i, block + j / Gates, j % Gates); },
        [&](int i, int j, float_vec sum) { of[i][j] = sum; });
    for (int i = 0; i < Rows; ++i)
      for (int b = 0; b < Blocks; ++b) {
        sums s;
        for (int gate = 0; gate < Gates; ++gate) s[static_cast<std::size_t>(gate)] = of[i][b * Gates + gate];
        finish(row + i, block + b, s);
      }
  }
  template <int Blocks, int Period, class Start, class Finish, class Product>
  [[gnu::noinline]] static void run_row(const float* states, const float* panel, index_t block, Start& start,
                                        Finish& finish, Product& beside) {
    constexpr int wide = Blocks * Gates;
    float_vec acc[wide];
#pragma GCC unroll 16
    for (int j = 0; j < wide; ++j) acc[j] = start(0, block + j / Gates, j % Gates);
    // Weights are operands in memory: no registers are left for them.
    const auto step = [&]() __attribute__((always_inline)) {
      const float_vec x(*states);
#pragma GCC unroll 16
      for (int j = 0; j < wide; ++j) acc[j] = acc[j] + x * float_vec::load(panel + j * float_lanes);
      ++states;
      panel += wide * float_lanes;
    };
    beside.in_registers(
        Units / Period, [&](auto& product, index_t times) __attribute__((always_inline)) {
          for (index_t n = times; n > 0; --n) {
            detail::keep_in_register(n);
            product.next();
#pragma GCC unroll 8
            for (int i = 0; i < Period; ++i) step();
          }
          for (index_t n = Units - times * Period; n > 0; --n) step();
        });
#pragma GCC unroll 16
    for (int b = 0; b < Blocks; ++b) {
      sums s;
      for (int gate = 0; gate < Gates; ++gate) s[static_cast<std::size_t>(gate)] = acc[b * Gates + gate];
      finish(0, block + b, s);
    }
  }
  // Weights lie in the order in which they are read: processors fetch them ahead by themselves.
  struct nothing_ahead {
    [[gnu::always_inline]] void next(index_t = 1) noexcept {}
    [[gnu::always_inline]] void next_height() noexcept {}
  };
};

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
