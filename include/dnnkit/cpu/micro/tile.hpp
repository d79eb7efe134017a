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

// The reduction, outermost loop first. A GEMM has a run only; a convolution has its taps outside and input channels in
// the run. After inlining, constants in here are constants in the code: nothing is computed at run time that the caller
// knew.
struct k_walk {
  k_loop depth, height, width, run;
};

// What to fetch into the second cache level meanwhile: next() is called in each iteration of k, next_height() in each
// iteration of the loop of that name. This one fetches the weights of the next panel, a piece an iteration of k.
// Without it, the first tile of a panel waits for the third level, which costs ten to twenty per cent on a server.
struct fetch_ahead {
  const char* address;
  index_t step;  // bytes an iteration

  [[gnu::always_inline]] void next() noexcept {
    __builtin_prefetch(address, 0, 2);
    address += step;
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

// The vector x, kept in a register: left to itself, GCC loads a vector of B again for each row of A in tiles that need
// most registers, and two loads a cycle are too few for that.
template <class Vec> [[gnu::always_inline]] inline Vec loaded_once(Vec x) noexcept {
  if constexpr (requires { x.v; }) {
#if defined(__x86_64__)
    asm("" : "+v"(x.v));
#elif defined(__aarch64__)
    asm("" : "+w"(x.v));
#endif
  }
  return x;
}

template <int Rows, int Vectors, class Vec, class T = typename Vec::value_type>
[[gnu::always_inline]] inline void multiply_add(Vec (&acc)[Rows][Vectors], const T* a, index_t row_stride, const T* b) {
  Vec column[Vectors];
#pragma GCC unroll 16
  for (int j = 0; j < Vectors; ++j) column[j] = loaded_once(Vec::load(b + j * Vec::lanes));
#pragma GCC unroll 32
  for (int i = 0; i < Rows; ++i) {
    const Vec x(a[i * row_stride]);
#pragma GCC unroll 16
    for (int j = 0; j < Vectors; ++j) acc[i][j] = acc[i][j] + x * column[j];
  }
}

}  // namespace detail

// start(i, j) yields the first value of accumulator [i][j], a vector of elements of type T; finish(i, j, vec) receives
// the last one, i and j being integral constants to the optimiser after unrolling. Rows of A are row_stride elements
// apart, vectors of B as many as they have lanes.
template <int Rows, int Vectors, class T, class Fetch, class Start, class Finish>
[[gnu::always_inline]] inline void tile(const T* a, index_t row_stride, const T* b, const k_walk& walk, Fetch ahead,
                                        Start&& start, Finish&& finish) {
  std::remove_cvref_t<decltype(start(0, 0))> acc[Rows][Vectors];
#pragma GCC unroll 32
  for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 16
    for (int j = 0; j < Vectors; ++j) acc[i][j] = start(i, j);

  for (index_t d = 0; d < walk.depth.count; ++d) {
    for (index_t h = 0; h < walk.height.count; ++h) {
      ahead.next_height();
      for (index_t w = 0; w < walk.width.count; ++w) {
        const T* ak = a + d * walk.depth.step_a + h * walk.height.step_a + w * walk.width.step_a;
        const T* bk = b + d * walk.depth.step_b + h * walk.height.step_b + w * walk.width.step_b;
        const auto step = [&]() __attribute__((always_inline)) {
          ahead.next();
          detail::multiply_add(acc, ak, row_stride, bk);
          ak += walk.run.step_a;
          bk += walk.run.step_b;
        };
        for (index_t pairs = walk.run.count / 2; pairs > 0; --pairs) {
          detail::keep_in_register(pairs);
          step();
          step();
        }
        if (walk.run.count % 2 != 0) step();
      }
    }
  }

#pragma GCC unroll 32
  for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 16
    for (int j = 0; j < Vectors; ++j) finish(i, j, acc[i][j]);
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
