// SPDX-License-Identifier: MIT
// The micro-kernel of 8-bit products: acc[i][j] += a[row i, k] * b[k, vector j] in 32-bit integers, exact, four k at a
// time. Where one instruction adds four products of bytes to a lane, B is packed as bytes; elsewhere as numbers of 16
// bits, of which two products are added at a time, and no sum saturates.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "dnnkit/cpu/micro/tile.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

using int_vec = vec<std::int32_t, float_lanes>;

// Are there tile registers, which take products of bytes (cpu/micro/byte_tiles.hpp)?
inline constexpr bool in_tile_registers = targets::native::products_of_bytes == byte_products::in_tiles;

// How the bytes of A are to be read.
enum class byte_sign : bool { is_unsigned, is_signed };

// In vectors, signed bytes are taken for unsigned ones, x for x + 128, which the caller makes up for by so many times
// the sums of the columns of B.
template <byte_sign Sign>
inline constexpr std::int32_t added_to_bytes = Sign == byte_sign::is_signed && !in_tile_registers ? 128 : 0;

// Elements of the reduction that a step takes.
inline constexpr index_t bytes_a_step = 4;

// An element of the packed B, which is a signed byte.
inline constexpr bool bytes_at_once = targets::native::products_of_bytes != byte_products::in_pairs;
using packed_byte = std::conditional_t<bytes_at_once, std::int8_t, std::int16_t>;

// Elements of the packed B that one step reads for a vector of columns.
inline constexpr index_t packed_step = bytes_a_step * float_lanes;

// Where element k (0 to 3) of a step, for column `lane` of a vector, is among them: four bytes a lane, or the pairs
// (0, 2) of all lanes and then the pairs (1, 3).
constexpr index_t place_in_step(index_t k, index_t lane) noexcept {
  if constexpr (bytes_at_once) return lane * 4 + k;
  else return k % 2 * (2 * float_lanes) + lane * 2 + k / 2;
}

// One level of the reduction: `count` iterations, each advancing A by so many bytes. Without a gap in B, whose steps
// follow each other.
struct byte_loop {
  index_t count = 1;
  index_t step = 0;
};
// The reduction, outermost loop first: each iteration of `width` takes `run` consecutive bytes of each row of A, the
// last step padded with zeros in B. All of it is done `times` times over the same A.
struct byte_walk {
  byte_loop depth, height, width;
  index_t run = 0;
  index_t times = 1;
};

namespace detail {

using native_ints = int_vec::native;

template <class V>
concept has_products_of_pairs = requires(V x) {
  isa::products_of_pairs(x, x);
};
// In each lane the sum of the products of the two signed halves.
template <class V> [[gnu::always_inline]] inline V products_of_pairs(V a, V b) noexcept {
  if constexpr (has_products_of_pairs<V>) return isa::products_of_pairs(a, b);
  else return (a >> 16) * (b >> 16) + ((a << 16) >> 16) * ((b << 16) >> 16);
}
[[gnu::always_inline]] inline native_ints load_packed(const packed_byte* p) noexcept {
  native_ints v;
  std::memcpy(&v, p, sizeof(v));
  return v;
}

// The next `count` bytes (1 to 4) of a row in all lanes, the others being zero.
template <byte_sign Sign> [[gnu::always_inline]] inline native_ints load_step(const std::uint8_t* a, auto count) {
  std::int32_t four = 0;
  if constexpr (is_constant<decltype(count)>) std::memcpy(&four, a, count());
  else
    for (index_t i = 0; i < count; ++i) four |= a[i] << (8 * i);
  const native_ints x = int_vec::broadcast(four);
  if constexpr (Sign == byte_sign::is_unsigned) return x;
  else return x ^ int_vec::broadcast(static_cast<std::int32_t>(0x80808080U));
}

template <byte_sign Sign, int Rows, int Vectors>
[[gnu::always_inline]] inline void multiply_add_bytes(native_ints (&acc)[Rows][Vectors], const std::uint8_t* a,
                                                      index_t row_stride, const packed_byte* b, auto count) {
  if constexpr (bytes_at_once) {
    native_ints column[Vectors];
#pragma GCC unroll 16
    for (int j = 0; j < Vectors; ++j) column[j] = load_packed(b + j * packed_step);
#pragma GCC unroll 32
    for (int i = 0; i < Rows; ++i) {
      const native_ints x = load_step<Sign>(a + i * row_stride, count);
#pragma GCC unroll 16
      for (int j = 0; j < Vectors; ++j) acc[i][j] = isa::plus_products_of_bytes(acc[i][j], x, column[j]);
    }
  } else {
    const native_ints low_bytes = int_vec::broadcast(0x00ff00ff);
#pragma GCC unroll 32
    for (int i = 0; i < Rows; ++i) {
      const native_ints x = load_step<Sign>(a + i * row_stride, count);
      const native_ints even = x & low_bytes, odd = (x >> 8) & low_bytes;
#pragma GCC unroll 16
      for (int j = 0; j < Vectors; ++j) {
        const packed_byte* const column = b + j * packed_step;
        acc[i][j] += products_of_pairs(even, load_packed(column));
        acc[i][j] += products_of_pairs(odd, load_packed(column + packed_step / 2));
      }
    }
  }
}

}  // namespace detail

