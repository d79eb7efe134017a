// SPDX-License-Identifier: MIT
// Convolution in groups that share no vector with others' channels but lie side by side in it, channels last: vectors
// of channels, a tile of neighbouring pixels of one output row. Depthwise convolution, groups of one channel, has one
// weight vector a tap; groups of 2, 4 or 8 channels have so many, each for one channel of every group, which is brought
// to all lanes of its group.
#pragma once

#include <type_traits>
#include <utility>

#include "dnnkit/cpu/micro/conv.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

// Do groups of so many input and output channels each lie side by side in vectors?
constexpr bool groups_fill_vectors(index_t group_in, index_t group_out, index_t lanes) noexcept {
  return group_in == group_out && (group_in == 1 || (group_in < lanes && lanes % group_in == 0));
}

// As conv, with groups that groups_fill_vectors(); strides, halo and epilogue mean the same. Slack: none, the last
// vector of channels is loaded partially. Instantiates the micro-kernel for at most two heights (known width) or four
// (run-time width).
template <conv_attributes A, class Height = index_t, class Width = index_t, class RowStride = index_t,
          class PixelStride = constant<A.in_channels>>
struct depthwise {
  static constexpr index_t group = A.group_in();  // channels of one
  static_assert(
      groups_fill_vectors(group, A.group_out(), float_lanes),
      "depthwise convolution: groups must have one channel, or as many input as output channels as divide the "
      "lanes of a vector");

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

  // Floats of the packed weights (tap by tap within a vector of channels, input channels of a group within a tap), and
  // of a bias if there is one.
  static constexpr index_t packed_size() noexcept { return A.taps() * group * channel_vectors * float_lanes; }
  static constexpr index_t bias_size() noexcept { return channel_vectors * float_lanes; }

  // weight: ONNX's OI(D)HW, contiguous.
  static void pack(const float* weight, float* packed) {
    for (index_t v = 0; v < channel_vectors; ++v)
      for (index_t tap = 0; tap < A.taps(); ++tap)
        for (index_t in = 0; in < group; ++in)
          for (index_t lane = 0; lane < float_lanes; ++lane) {
            const index_t c = v * float_lanes + lane;
            *packed++ = c < A.out_channels ? weight[(c * group + in) * A.taps() + tap] : 0.0f;
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
            const float* b = packed + v * A.taps() * group * float_lanes;
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
  static constexpr int row_limit = tile_rows(1, A.most_rows);

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
        if constexpr (group == 1) add_row(pa, b, acc, lanes);
        else add_row_of_groups(pa, b, acc, lanes);
        b += A.kernel_w * group * float_lanes;
      }
    }
#pragma GCC unroll 16
    for (int i = 0; i < Rows; ++i) epilogue(float_vec(acc[i]), n, y, x + i, v * float_lanes, lanes);
  }

  // A row of taps, tap by tap.
  template <int Rows>
  [[gnu::always_inline]] void add_row(const float* a, const float* b, float_vec::native (&acc)[Rows],
                                      auto lanes) const {
#pragma GCC unroll 8
    for (index_t w = 0; w < A.kernel_w; ++w) {
      const float_vec::native weight = float_vec::load(b + w * float_lanes).v;
#pragma GCC unroll 16
      for (int i = 0; i < Rows; ++i)
        acc[i] += float_vec::load(a + (i * A.stride_w + w * A.dilation_w) * pixel_stride, lanes).v * weight;
    }
  }
  // The same pixel by pixel, each for all taps: its channels are brought to their groups' lanes once.
  template <int Rows>
  [[gnu::always_inline]] void add_row_of_groups(const float* a, const float* b, float_vec::native (&acc)[Rows],
                                                auto lanes) const {
    constexpr index_t pixels = (Rows - 1) * A.stride_w + (A.kernel_w - 1) * A.dilation_w + 1;
    for_constants<pixels>([&](auto pixel) __attribute__((always_inline)) {
      // The output that the pixel belongs to at a tap; -1: none of the tile's.
      constexpr auto output_at = [](index_t w) {
        const index_t from = decltype(pixel)::value - w * A.dilation_w;
        return from >= 0 && from % A.stride_w == 0 && from / A.stride_w < Rows ? from / A.stride_w : -1;
      };
      constexpr bool is_read = [output_at] {
        for (index_t w = 0; w < A.kernel_w; ++w)
          if (output_at(w) >= 0) return true;
        return false;
      }();
      if constexpr (is_read) {
        const float_vec x = float_vec::load(a + pixel * pixel_stride, lanes);
        for_constants<group>([&](auto in) __attribute__((always_inline)) {
          const float_vec::native one = spread<decltype(in)::value>(x).v;
          for_constants<A.kernel_w>([&](auto tap) __attribute__((always_inline)) {
            constexpr index_t i = output_at(decltype(tap)::value);
            if constexpr (i >= 0) acc[i] += one * float_vec::load(b + (tap * group + in) * float_lanes).v;
          });
        });
      }
    });
  }
  // Channel In of each group, in all lanes of its group.
  template <index_t In> [[gnu::always_inline]] static float_vec spread(float_vec x) noexcept {
    return [&]<int... I>(std::integer_sequence<int, I...>) __attribute__((always_inline)) {
      return float_vec(float_vec::native(__builtin_shufflevector(x.v, x.v, (I / group * group + In)...)));
    }
    (std::make_integer_sequence<int, float_lanes>());
  }
};

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
