// SPDX-License-Identifier: MIT
// Direct convolution of bytes in 32-bit integers, exact, channels last: rows of a tile are neighbouring pixels of one
// output row, at a constant stride in the input. Depthwise: a vector of channels, tap by tap.
#pragma once

#include <cstdint>

#include "dnnkit/cpu/micro/byte_gemm.hpp"
#include "dnnkit/cpu/micro/conv.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

// In vectors of channels, too, signed bytes are taken for unsigned ones where products of bytes are added at once
// (cpu/micro/byte_tile.hpp).
template <byte_sign Sign>
inline constexpr std::int32_t added_to_depthwise_bytes = Sign == byte_sign::is_signed&& bytes_at_once ? 128 : 0;

// What both have in common. Extents are constant<N> or index_t; strides are in bytes; where taps read is as conv says.
//
// run(input, packed, first, last, start, epilogue): start(oc) is what the sums of channels oc, ... begin with, as an
// int_vec; epilogue(n, y, x, oc) makes, for a tile that begins there, an object whose
// finish(pixel, vector, lanes, int_vec) takes its sums; lanes is constant<float_lanes> or a smaller index_t.
// Units are independent; any partition of [0, units()) into ranges may run in any order or at once.
template <conv_attributes A, class Height, class Width, class RowStride, class PixelStride> struct byte_conv_geometry {
  [[no_unique_address]] Height out_h{};
  [[no_unique_address]] Width out_w{};
  [[no_unique_address]] RowStride row_stride{};
  [[no_unique_address]] PixelStride pixel_stride{};
  index_t images = 1;
  index_t image_stride = 0;
  index_t out_d = 1;
  index_t depth_stride = 0;

  constexpr const std::uint8_t* line_of(const std::uint8_t* input, index_t n, index_t y) const noexcept {
    return input + n / out_d * image_stride + n % out_d * (A.stride_d * depth_stride) + y * (A.stride_h * row_stride);
  }
};

template <byte_sign Sign, conv_attributes A, class Height, class Width, class RowStride,
          class PixelStride = constant<A.in_channels>>
struct byte_conv : byte_conv_geometry<A, Height, Width, RowStride, PixelStride> {
  static constexpr int panel_vectors = A.panel_vectors;
  using panel_layout = panels<panel_vectors, constant<A.group_out()>>;

  // Taps that follow each other in memory are one run: with all channels and no dilation, a kernel row.
  static constexpr bool row_run =
      A.dilation_w == 1 && is_constant<PixelStride> && value_or<PixelStride>(0) == A.group_in();
  static constexpr index_t run_length = row_run ? A.kernel_w * A.group_in() : A.group_in();
  static constexpr index_t runs = A.taps() * A.group_in() / run_length;
  static constexpr index_t columns() noexcept { return panel_layout::padded(A.group_out()); }
  static constexpr index_t group_size() noexcept { return byte_steps(runs, run_length) * bytes_a_step * columns(); }

  // Weights that are less than -128 or more than 127, as those with a zero point may be, are sums of several: the
  // convolution is then done as often over the same input. `times` says what its weights have been packed for.
  index_t times = 1;

  // Elements of packed weights.
  static constexpr index_t packed_size(index_t times) noexcept { return A.groups * times * group_size(); }
  // value(output channel, input channel within the group, tap, time) yields a weight, or a part of one: -128 to 127.
  template <class Value> static void pack(index_t times, Value&& value, packed_byte* packed) {
    for (index_t g = 0; g < A.groups; ++g)
      pack_byte_panels<panel_layout>(
          times * runs, run_length, A.group_out(),
          [&](index_t run, index_t k, index_t column) {
            const index_t r = run % runs, tap = row_run ? r * A.kernel_w + k / A.group_in() : r;
            return value(g * A.group_out() + column, k % A.group_in(), tap, run / runs);
          },
          packed + g * times * group_size());
  }