// start(i, j) yields the first value of accumulator [i][j]; `sums` receives the last ones. Rows of A are row_stride
// bytes apart; b has Vectors * packed_step elements for each step of the walk. Sums wrap around. Of A, the bytes of the
// reduction are read and no others.
template <byte_sign Sign, int Rows, int Vectors, class Fetch, class Start>
[[gnu::always_inline]] inline void byte_tile(const std::uint8_t* a, index_t row_stride, const packed_byte* b,
                                             const byte_walk& walk, Fetch ahead, Start&& start,
                                             int_vec (&sums)[Rows][Vectors]) {
  constexpr index_t step_b = Vectors * packed_step;
  detail::native_ints acc[Rows][Vectors];
#pragma GCC unroll 32
  for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 16
    for (int j = 0; j < Vectors; ++j) acc[i][j] = start(i, j).v;

  for (index_t d = 0; d < walk.times * walk.depth.count; ++d)
    for (index_t h = 0; h < walk.height.count; ++h)
      for (index_t w = 0; w < walk.width.count; ++w) {
        const std::uint8_t* ak =
            a + d % walk.depth.count * walk.depth.step + h * walk.height.step + w * walk.width.step;
        for (index_t steps = walk.run / bytes_a_step; steps > 0; --steps) {
          detail::keep_in_register(steps);
          ahead.next();
          detail::multiply_add_bytes<Sign, Rows, Vectors>(acc, ak, row_stride, b, constant<bytes_a_step>{});
          ak += bytes_a_step;
          b += step_b;
        }
        const auto rest = [&](auto count) __attribute__((always_inline)) {
          ahead.next();
          detail::multiply_add_bytes<Sign, Rows, Vectors>(acc, ak, row_stride, b, count);
          b += step_b;
        };
        switch (walk.run % bytes_a_step) {
          case 1:
            rest(constant<1>{});
            break;
          case 2:
            rest(constant<2>{});
            break;
          case 3:
            rest(constant<3>{});
            break;
        }
      }

#pragma GCC unroll 32
  for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 16
    for (int j = 0; j < Vectors; ++j) sums[i][j] = acc[i][j];
}

// Hands the sums of a tile on, as far as there are columns: to.column(vector, lanes).finish(row, sum), lanes being
// constant<float_lanes> or a smaller index_t. In loops, and in a function that all tiles of a kernel share: what
// becomes of sums - scales, rounding, another type - takes many more instructions than a step. A vector of columns at a
// time, whose scales then stay in registers. Full promises that all lanes of all vectors are wanted.
template <bool Full, class To>
[[gnu::noinline]] void finish_tile(const int_vec* sums, int rows, int vectors, index_t columns, const To& to) {
  for (int j = 0; j < vectors; ++j)
    with_lanes<Full>(
        columns - j * float_lanes, [&](auto lanes) __attribute__((always_inline)) {
          const auto column = to.column(j, lanes);
          for (int i = 0; i < rows; ++i) column.finish(i, sums[i * vectors + j]);
        });
}

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
