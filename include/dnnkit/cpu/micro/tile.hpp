// SPDX-License-Identifier: MIT
// The micro-kernel: acc[i][j] += a[row i, k] * b[k, vector j] in registers over a nest of k loops, then an epilogue on
// each vector. Vectors are of floats or of any numbers that vec and wide have.
#pragma once

#include <algorithm>
#include <type_traits>

#include "dnnkit/cost/register_tile.hpp"
#include "dnnkit/cpu/micro/extent.hpp"
#include "dnnkit/cpu/micro/vec.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

// One level of the reduction: `count` iterations, each advancing A and B by a number of elements.
struct k_loop {
  index_t count = 1;
  index_t step_a = 0;
  index_t step_b = 0;
};

// A reduction in a nest of loops, outermost first: of a convolution, taps and then input channels. Of a product it is
// one k_loop. After inlining, constants in here are constants in the code: nothing is computed at run time that the
// caller knew.
struct k_walk {
  k_loop depth, height, width, run;
};

// What to fetch into the second cache level meanwhile: next(n) is called before n iterations of k, next_height() in
// each iteration of the loop of that name. This one fetches the weights of the next panel, a piece an iteration of k.
// Without it, the first tile of a panel waits for the third level, which costs ten to twenty per cent on a server.
// Of the pieces of several iterations it fetches the first line, which is all of them where at least as many tiles
// share the panel; elsewhere the others are left to the processor, which sees lines follow each other.
struct fetch_ahead {
  const char* address;
  index_t step;  // bytes an iteration

  [[gnu::always_inline]] void next(index_t steps = 1) noexcept {
    __builtin_prefetch(address, 0, 2);
    address += steps * step;
  }
  [[gnu::always_inline]] void next_height() noexcept {}
};

// Tile `t` of `tiles` that share a panel of k rows of `width` elements fetches its share of the next one. A share is at
// least a byte of each row, so that there may be fewer shares than tiles, whose last ones fetch the last share again.
// `end` is where all panels end, of k * width elements at least. Nothing behind it is fetched: to find out that an
// address is not mapped takes the processor longer than the multiply-adds of an iteration.
// @post next <= address and address + k * step <= next + k * width; behind the last panel address + k * step == end
template <class T>
[[gnu::always_inline]] inline fetch_ahead share_of(const T* next, const T* end, index_t k, index_t width, index_t t,
                                                   index_t tiles) noexcept {
  const index_t row = width * static_cast<index_t>(sizeof(T)), step = ceil_div(row, tiles);
  const char* share = reinterpret_cast<const char*>(next) + std::min(t * step, row - step) * k;
  return {std::min(share, reinterpret_cast<const char*>(end) - step * k), step};
}