  constexpr index_t units() const noexcept {
    return this->images * this->out_d * panel_count * ceil_div(this->out_h, lines_a_unit);
  }

  template <class Start, class Epilogue>
  void run(const std::uint8_t* input, const packed_byte* packed, index_t first, index_t last, Start&& start,
           Epilogue&& epilogue) const {
    const index_t height = this->out_h;
    if constexpr (in_tile_registers) {
      if (first >= last || this->out_w == 0) return;
      const even_rows pixels{this->out_w};
      const byte_tiles tiles(pixels.height, pieces_of(run_length).steps);
      const index_t units_high = ceil_div(height, lines_a_unit);
      for (index_t u = first; u < last; ++u) {
        const index_t rest = u / units_high, y = u % units_high * lines_a_unit;
        run_lines_in_tiles(tiles, pixels, input, packed, rest / panel_count, rest % panel_count, y,
                           std::min<index_t>(y + lines_a_unit, height), start, epilogue);
      }
      return;
    }
    for (index_t u = first; u < last; ++u) {
      const index_t y = u % height, rest = u / height, p = rest % panel_count, n = rest / panel_count;
      const index_t group = p / panels_per_group;
      panel_layout::visit(p % panels_per_group, [&](auto vectors, index_t column) {
        constexpr int width = static_cast<int>(decltype(vectors)::value);
        const split<tile_rows(width), Width> tiles(this->out_w);
        const packed_byte* b =
            packed + times * (group * group_size() + byte_steps(runs, run_length) * bytes_a_step * column);
        const std::uint8_t* line = this->line_of(input, n, y) + group * A.group_in();
        for (index_t t = 0; t < tiles.count(); ++t)
          tiles.visit(t, [&](auto pixels, index_t x) {
            run_tile<static_cast<int>(decltype(pixels)::value), width>(line + x * (A.stride_w * this->pixel_stride), b,
                                                                       n, y, x, group, column, start, epilogue);
          });
      });
    }
  }

 private:
  static constexpr index_t panels_per_group = panel_layout::count(A.group_out());
  static constexpr index_t panel_count = panels_per_group * A.groups;
  // Output rows that a unit has: in tile registers, pairs of blocks of pixels may be of two of them.
  static constexpr index_t lines_a_unit = in_tile_registers ? 2 : 1;

  constexpr byte_walk walk() const noexcept {
    return {.depth = {A.kernel_d, A.dilation_d * this->depth_stride},
            .height = {A.kernel_h, A.dilation_h * this->row_stride},
            .width = {row_run ? 1 : A.kernel_w, A.dilation_w * this->pixel_stride},
            .run = run_length,
            .times = times};
  }

  // What is to come is near: nothing is fetched ahead.
  struct fetch_nothing {
    [[gnu::always_inline]] void next() noexcept {}
  };

  // Panel p of output rows y to end of image n.
  template <class Start, class Epilogue>
  [[gnu::always_inline]] void run_lines_in_tiles(const byte_tiles& tiles, const even_rows& pixels,
                                                 const std::uint8_t* input, const packed_byte* packed, index_t n,
                                                 index_t p, index_t y, index_t end, Start& start,
                                                 Epilogue& epilogue) const {
    const index_t group = p / panels_per_group, count = (end - y) * pixels.blocks;
    panel_layout::visit(p % panels_per_group, [&](auto vectors, index_t column) {
      constexpr int width = static_cast<int>(decltype(vectors)::value);
      const packed_byte* b =
          packed + times * (group * group_size() + byte_steps(runs, run_length) * bytes_a_step * column);
      const index_t panel = times * byte_steps(runs, run_length) * bytes_a_step * width * float_lanes;
      const index_t pieces = times * runs * pieces_of(run_length).pieces, pairs = ceil_div(count, 2),
                    all = pairs * ceil_div(this->out_h, lines_a_unit);
      for (index_t t = 0; t < count; t += 2) {
        const place at{n,     y,      t,
                       group, column, tile_share(b + panel, panel, y / lines_a_unit * pairs + t / 2, all, pieces)};
        if (t + 1 < count) run_tiles<2, width>(tiles, pixels, input + group * A.group_in(), b, at, start, epilogue);
        else run_tiles<1, width>(tiles, pixels, input + group * A.group_in(), b, at, start, epilogue);
      }
    });
  }

