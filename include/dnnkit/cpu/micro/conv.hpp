// SPDX-License-Identifier: MIT
// Direct convolution, channels last: rows of a tile are neighbouring pixels of one output row, at a constant stride in
// the input.
#pragma once

#include <algorithm>

#include "dnnkit/cpu/micro/pack.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

// What is always known of a convolution. Channel counts are those of the whole tensor; groups divide them.
struct conv_attributes {
  index_t in_channels = 1, out_channels = 1, groups = 1;
  index_t kernel_d = 1, kernel_h = 1, kernel_w = 1;
  index_t stride_d = 1, stride_h = 1, stride_w = 1;
  index_t dilation_d = 1, dilation_h = 1, dilation_w = 1;
  // The input has no halo: the pixels of an image follow each other at one stride. With a 1x1 kernel and stride 1 the
  // convolution is then a GEMM over all pixels.
  bool dense = false;
  // Vectors of output channels in a panel of weights; 0: as many as row_width() says.
  int panel_vectors = 0;
  int most_rows = 0;  // of a register tile; 0: as many as registers hold

  constexpr index_t taps() const noexcept { return kernel_d * kernel_h * kernel_w; }
  constexpr index_t group_in() const noexcept { return in_channels / groups; }
  constexpr index_t group_out() const noexcept { return out_channels / groups; }
  constexpr index_t reduction() const noexcept { return taps() * group_in(); }
  constexpr bool is_gemm() const noexcept {
    return dense && taps() == 1 && stride_d == 1 && stride_h == 1 && stride_w == 1;
  }
};

// Extents are constant<N> or index_t. Describes the convolution; holds no data. Strides are in
// elements: floats, or others of which a vector of float_lanes takes one register or two.
//
// `input` of run() points at what the first tap of output pixel (0, 0) of image 0 reads, so the halo is already inside
// the strides: tap (kd, ky, kx) of output (z, y, x) reads
//   input + image * image_stride + (z * stride_d + kd * dilation_d) * depth_stride
//         + (y * stride_h + ky * dilation_h) * row_stride + (x * stride_w + kx * dilation_w) * pixel_stride + channel.
// The epilogue is called as epilogue(Vec acc, n, y, x, oc, lanes): oc is the first channel; lanes is
// constant<float_lanes> or a smaller index_t. Three dimensions: n is image * out_d + z.
//
// Instantiates the micro-kernel for at most two panel widths, each with at most two heights (known width) or four
// (run-time width).
template <conv_attributes A, class Vec, class Height = index_t, class Width = index_t, class RowStride = index_t,
          class PixelStride = constant<A.in_channels>>
struct conv_of {
  using element = typename Vec::value_type;

  static_assert(A.groups > 0 && A.in_channels % A.groups == 0 && A.out_channels % A.groups == 0,
                "convolution: groups must divide the input and the output channels");

  [[no_unique_address]] Height out_h{};
  [[no_unique_address]] Width out_w{};
  [[no_unique_address]] RowStride row_stride{};
  [[no_unique_address]] PixelStride pixel_stride{};
  index_t images = 1;
  index_t image_stride = 0;
  index_t out_d = 1;
  index_t depth_stride = 0;

  static constexpr index_t out_channels = A.out_channels;
  static constexpr index_t row_pixels = A.is_gemm() ? value_or<Height>(0) * value_or<Width>(0) : value_or<Width>(0);
  static constexpr int registers = static_cast<int>(sizeof(Vec) / sizeof(float_vec));  // of a vector
  static constexpr int panel_vectors = A.panel_vectors > 0
                                           ? A.panel_vectors
                                           : static_cast<int>(ceil_div(row_width(targets::native::facts,
                                                                                 ceil_div(A.group_out(), float_lanes),
                                                                                 row_pixels),
                                                                       registers));
  using panel_layout = panels<panel_vectors, constant<A.group_out()>>;

  // Elements of the packed weights, and of a bias if there is one. A group's bias is padded on its own.
  static constexpr index_t packed_size() noexcept {
    return A.groups * A.reduction() * panel_layout::padded(A.group_out());
  }
  static constexpr index_t bias_size() noexcept { return A.groups * panel_layout::padded(A.group_out()); }

  // weight: ONNX's OI(D)HW, contiguous.
  static void pack(const element* weight, element* packed) {
    pack_values([&](index_t oc, index_t ic, index_t tap) { return weight[(oc * A.group_in() + ic) * A.taps() + tap]; },
                packed);
  }