namespace detail {

// The compiler takes n, a counter or pointer, as it is. Left to itself, GCC replaces a counter by the end of a pointer,
// spills that to a mask register, and reading it back takes the port of a multiply-add in each iteration.
template <class T> [[gnu::always_inline]] inline void keep_in_register(T& n) noexcept { asm("" : "+r"(n)); }

// x, which is in a register here. Left to itself, GCC loads a vector of B again for each row of A in tiles that need
// most registers, and two loads a cycle are too few for that; and it gives a sum one place for a loop and for what is
// around it, which is memory where that is much.
template <class Vec> [[gnu::always_inline]] inline Vec in_register(Vec x) noexcept {
  if constexpr (requires { x.v; }) {
#if defined(__x86_64__)
    asm("" : "+v"(x.v));
#elif defined(__aarch64__)
    asm("" : "+w"(x.v));
#endif
  }
  return x;
}

// sum + x y by the instruction that leaves both factors as they are, where it has a name: GCC would write some sums
// over a factor, which it copies for that, and begin a step before the last one has ended, for which it stores sums.
template <class Vec> [[gnu::always_inline]] inline Vec plus_product(Vec sum, Vec x, Vec y) noexcept {
  if constexpr (requires { isa::plus_product(sum.v, x.v, y.v); }) return isa::plus_product(sum.v, x.v, y.v);
  else return sum + x * y;
}

template <int Rows, int Vectors, class Vec, class T = typename Vec::value_type>
[[gnu::always_inline]] inline void multiply_add(Vec (&acc)[Rows][Vectors], const T* a, index_t row_stride, const T* b) {
  Vec column[Vectors];
#pragma GCC unroll 16
  for (int j = 0; j < Vectors; ++j) column[j] = in_register(Vec::load(b + j * Vec::lanes));
#pragma GCC unroll 32
  for (int i = 0; i < Rows; ++i) {
    const Vec x(a[i * row_stride]);
#pragma GCC unroll 16
    for (int j = 0; j < Vectors; ++j) {
      if constexpr (Vectors == 1) acc[i][j] = acc[i][j] + x * column[j];  // one instruction with the load of x
      else acc[i][j] = plus_product(acc[i][j], x, column[j]);
    }
  }
}
// The same of rows whose last vector is a half.
template <int Rows, int Vectors, class Vec, class Half, class T = typename Vec::value_type>
[[gnu::always_inline]] inline void multiply_add(Vec (&acc)[Rows][Vectors], Half (&last)[Rows], const T* a,
                                                index_t row_stride, const T* b) {
  Vec column[Vectors];
#pragma GCC unroll 16
  for (int j = 0; j < Vectors; ++j) column[j] = in_register(Vec::load(b + j * Vec::lanes));
  const Half half_column = in_register(Half::load(b + Vectors * Vec::lanes));
#pragma GCC unroll 32
  for (int i = 0; i < Rows; ++i) {
    const Vec x(a[i * row_stride]);
#pragma GCC unroll 16
    for (int j = 0; j < Vectors; ++j) acc[i][j] = plus_product(acc[i][j], x, column[j]);
    last[i] = plus_product(last[i], low_of(x), half_column);
  }
}

// The first half of a vector's lanes, where that is wanted.
struct no_half {};
template <class Vec, bool Wanted> struct half_of { using type = no_half; };
template <class T, int N> struct half_of<vec<T, N>, true> { using type = vec<T, N / 2>; };

// Do multiply-adds take an element of A from a lane of a vector of such?
template <class Vec>
concept has_products_of_lanes = requires(Vec x) {
  isa::plus_products_of_lane<0>(x.v, x.v, x.v);
  requires targets::native::facts.elements_a_load == Vec::lanes;
};

// Count steps (1, 2, 4 or 8) of a run along which the elements of A lie next to each other: row i has them from row[i]
// on, which then is behind them. Vectors of B are loaded two at a time, which is one instruction, and both are used up
// before the next. All subscripts are constants, since GCC keeps in memory what it has to unroll loops for.
template <int Count, int Rows, int Vectors, class Vec, class T>
[[gnu::always_inline]] inline void multiply_add_lanes(Vec (&acc)[Rows][Vectors], const T* (&row)[Rows], const T* b,
                                                      index_t step_b) {
  constexpr int vectors = Count * Vectors;
  typename Vec::native x[Rows][Count > Vec::lanes ? 2 : 1];
  for_constants<Rows>([&](auto i) __attribute__((always_inline)) { isa::next_lanes<Count>(x[i()], row[i()]); });
  for_constants<ceil_div(vectors, 2)>([&](auto pair) __attribute__((always_inline)) {
    constexpr index_t first = 2 * pair(), count = std::min<index_t>(2, vectors - first);
    typename Vec::native column[count];
    for_constants<count>([&](auto c) __attribute__((always_inline)) {
      constexpr index_t step = (first + c()) / Vectors, j = (first + c()) % Vectors;
      column[c()] = Vec::load(b + step * step_b + j * Vec::lanes).v;
    });
    for_constants<count>([&](auto c) __attribute__((always_inline)) {
      constexpr index_t step = (first + c()) / Vectors, j = (first + c()) % Vectors;
      for_constants<Rows>([&](auto i) __attribute__((always_inline)) {
        acc[i()][j].v =
            isa::plus_products_of_lane<step % Vec::lanes>(acc[i()][j].v, column[c()], x[i()][step / Vec::lanes]);
      });
    });
  });
}

// A run of so many steps: sixteen at a time, so that what the loop takes besides is little, and the rest by halves.
template <int Rows, int Vectors, class Vec, class T>
[[gnu::always_inline]] inline void add_run_of_lanes(Vec (&acc)[Rows][Vectors], const T* a, index_t row_stride,
                                                    const T* b, index_t step_b, index_t count, auto& ahead) {
  // where registers are left, two loads of a row at a time, which is one instruction
  constexpr index_t at_once = Rows * (Vectors + 2) + 2 <= vector_registers ? 8 : 4;
  const T* row[Rows];
  for_constants<Rows>([&](auto i) __attribute__((always_inline)) { row[i()] = a + i() * row_stride; });
  const auto steps = [&](auto n) __attribute__((always_inline)) {
    constexpr index_t most = std::min<index_t>(n(), at_once);
    ahead.next(n());
    for_constants<n() / most>([&](auto) __attribute__((always_inline)) {
      multiply_add_lanes<most>(acc, row, b, step_b);
      b += most * step_b;
    });
  };
  for (index_t n = count / 16; n != 0; --n) {
    keep_in_register(n);
    steps(constant<16>{});
  }
  if (count & 8) steps(constant<8>{});
  if (count & 4) steps(constant<4>{});
  if (count & 2) steps(constant<2>{});
  if (count & 1) steps(constant<1>{});
}

}  // namespace detail