  // Block number `block` of the output rows from y on.
  struct place {
    index_t n, y, block, group, column;
    tile_fetch ahead;
  };
  template <int Blocks, int Vectors, class Start, class Epilogue>
  [[gnu::noinline]] void run_tiles(const byte_tiles& tiles, const even_rows& pixels, const std::uint8_t* input,
                                   const packed_byte* b, const place& where, Start& start, Epilogue& epilogue) const {
    const index_t channel = where.group * A.group_out() + where.column, pixel = A.stride_w * this->pixel_stride;
    const auto row_of = [&](index_t i) { return where.y + (where.block + i) / pixels.blocks; };
    const auto block_of = [&](index_t i) { return (where.block + i) % pixels.blocks; };
    const std::uint8_t* at[Blocks];
    for (index_t i = 0; i < Blocks; ++i)
      at[i] = this->line_of(input, where.n, row_of(i)) + pixels.first(block_of(i)) * pixel;
    int_vec begin[Vectors], sums[Blocks * tile_height * Vectors];
    for (int j = 0; j < Vectors; ++j) begin[j] = start(where.group * columns() + where.column + j * float_lanes);
    tiles.multiply<Sign, Blocks, Vectors>(at, pixel, b, walk(), where.ahead, begin, sums);
    for (index_t i = 0; i < Blocks; ++i) {
      const index_t again = pixels.again(block_of(i)), x = pixels.first(block_of(i)) + again;
      finish_tile<A.group_out() % float_lanes == 0>(
          sums + (i * pixels.height + again) * Vectors, static_cast<int>(pixels.height - again), Vectors,
          A.group_out() - where.column, epilogue(where.n, row_of(i), x, channel));
    }
  }

  // A function of its own: with more around it, GCC runs out of registers in some of them.
  template <int Pixels, int Vectors, class Start, class Epilogue>
  [[gnu::noinline]] void run_tile(const std::uint8_t* a, const packed_byte* b, index_t n, index_t y, index_t x,
                                  index_t group, index_t column, Start& start, Epilogue& epilogue) const {
    const index_t channel = group * A.group_out() + column;
    const auto to = epilogue(n, y, x, channel);
    int_vec sums[Pixels][Vectors];
    byte_tile<Sign, Pixels, Vectors>(
        a, A.stride_w * this->pixel_stride, b, walk(), fetch_nothing{},
        [&](int, int j) { return start(group * columns() + column + j * float_lanes); }, sums);
    finish_tile<A.group_out() % float_lanes == 0>(&sums[0][0], Pixels, Vectors, A.group_out() - column, to);
  }
};

// in_channels == out_channels == groups. The pixels of several filter rows at one place share a 32-bit lane, bytes of
// up to four rows or numbers of 16 bits of two, and their products are added at once; neighbouring pixels of the
// output read the same lanes.
template <byte_sign Sign, conv_attributes A, class Height, class Width, class RowStride,
          class PixelStride = constant<A.in_channels>>
struct byte_depthwise : byte_conv_geometry<A, Height, Width, RowStride, PixelStride> {
  static_assert(A.groups == A.in_channels && A.out_channels == A.in_channels);
  static constexpr index_t channel_vectors = ceil_div(A.out_channels, float_lanes);
  static constexpr index_t columns() noexcept { return channel_vectors * float_lanes; }

  // As byte_conv::times.
  index_t times = 1;

