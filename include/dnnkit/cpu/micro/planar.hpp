// SPDX-License-Identifier: MIT
// Direct convolution, channels first: vectors along x, weights broadcast; for channel counts that would leave vector
// lanes empty.
#pragma once

#include "dnnkit/cpu/micro/conv.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

// Fetches the pixels of the same columns that the next output row is the first to read, a plane at a time. Planes lie
// too far apart for the processor to guess: without it, every tile waits for memory once a plane.
template <bool EachK, int Vectors> struct fetch_next_row {
  const float* address;
  index_t plane_stride;

  [[gnu::always_inline]] void next(index_t steps = 1) noexcept {
    for (; EachK && steps > 0; --steps) fetch();
  }
  [[gnu::always_inline]] void next_height() noexcept {
    if constexpr (!EachK) fetch();
  }

 private:
  [[gnu::always_inline]] void fetch() noexcept {
    for (int j = 0; j < Vectors; ++j) __builtin_prefetch(address + j * float_lanes, 0, 2);
    address += plane_stride;
  }
};

// As conv, but activations are planes: tap (ky, kx) of output (y, x), channel c, reads
//   input + n * image_stride + c * plane_stride + (y * stride_h + ky * dilation_h) * row_stride + x + kx * dilation_w.
// Columns have stride 1 and there is no depth. Slack: up to float_lanes - 1 floats past the last pixel that a row needs
// are read, so the buffer must be that much longer. The epilogue is called as
// epilogue(float_vec acc, n, oc, y, x, lanes): lanes run along x. One with a member tile(n, oc, y, x) is asked for each
// tile of output channels by pixels instead, and what it gives is called as place.finish(row, vector, lanes, acc).
//
// Instantiates the micro-kernel for at most two heights (of output channels), each with two widths.
template <conv_attributes A, class Height = index_t, class Width = index_t, class RowStride = index_t,
          class PlaneStride = index_t>
struct planar_conv {
  static_assert(A.stride_w == 1 && A.kernel_d == 1, "planar convolution: two dimensions, columns with stride 1");
  static_assert(A.groups > 0 && A.in_channels % A.groups == 0 && A.out_channels % A.groups == 0,
                "planar convolution: groups must divide the input and the output channels");

  [[no_unique_address]] Height out_h{};
  [[no_unique_address]] Width out_w{};
  [[no_unique_address]] RowStride row_stride{};
  [[no_unique_address]] PlaneStride plane_stride{};
  index_t images = 1;
  index_t image_stride = 0;

  // Floats of a bias; here no padding is needed. The packed weights are as many as ONNX's.
  static constexpr index_t packed_size() noexcept { return A.out_channels * A.reduction(); }
  static constexpr index_t bias_size() noexcept { return A.out_channels; }

  // weight: ONNX's OIHW, contiguous. Panels of the output channels of one tile, k by k.
  static void pack(const float* weight, float* packed) {
    for (index_t g = 0; g < A.groups; ++g) {
      for (index_t t = 0; t < channel_split::count(); ++t) {
        channel_split::visit(t, [&](auto height, index_t first) {
          for (index_t k = 0; k < A.reduction(); ++k)
            for (index_t i = 0; i < height; ++i)
              *packed++ = weight[(g * A.group_out() + first + i) * A.reduction() + k];
        });
      }
    }
  }
  static void pack_bias(const float* bias, float* packed) { std::copy(bias, bias + A.out_channels, packed); }

  // Independent pieces of work: output rows. Any partition of [0, units()) into ranges may run in any order or at once.
  constexpr index_t units() const noexcept { return images * out_h; }

  // bias: bias_size() floats or null.
  template <class Epilogue>
  void run(const float* input, const float* packed, const float* bias, index_t first, index_t last,
           Epilogue&& epilogue) const {
    const split<tile_vectors, VectorCount> columns(vector_count());
    for (index_t u = first; u < last; ++u) {
      const index_t y = u % out_h, n = u / out_h;
      const float* line = input + n * image_stride + y * (A.stride_h * row_stride);
      for (index_t g = 0; g < A.groups; ++g) {
        for (index_t t = 0; t < columns.count(); ++t) {
          columns.visit(t, [&](auto width, index_t vector) {
            constexpr int vectors = static_cast<int>(decltype(width)::value);
            const float* b = line + g * (A.group_in() * plane_stride) + vector * float_lanes;
            for (index_t c = 0; c < channel_split::count(); ++c) {
              channel_split::visit(c, [&](auto height, index_t channel) {
                constexpr int rows = static_cast<int>(decltype(height)::value);
                const index_t oc = g * A.group_out() + channel;
                run_tile<rows, vectors>(packed + oc * A.reduction(), b, bias ? bias + oc : nullptr, n, oc, y,
                                        vector * float_lanes, epilogue);
              });
            }
          });
        }
      }
    }
  }

 private:
  static constexpr int tile_vectors = 2;
  using channel_split = split<tile_rows(tile_vectors), constant<A.group_out()>>;
  using VectorCount =
      std::conditional_t<is_constant<Width>, constant<ceil_div(value_or<Width>(1), float_lanes)>, index_t>;

  constexpr VectorCount vector_count() const noexcept {
    if constexpr (is_constant<Width>) {
      return {};
    } else {
      return ceil_div(out_w, float_lanes);
    }
  }

  // A function of its own: with more around it, GCC runs out of registers in some of them.
  template <int Rows, int Vectors, class Epilogue>
  [[gnu::noinline]] void run_tile(const float* a, const float* b, const float* bias, index_t n, index_t oc, index_t y,
                                  index_t x, Epilogue& epilogue) const {
    constexpr index_t taps = A.taps();
    const k_loop channels{A.group_in(), taps * Rows, plane_stride};
    const k_loop kernel_rows{A.kernel_h, A.kernel_w * Rows, A.dilation_h * row_stride};
    const k_loop kernel_columns{A.kernel_w, Rows, A.dilation_w};
    const k_walk walk = taps == 1
                            ? k_walk{.depth = {}, .height = {}, .width = {}, .run = channels}
                            : k_walk{.depth = {}, .height = channels, .width = kernel_rows, .run = kernel_columns};
    const fetch_next_row<taps == 1, Vectors> ahead{b + ((A.kernel_h - 1) * A.dilation_h + A.stride_h) * row_stride,
                                                   plane_stride};
    // An epilogue that can start a tile finds its addresses once; another is told the position of each vector.
    const auto place = [&] {
      if constexpr (requires { epilogue.tile(n, oc, y, x); }) return epilogue.tile(n, oc, y, x);
      else return nullptr;
    }();
    const auto finish = [&](int i, int j, float_vec acc) {
      const index_t at = x + j * float_lanes;
      constexpr bool full = is_constant<Width> && value_or<Width>(1) % float_lanes == 0;
      if constexpr (requires { epilogue.tile(n, oc, y, x); }) {
        // masked even when all lanes are valid: cheaper than a branch for every vector
        if constexpr (full) place.finish(i, j, constant<float_lanes>{}, acc);
        else place.finish(i, j, std::clamp<index_t>(out_w - at, 0, float_lanes), acc);
      } else {
        with_lanes<full>(out_w - at, [&](auto lanes) { epilogue(acc, n, oc + i, y, at, lanes); });
      }
    };
    dnnkit::cpu::tile<Rows, Vectors>(
        a, 1, b, walk, ahead, [&](int i, int) { return float_vec(bias ? bias[i] : 0.0f); }, finish);
  }
};

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
