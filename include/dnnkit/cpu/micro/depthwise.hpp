// SPDX-License-Identifier: MIT
// Depthwise convolution, channels last: vectors of channels, a tile of neighbouring pixels of one output row, one
// weight vector a tap.
#pragma once

#include "dnnkit/cpu/micro/conv.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

// As conv, with in_channels == out_channels == groups; strides, halo and epilogue mean the same. Slack: none, the last
// vector of channels is loaded partially. Instantiates the micro-kernel for at most two heights (known width) or four
// (run-time width).
template <conv_attributes A, class Height = index_t, class Width = index_t, class RowStride = index_t,
          class PixelStride = constant<A.in_channels>>
struct depthwise {
  static_assert(A.groups == A.in_channels && A.out_channels == A.in_channels,
                "depthwise convolution: groups, input and output channels must be equal");

  [[no_unique_address]] Height out_h{};
  [[no_unique_address]] Width out_w{};
  [[no_unique_address]] RowStride row_stride{};
  [[no_unique_address]] PixelStride pixel_stride{};
  index_t images = 1;
  index_t image_stride = 0;
  index_t out_d = 1;
  index_t depth_stride = 0;

  static constexpr index_t out_channels = A.out_channels;
  static constexpr index_t channel_vectors = ceil_div(A.out_channels, float_lanes);

  // Floats of the packed weights (tap by tap within a vector of channels), and of a bias if there is one.
  static constexpr index_t packed_size() noexcept { return A.taps() * channel_vectors * float_lanes; }
  static constexpr index_t bias_size() noexcept { return channel_vectors * float_lanes; }

  // weight: ONNX's OI(D)HW with I = 1, contiguous.
  static void pack(const float* weight, float* packed) {
    for (index_t v = 0; v < channel_vectors; ++v)
      for (index_t tap = 0; tap < A.taps(); ++tap)
        for (index_t lane = 0; lane < float_lanes; ++lane) {
          const index_t c = v * float_lanes + lane;
          packed[(v * A.taps() + tap) * float_lanes + lane] = c < A.out_channels ? weight[c * A.taps() + tap] : 0.0f;
        }
  }
  static void pack_bias(const float* bias, float* packed) {
    std::fill(std::copy(bias, bias + A.out_channels, packed), packed + bias_size(), 0.0f);
  }

  // Independent pieces of work: output rows. Any partition of [0, units()) into ranges may run in any order or at once.
  constexpr index_t units() const noexcept { return images * out_d * out_h; }

  // epilogue(float_vec acc, n, y, x, c, lanes), as conv's.
  template <class Epilogue>
  void run(const float* input, const float* packed, const float* bias, index_t first, index_t last,
           Epilogue&& epilogue) const {
    const split<row_limit, Width> columns(out_w);
    for (index_t u = first; u < last; ++u) {
      const index_t y = u % out_h, n = u / out_h;
      const float* line =
          input + n / out_d * image_stride + n % out_d * (A.stride_d * depth_stride) + y * (A.stride_h * row_stride);
      for (index_t v = 0; v < channel_vectors; ++v) {
        for (index_t t = 0; t < columns.count(); ++t) {
          columns.visit(t, [&](auto size, index_t x) {
            constexpr int rows = static_cast<int>(decltype(size)::value);
            const float* a = line + x * (A.stride_w * pixel_stride) + v * float_lanes;
            const float* b = packed + v * A.taps() * float_lanes;
            const float* start = bias ? bias + v * float_lanes : nullptr;
            with_lanes<A.out_channels % float_lanes == 0>(A.out_channels - v * float_lanes, [&](auto lanes) {
              run_tile<rows>(a, b, start, n, y, x, v, lanes, epilogue);
            });
          });
        }
      }
    }
  }

 private:
  // Enough independent sums to hide the latency of a multiply-add on two ports.
  static constexpr int row_limit = vector_registers == 32 ? 14 : 8;

  template <int Rows, class Lanes, class Epilogue>
  [[gnu::always_inline]] void run_tile(const float* a, const float* b, const float* bias, index_t n, index_t y,
                                       index_t x, index_t v, Lanes lanes, Epilogue& epilogue) const {
    float_vec::native acc[Rows];
    const float_vec start = bias ? float_vec::load(bias) : float_vec(0.0f);
#pragma GCC unroll 16
    for (int i = 0; i < Rows; ++i) acc[i] = start.v;
    for (index_t d = 0; d < A.kernel_d; ++d) {
      for (index_t h = 0; h < A.kernel_h; ++h) {
        const float* pa = a + d * (A.dilation_d * depth_stride) + h * (A.dilation_h * row_stride);
#pragma GCC unroll 8
        for (index_t w = 0; w < A.kernel_w; ++w) {
          const float_vec::native weight = float_vec::load(b).v;
          b += float_lanes;
#pragma GCC unroll 16
          for (int i = 0; i < Rows; ++i) {
            const float* p = pa + (i * A.stride_w + w * A.dilation_w) * pixel_stride;
            if constexpr (is_constant<Lanes>) {
              acc[i] += float_vec::load(p).v * weight;
            } else {
              acc[i] += float_vec::load(p, lanes).v * weight;
            }
          }
        }
      }
    }
#pragma GCC unroll 16
    for (int i = 0; i < Rows; ++i) epilogue(float_vec(acc[i]), n, y, x + i, v * float_lanes, lanes);
  }
};

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