// Do columns end within the first half of their last vector, and is half of a vector one of its own? Processors that
// carry out an instruction on 16 lanes in two halves (AMD's Zen 4) take half as long for it: 24 columns 0.83 of 32.
constexpr bool ends_in_half(index_t columns) noexcept {
  return float_lanes == 16 && columns % float_lanes > 0 && columns % float_lanes <= float_lanes / 2;
}

// Along `walk`, a k_loop or a k_walk. start(i, j) yields the first value of accumulator [i][j], a vector of elements of
// type T; finish(i, j, vec) receives the last one, i and j being integral constants to the optimiser after unrolling.
// Rows of A are row_stride elements apart, vectors of B as many as they have lanes. EndsInHalf: of the last of several
// vectors, the first half alone is computed.
template <int Rows, int Vectors, bool EndsInHalf = false, class T, class Walk, class Fetch, class Start, class Finish>
[[gnu::always_inline]] inline void tile(const T* a, index_t row_stride, const T* b, const Walk& walk, Fetch ahead,
                                        Start&& start, Finish&& finish) {
  using Vec = std::remove_cvref_t<decltype(start(0, 0))>;
  using half = typename detail::half_of<Vec, EndsInHalf>::type;
  constexpr int whole = EndsInHalf ? Vectors - 1 : Vectors;
  Vec acc[Rows][whole];
  [[maybe_unused]] half last[Rows];
#pragma GCC unroll 32
  for (int i = 0; i < Rows; ++i) {
#pragma GCC unroll 16
    for (int j = 0; j < whole; ++j) acc[i][j] = start(i, j);
    if constexpr (EndsInHalf) last[i] = low_of(start(i, whole));
  }

  const auto add_run = [&](const T* ak, const T* bk, const k_loop& run) __attribute__((always_inline)) {
    // only where the compiler knows the step: both ways would be twice the code
    if constexpr (detail::has_products_of_lanes<Vec>)
      if (__builtin_constant_p(run.step_a == 1) && run.step_a == 1) {
        detail::add_run_of_lanes(acc, ak, row_stride, bk, run.step_b, run.count, ahead);
        return;
      }
    const auto step = [&]() __attribute__((always_inline)) {
      ahead.next();
      if constexpr (EndsInHalf) detail::multiply_add(acc, last, ak, row_stride, bk);
      else detail::multiply_add(acc, ak, row_stride, bk);
      ak += run.step_a;
      bk += run.step_b;
    };
    for (index_t pairs = run.count / 2; pairs > 0; --pairs) {
      detail::keep_in_register(pairs);
      step();
      step();
    }
    if (run.count % 2 != 0) step();
  };
  if constexpr (std::is_same_v<Walk, k_loop>) {
    add_run(a, b, walk);
  } else {
    for (index_t d = 0; d < walk.depth.count; ++d) {
      for (index_t h = 0; h < walk.height.count; ++h) {
        ahead.next_height();
        for (index_t w = 0; w < walk.width.count; ++w)
          add_run(a + d * walk.depth.step_a + h * walk.height.step_a + w * walk.width.step_a,
                  b + d * walk.depth.step_b + h * walk.height.step_b + w * walk.width.step_b, walk.run);
      }
    }
  }

#pragma GCC unroll 32
  for (int i = 0; i < Rows; ++i) {
#pragma GCC unroll 16
    for (int j = 0; j < whole; ++j) acc[i][j] = detail::in_register(acc[i][j]);
    if constexpr (EndsInHalf) last[i] = detail::in_register(last[i]);
  }
#pragma GCC unroll 32
  for (int i = 0; i < Rows; ++i) {
#pragma GCC unroll 16
    for (int j = 0; j < whole; ++j) finish(i, j, acc[i][j]);
    if constexpr (EndsInHalf) finish(i, whole, joined(last[i], half(0)));
  }
}

// The tallest tile of so many registers across: accumulators, one row of B and one broadcast value fit the registers.
constexpr int tile_rows(int registers, int most = 0) noexcept {
  return plan::tile_rows(targets::native::facts, registers, most);
}

// The widest panel used by default, in vectors.
inline constexpr int panel_vectors = tile_vectors(targets::native::facts);

// f(lanes) with the number of valid lanes: a constant when all are, so that no masking code remains there; no call when
// none is. Full promises that all are.
template <bool Full, class F> [[gnu::always_inline]] inline void with_lanes(index_t valid, F&& f) {
  if constexpr (Full) {
    f(constant<float_lanes>{});
  } else {
    if (valid >= float_lanes) {
      f(constant<float_lanes>{});
    } else if (valid > 0) {
      f(valid);
    }
  }
}

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