  // Lanes of packed weights.
  static constexpr index_t packed_size(index_t times) noexcept { return times * group_size * columns(); }
  // value(channel, 0, tap, time) yields a weight, or a part of one: -128 to 127.
  template <class Value> static void pack(index_t times, Value&& value, std::int32_t* packed) {
    for (index_t v = 0; v < channel_vectors; ++v)
      for (index_t t = 0; t < times; ++t)
        for (index_t d = 0; d < A.kernel_d; ++d)
          for (index_t h = 0; h < A.kernel_h; h += rows_a_lane)
            for (index_t w = 0; w < A.kernel_w; ++w)
              for (index_t lane = 0; lane < float_lanes; ++lane, ++packed) {
                const index_t c = v * float_lanes + lane;
                std::uint32_t rows = 0;
                for (index_t r = 0; r < rows_a_lane && h + r < A.kernel_h && c < A.out_channels; ++r) {
                  const index_t tap = (d * A.kernel_h + h + r) * A.kernel_w + w;
                  const auto weight = static_cast<std::uint32_t>(value(c, index_t{0}, tap, t));
                  rows |= (weight & row_mask) << (row_bits * r);
                }
                *packed = static_cast<std::int32_t>(rows);
              }
  }

  constexpr index_t units() const noexcept { return this->images * this->out_d * this->out_h; }

  template <class Start, class Epilogue>
  void run(const std::uint8_t* input, const std::int32_t* packed, index_t first, index_t last, Start&& start,
           Epilogue&& epilogue) const {
    const split<pixel_limit, Width> tiles(this->out_w);
    const index_t height = this->out_h;
    for (index_t u = first; u < last; ++u) {
      const index_t y = u % height, n = u / height;
      const std::uint8_t* line = this->line_of(input, n, y);
      for (index_t v = 0; v < channel_vectors; ++v)
        for (index_t t = 0; t < tiles.count(); ++t)
          tiles.visit(t, [&](auto size, index_t x) {
            const std::uint8_t* a = line + x * (A.stride_w * this->pixel_stride) + v * float_lanes;
            with_lanes<A.out_channels % float_lanes == 0>(A.out_channels - v * float_lanes, [&](auto lanes) {
              run_tile<static_cast<int>(decltype(size)::value)>(a, packed + v * times * group_size * float_lanes,
                                                                start(v * float_lanes),
                                                                epilogue(n, y, x, v * float_lanes), lanes);
            });
          });
    }
  }

 private:
  static constexpr int pixel_limit = vector_registers == 32 ? 14 : 8;
  static constexpr index_t rows_a_lane = bytes_at_once ? 4 : 2, row_bits = 32 / rows_a_lane;
  static constexpr std::uint32_t row_mask = (std::uint32_t{1} << row_bits) - 1;
  // Packed vectors of a channel vector.
  static constexpr index_t group_size = A.kernel_d * ceil_div(A.kernel_h, rows_a_lane) * A.kernel_w;
  // Taps of a filter row whose weights are in registers together.
  static constexpr index_t most_taps = 7;

  [[gnu::always_inline]] static int_vec load(const std::uint8_t* p, auto lanes) noexcept {
    using stored = std::conditional_t<Sign == byte_sign::is_signed && !bytes_at_once, std::int8_t, std::uint8_t>;
    const auto* const x = reinterpret_cast<const stored*>(p);
    if constexpr (is_constant<decltype(lanes)>) return load_as<int_vec>(x);
    else return load_as<int_vec>(x, lanes);
  }
  // The pixels of Rows rows at p, each in its part of the lanes.
  template <index_t Rows> [[gnu::always_inline]] int_vec load_rows(const std::uint8_t* p, auto lanes) const noexcept {
    int_vec x = load(p, lanes);
    if constexpr (Rows > 1 && !bytes_at_once && Sign == byte_sign::is_signed)
      x = x & int_vec(static_cast<std::int32_t>(row_mask));
#pragma GCC unroll 4
    for (index_t r = 1; r < Rows; ++r)
      x = x | load(p + r * (A.dilation_h * this->row_stride), lanes) << static_cast<int>(row_bits * r);
    if constexpr (bytes_at_once && Sign == byte_sign::is_signed)
      x = x ^ int_vec(static_cast<std::int32_t>(0x80808080U));
    return x;
  }
  template <class V> [[gnu::always_inline]] static V plus_products(V sum, V x, V weight) noexcept {
    if constexpr (bytes_at_once) return V(isa::plus_products_of_bytes(sum.v, x.v, weight.v));
    else return sum + V(detail::products_of_pairs(x.v, weight.v));
  }

