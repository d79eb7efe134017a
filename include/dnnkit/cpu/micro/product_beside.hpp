// SPDX-License-Identifier: MIT
// A product that is computed a little at a time beside a kernel which waits for memory: the processor's multiply-adds,
// which that kernel leaves idle, take it on between its own.
#pragma once

#include <algorithm>

#include "dnnkit/cpu/micro/tile.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

// C = A x B + bias for `Rows` rows of A, each of K contiguous floats and RowStride after the one before, and B packed
// into panels of Vectors vectors each (pack_panels). Sums are made as gemm makes them, and are the same bit for bit.
//
//   product_beside<8, 2, 512, 512> product;
//   product.begin(a, packed, bias, c, c_stride, panels);
//   product.in_registers(most, [&](auto& sums, index_t times) {  // times: most, or what is left of a panel
//     for (index_t n = times; n > 0; --n) sums.next();           // and between these what else is to be done
//   });
//   product.complete();                                          // what is left of all panels
template <int Rows, int Vectors, index_t K, index_t RowStride> class product_beside {
  static constexpr index_t width = Vectors * float_lanes;

 public:
  // Sums of one panel, as long as they are in registers.
  struct sums {
    const float *a, *b;
    float_vec acc[Rows][Vectors];

    [[gnu::always_inline]] void next() {
      detail::multiply_add(acc, a, RowStride, b);
      ++a;
      b += width;
    }
  };

  // c: Rows rows of panels * Vectors vectors, c_stride floats apart. bias: as many floats as a row of C has.
  void begin(const float* a, const float* packed, const float* bias, float* c, index_t c_stride, index_t panels) {
    a_ = a;
    b_ = packed;
    bias_ = bias;
    c_ = c;
    c_stride_ = c_stride;
    panels_ = panels;
    if (!is_complete()) begin_panel();
  }

  bool is_complete() const { return panels_ == 0; }

  // f(sums, times) with the number of iterations of k that it is to do: at most so many.
  // @pre !is_complete()
  template <class F> [[gnu::always_inline]] void in_registers(index_t most, F&& f) {
    sums s;
    s.a = a_ + k_;
    s.b = b_ + k_ * width;
    const index_t times = std::min(most, K - k_);
#pragma GCC unroll 32
    for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 16
      for (int j = 0; j < Vectors; ++j) s.acc[i][j] = float_vec::load(partial_ + (i * Vectors + j) * float_lanes);
    f(s, times);
    k_ += times;
    const bool ends = k_ == K;
    float* const to = ends ? c_ : partial_;
    const index_t stride = ends ? c_stride_ : width;
#pragma GCC unroll 32
    for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 16
      for (int j = 0; j < Vectors; ++j) s.acc[i][j].store(to + i * stride + j * float_lanes);
    if (ends) end_panel();
  }

  [[gnu::noinline]] void complete() {
    while (!is_complete())
      in_registers(K, [](sums& s, index_t times) {
        for (index_t n = times; n > 0; --n) s.next();
      });
  }

 private:
  void begin_panel() {
    k_ = 0;
    for (int i = 0; i < Rows; ++i)
      for (int j = 0; j < Vectors; ++j)
        float_vec::load(bias_ + j * float_lanes).store(partial_ + (i * Vectors + j) * float_lanes);
  }
  void end_panel() {
    b_ += K * width;
    bias_ += width;
    c_ += width;
    if (--panels_ > 0) begin_panel();
  }

  alignas(64) float partial_[Rows * width] = {};
  const float *a_ = nullptr, *b_ = nullptr, *bias_ = nullptr;
  float* c_ = nullptr;
  index_t c_stride_ = 0, k_ = 0, panels_ = 0;
};

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