  // value(output channel, input channel within the group, tap) yields a weight; tap counts (kd, ky, kx) with kx
  // fastest.
  template <class Value> static void pack_values(Value&& value, element* packed) {
    for (index_t g = 0; g < A.groups; ++g) {
      pack_panels<panel_layout>(
          A.reduction(), A.group_out(),
          [&](index_t k, index_t column) {
            return value(g * A.group_out() + column, k % A.group_in(), k / A.group_in());
          },
          packed + g * A.reduction() * panel_layout::padded(A.group_out()));
    }
  }

  static void pack_bias(const element* bias, element* packed) {
    for (index_t g = 0; g < A.groups; ++g)
      cpu::pack_bias<panel_layout>(A.group_out(), bias + g * A.group_out(),
                                   packed + g * panel_layout::padded(A.group_out()));
  }

  // Independent pieces of work: one output row, or a tile of pixels when the convolution is a GEMM, of one panel. Any
  // partition of [0, units()) into ranges may run in any order or at once.
  constexpr index_t units() const noexcept { return images * out_d * panel_count * rows(); }

  // Do the units of a row follow each other, or those of a panel? Workers that share rows read all of the weights each;
  // those that share panels all of the image, and what they write is scattered over rows, of which most kernels behind
  // them read some each. What is less goes from one processor's cache to another's.
  constexpr bool by_rows() const noexcept {
    return out_h * out_w * (A.stride_h * A.stride_w * A.in_channels + A.out_channels) > A.reduction() * A.out_channels;
  }

  // bias: bias_size() elements or null.
  template <class Epilogue>
  void run(const element* input, const element* packed, const element* bias, index_t first, index_t last,
           Epilogue&& epilogue) const {
    const bool rows_outside = by_rows();
    const index_t lines = rows_outside ? rows() : panel_count, length = rows_outside ? panel_count : rows();
    for (index_t u = first; u < last;) {
      const index_t n = u / (lines * length), line = u / length % lines, begin = u % length;
      // whole lines, as many as there are, or what is wanted of one
      const index_t whole = begin == 0 ? std::min((last - u) / length, lines - line) : 0;
      const index_t count = std::max(whole, index_t{1}), end = whole > 0 ? length : std::min(length, begin + last - u);
      if (rows_outside) run_block(input, packed, bias, n, begin, end, line, line + count, epilogue);
      else run_block(input, packed, bias, n, line, line + count, begin, end, epilogue);
      u += count * (end - begin);
    }
  }

  // Output rows [first, last) of image n, panel by panel.
  template <class Epilogue>
  void run_rows(const element* input, const element* packed, const element* bias, index_t n, index_t first,
                index_t last, Epilogue&& epilogue) const {
    run_block(input, packed, bias, n, 0, panel_count, first, last, epilogue);
  }

 private:
  static constexpr index_t panels_per_group = panel_layout::count(A.group_out());
  static constexpr index_t panel_count = panels_per_group * A.groups;
  static constexpr bool known_pixels = is_constant<Height> && is_constant<Width>;
  using RowWidth =
      std::conditional_t<!A.is_gemm(), Width, std::conditional_t<known_pixels, constant<row_pixels>, index_t>>;

  constexpr RowWidth row_extent() const noexcept {
    if constexpr (is_constant<RowWidth>) {
      return {};
    } else if constexpr (A.is_gemm()) {
      return out_h * out_w;
    } else {
      return out_w;
    }
  }

  constexpr index_t rows() const noexcept {
    if constexpr (!A.is_gemm()) return index_t(out_h);
    else if constexpr (is_constant<RowWidth>) return split<rows_of_tile<panel_vectors>(), RowWidth>::count();
    else return ceil_div(row_extent(), 16);
  }