  // Rows rows by Taps taps of the filter, the first of which a tile's first pixel reads at p.
  template <index_t Rows, index_t Taps, int Pixels>
  [[gnu::always_inline]] void add_products(int_vec (&acc)[Pixels], const std::uint8_t* p, const std::int32_t*& b,
                                           auto lanes) const {
    constexpr index_t wide = A.dilation_w;
    int_vec weight[Taps];
#pragma GCC unroll 8
    for (index_t w = 0; w < Taps; ++w, b += float_lanes) weight[w] = int_vec::load(b);
#pragma GCC unroll 128
    for (index_t at = 0; at <= (Pixels - 1) * A.stride_w + (Taps - 1) * wide; ++at) {
      // the taps w for which at = pixel * stride + w * dilation, of a pixel of the tile
      const auto pixel = [&](index_t w) { return (at - w * wide) / A.stride_w; };
      const auto reads = [&](index_t w) {
        return at >= w * wide && (at - w * wide) % A.stride_w == 0 && pixel(w) < Pixels;
      };
      bool is_read = false;
#pragma GCC unroll 8
      for (index_t w = 0; w < Taps; ++w) is_read = is_read || reads(w);
      if (!is_read) continue;
      const int_vec x = load_rows<Rows>(p + at * this->pixel_stride, lanes);
#pragma GCC unroll 8
      for (index_t w = 0; w < Taps; ++w)
        if (reads(w)) acc[pixel(w)] = plus_products(acc[pixel(w)], x, weight[w]);
    }
  }
  template <index_t Rows, int Pixels>
  [[gnu::always_inline]] void add_rows(int_vec (&acc)[Pixels], const std::uint8_t* p, const std::int32_t*& b,
                                       auto lanes) const {
    constexpr index_t rest = A.kernel_w % most_taps;
    for (index_t w = 0; w + most_taps <= A.kernel_w; w += most_taps)
      add_products<Rows, most_taps>(acc, p + w * (A.dilation_w * this->pixel_stride), b, lanes);
    if constexpr (rest != 0)
      add_products<Rows, rest>(acc, p + (A.kernel_w - rest) * (A.dilation_w * this->pixel_stride), b, lanes);
  }

  template <int Pixels, class Lanes>
  [[gnu::always_inline]] void run_tile(const std::uint8_t* a, const std::int32_t* b, int_vec start, const auto& to,
                                       Lanes lanes) const {
    constexpr index_t rest = A.kernel_h % rows_a_lane;
    int_vec acc[Pixels];
#pragma GCC unroll 16
    for (int i = 0; i < Pixels; ++i) acc[i] = start;
    for (index_t d = 0; d < times * A.kernel_d; ++d) {
      const std::uint8_t* slice = a + d % A.kernel_d * (A.dilation_d * this->depth_stride);
      detail::keep_in_register(slice);  // else GCC loads all pixels before the loop, and spills them
      const auto row = [&](index_t h) { return slice + h * (A.dilation_h * this->row_stride); };
      for (index_t h = 0; h + rows_a_lane <= A.kernel_h; h += rows_a_lane) add_rows<rows_a_lane>(acc, row(h), b, lanes);
      if constexpr (rest != 0) add_rows<rest>(acc, row(A.kernel_h - rest), b, lanes);
    }
    int_vec sums[Pixels];
#pragma GCC unroll 16
    for (int i = 0; i < Pixels; ++i) sums[i] = acc[i];
    finish_tile<A.out_channels % float_lanes == 0>(sums, Pixels, 1, lanes, to);
  }
};

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