  // Panels [first_panel, last_panel) of rows [first, last) of image n.
  template <class Epilogue>
  [[gnu::noinline]] void run_block(const element* input, const element* packed, const element* bias, index_t n,
                                   index_t first_panel, index_t last_panel, index_t first, index_t last,
                                   Epilogue& epilogue) const {
    for (index_t p = first_panel; p < last_panel; ++p) {
      const index_t group = p / panels_per_group;
      panel_layout::visit(p % panels_per_group, [&](auto vectors, index_t column) {
        constexpr int width = static_cast<int>(decltype(vectors)::value);
        const split<rows_of_tile<width>(), RowWidth> columns(row_extent());
        const index_t padded = panel_layout::padded(A.group_out());
        const element* b = packed + A.reduction() * (group * padded + column);
        const element* start = bias ? bias + group * padded + column : nullptr;
        const element* image =
            input + n / out_d * image_stride + n % out_d * (A.stride_d * depth_stride) + group * A.group_in();
        const element* packed_end = packed + A.reduction() * (A.groups * padded);
        // Lines of tiles: one of all pixels, or each row.
        const index_t lines = A.is_gemm() ? 1 : last - first;
        const index_t begin = A.is_gemm() ? columns.count() * first / rows() : 0;
        const index_t end = A.is_gemm() ? columns.count() * last / rows() : columns.count();
        panel_layout::template with_half<Vec>(
            column, vectors, [&](auto in_half) __attribute__((always_inline)) {
              for (index_t line = 0; line < lines; ++line) {
                const index_t y = A.is_gemm() ? 0 : first + line;
                for (index_t t = begin; t < end; ++t) {
                  const fetch_ahead ahead =
                      share_of(b + A.reduction() * width * float_lanes, packed_end, A.reduction(), width * float_lanes,
                               line * (end - begin) + t - begin, lines * (end - begin));
                  columns.visit(t, [&](auto height, index_t x) {
                    run_tile<static_cast<int>(decltype(height)::value), width, in_half()>(
                        image + y * (A.stride_h * row_stride) + x * (A.stride_w * pixel_stride), b, start, n, y, x,
                        group * A.group_out(), column, ahead, epilogue);
                  });
                }
              }
            });
      });
    }
  }

  // The most pixels of a tile of so many vectors. Such as begin in one set of the first cache push each other out of
  // it: no more than that has ways. (28 x 28 pixels of 512 channels in groups of 16 and steps of two: 0.56 -> 0.27 ms
  // on a Zen 4.)
  template <int Vectors> static constexpr int rows_of_tile() noexcept {
    constexpr cpu_facts facts = targets::native::facts;
    constexpr int most = tile_rows(registers * Vectors, A.most_rows);
    if constexpr (is_constant<PixelStride>) {
      constexpr index_t bytes = A.stride_w * value_or<PixelStride>(0) * static_cast<index_t>(sizeof(element));
      if constexpr (rows_collide(facts, bytes)) return std::min(most, static_cast<int>(facts.l1_ways));
    }
    return most;
  }

  // Taps that follow each other in memory belong to the run: with all channels and no dilation, a whole kernel row
  // does. A single tap is a product's reduction.
  template <int Vectors> constexpr auto walk() const noexcept {
    constexpr index_t width = Vectors * float_lanes, ic = A.group_in();
    if constexpr (A.kernel_d * A.kernel_h * A.kernel_w == 1) {
      return k_loop{ic, 1, width};
    } else {
      const bool row_run = A.dilation_w == 1 && is_constant<PixelStride> && value_or<PixelStride>(0) == ic;
      return k_walk{.depth = {A.kernel_d, A.dilation_d * depth_stride, A.kernel_h * A.kernel_w * ic * width},
                    .height = {A.kernel_h, A.dilation_h * row_stride, A.kernel_w * ic * width},
                    .width = {row_run ? 1 : A.kernel_w, A.dilation_w * pixel_stride, ic * width},
                    .run = {row_run ? A.kernel_w * ic : ic, 1, width}};
    }
  }

  // A function of its own: with more around it, GCC runs out of registers in some of them.
  template <int Rows, int Vectors, bool EndsInHalf, class Epilogue>
  [[gnu::noinline]] void run_tile(const element* a, const element* b, const element* bias, index_t n, index_t y,
                                  index_t x, index_t group_first, index_t column, fetch_ahead ahead,
                                  Epilogue& epilogue) const {
    const index_t gemm_y = A.is_gemm() ? x / out_w : 0;
    tile<Rows, Vectors, EndsInHalf>(
        a, A.stride_w * pixel_stride, b, walk<Vectors>(), ahead,
        [&](int, int j) { return bias ? Vec::load(bias + j * float_lanes) : Vec(element(0)); },
        [&](int i, int j, Vec acc) {
          constexpr bool full = A.group_out() % float_lanes == 0;
          const index_t at = column + j * float_lanes;
          index_t oy = y, ox = x + i;
          if constexpr (A.is_gemm()) {
            oy = gemm_y;
            ox -= gemm_y * out_w;
            while (ox >= out_w) {
              ox -= out_w;
              ++oy;
            }
          }
          if (j + 1 < Vectors) {
            epilogue(acc, n, oy, ox, group_first + at, constant<float_lanes>{});
          } else {
            with_lanes<full>(A.group_out() - at,
                             [&](auto lanes) { epilogue(acc, n, oy, ox, group_first + at, lanes); });
          }
        });
  }
};
template <conv_attributes A, class... Extents> using conv = conv_of<A, float_vec, Extents...>;

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
