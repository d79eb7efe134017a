// SPDX-License-Identifier: MIT
// Convolution with more than three taps along an axis, in steps of one, by Winograd's algorithm (Lavin and Gray, Fast
// Algorithms for Convolutional Neural Networks, section 4), channels last. A window is cut into segments of three taps,
// the last one filled up with zeros, and outputs into tiles of three, F(3, 3): segment s of tile t then reads what
// segment 0 of tile t + s does. So each tile of the input is transformed once, and what remains at each point is a
// direct convolution over tiles with a window of segments. Of 9 x 9 taps, 25 points with 3 x 3 segments each make 9
// outputs: 25 multiply-adds instead of 81.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "dnnkit/cpu/micro/pack.hpp"
#include "dnnkit/cpu/micro/transpose.hpp"
#include "dnnkit/cpu/micro/winograd_transform.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

// What is always known.
struct wide_winograd_attributes {
  index_t in_channels = 1, out_channels = 1;
  int taps_h = 5, taps_w = 5;
  // Lanes of vectors are tiles of a row, where there are too few output channels for that.
  bool along_rows = false;
  // The input is asked for, some pixels of a row at a time.
  bool takes_rows = false;
  int strip = 3;          // so many register tiles of a row of tiles are computed at once, at the most
  int panel_vectors = 0;  // of a register tile: of output channels, or of tiles along rows; 0: as many as is usual
};

// The points of F(3, 3), besides infinity: of several thousand tiles of random numbers, such pairs had the smallest
// errors, 0.6 of what the square roots of 1/2 and 2 have, 0.4 of what 0, 1, -1 and 2 do.
struct points_of_segments {
  static constexpr std::array<double, 2> magnitudes{0.4, 1.25};
};

// An axis with so many taps: segments of as many as a tile has outputs. Otherwise a winograd_axis.
template <int Taps> struct segmented_axis {
  using filter = minimal_filter<3, 3, points_of_segments>;
  static constexpr int segments = (Taps + 2) / 3;
  static constexpr int outputs = 3, inputs = filter::points, points = filter::points;
  static constexpr int input_operations = filter::input_operations, output_operations = filter::output_operations;
  static constexpr auto of_filter = filter::of_filter;

  [[gnu::always_inline]] static void input(const float_vec (&d)[inputs], float_vec (&to)[points]) noexcept {
    filter::template input<1>(d, to);
  }
  [[gnu::always_inline]] static void output(const float_vec (&m)[points], float_vec (&to)[outputs]) noexcept {
    filter::output(m, to);
  }
};
template <> struct segmented_axis<1> : winograd_axis<1, 1, 1> { static constexpr int segments = 1; };

// The largest error, as a part of the largest output, with more than one tap along one axis or both, of sums of at most
// longest_segmented_sum products, or of a row of segments that has no more than longest_row_of_segments; sums of more
// are those of some rows each (tests/cpu/micro/wide_winograd.cpp).
constexpr accuracy largest_wide_winograd_error(bool along_both) noexcept {
  return accuracy(along_both ? 3e-6 : 2.5e-6);
}
inline constexpr index_t longest_segmented_sum = 288, longest_row_of_segments = 768;

// Rows of a register tile, at the most: products are short, and what begins with each tile goes on beside those of
// others (of 3 channels and 9 x 9 taps: 15.4 ms with 4 and 6 rows, 16.2 with 13).
inline constexpr int most_segmented_tiles = 6;

// Extents are constant<N> or index_t. Describes the convolution; holds no data. Strides are in floats.
//
// `input` of run() and its epilogue are those of winograd (cpu/micro/winograd.hpp): what windows see is read, and
// nothing else; or, with takes_rows, it is called as input(n, y, x, pixels, to), so many pixels from (x, y) on, where
// that first tap is (0, 0), to be put at `to`, all channels of one after those of the other. With tiles along rows,
// lanes of what the epilogue is given run along x.
template <wide_winograd_attributes A, class Height = index_t, class Width = index_t, class RowStride = index_t,
          class PixelStride = constant<A.in_channels>>
struct wide_winograd {
  using element = float;
  using down = segmented_axis<A.taps_h>;
  using across = segmented_axis<A.taps_w>;
  static constexpr int points = down::points * across::points;
  static constexpr index_t channels = A.in_channels;
  static constexpr bool along_rows = A.along_rows, takes_rows = A.takes_rows;

  [[no_unique_address]] Height out_h{};
  [[no_unique_address]] Width out_w{};
  [[no_unique_address]] RowStride row_stride{};
  [[no_unique_address]] PixelStride pixel_stride{};
  index_t images = 1;
  index_t image_stride = 0;
  index_t out_d = 1;  // none has a depth
  index_t depth_stride = 0;

  // --- weights: of each point, panel by panel, segment by segment down, of which the first follow the last ones again:
  // rows of transformed tiles lie in a ring
  static constexpr index_t ring_of_weights = 2 * down::segments - 1;
  static constexpr index_t depth = across::segments * channels;  // of a row of segments

  static constexpr index_t packed_size() noexcept { return points * weight_plane; }
  static constexpr index_t bias_size() noexcept { return padded_out; }

  // weight: ONNX's OIHW, contiguous.
  static void pack(const float* weight, float* packed) {
    for (index_t s = 0; s < ring_of_weights; ++s)
      for (index_t across_s = 0; across_s < across::segments; ++across_s)
        for (index_t c = 0; c < channels; ++c)
          for_panels([&](auto width, index_t first) {
            constexpr index_t n = decltype(width)::value;
            double filters[down::outputs * across::outputs][n]{};
            for (index_t i = 0; i < std::min(n, A.out_channels - first); ++i)
              for (index_t y = 0; y < down::outputs; ++y)
                for (index_t x = 0; x < across::outputs; ++x) {
                  const index_t tap_y = s % down::segments * down::outputs + y, tap_x = across_s * across::outputs + x;
                  if (tap_y < A.taps_h && tap_x < A.taps_w)
                    filters[y * across::outputs + x][i] =
                        weight[(((first + i) * channels + c) * A.taps_h + tap_y) * A.taps_w + tap_x];
                }
            const index_t k = A.along_rows ? c * across::segments + across_s : across_s * channels + c;
            winograd_filters<down, across>(filters, packed + ring_of_weights * depth * first + (s * depth + k) * n,
                                           weight_plane);
          });
  }
  static void pack_bias(const float* bias, float* packed) {
    std::fill(std::copy_n(bias, A.out_channels, packed), packed + bias_size(), 0.0f);
  }

  // --- work: a unit is a row of tiles in a strip of them. Any partition of [0, units()) into ranges may run in any
  // order or at once. A range transforms each row of tiles once, and before its first unit, and that of a strip, those
  // that the window's other segments see.
  constexpr index_t units() const noexcept { return images * strips() * tiles_down(); }

  // Floats of the room that run() needs, a range's own.
  static constexpr index_t room() noexcept {
    return down::inputs * pixel_row + points * (tile_plane + product_plane) + finished + taken;
  }

  // bias: bias_size() floats or null.
  template <class Input, class Epilogue>
  void run(const Input& input, const float* packed, const float* bias, index_t first, index_t last, Epilogue&& epilogue,
           float* room) const {
    const rooms r{room, room + down::inputs * pixel_row};
    for (index_t u = first; u < last; ++u) {
      const index_t row = u % tiles_down(), strip = u / tiles_down() % strips(), n = u / tiles_down() / strips();
      const strip_place at = place_of(strip);
      const bool is_new = u == first || row == 0;
      for (index_t t = row + (is_new ? 0 : down::segments - 1); t < row + down::segments; ++t)
        transform_row(input, n, t, is_new && t == row, at, r);
      multiply(packed, row, strip, at, r);
      finish(bias, n, row, at, r, epilogue);
    }
  }

 private:
  struct rooms {
    float *pixels, *tiles;
    float* products() const noexcept { return tiles + points * tile_plane; }
    float* lines() const noexcept { return products() + points * product_plane; }
    float* taken() const noexcept { return lines() + finished; }
  };
  // Planes do not begin in one set of the first cache.
  static constexpr index_t apart = 48;
  static constexpr index_t in_vectors(index_t n) noexcept { return ceil_div(n, float_lanes) * float_lanes; }

  constexpr index_t tiles_down() const noexcept { return ceil_div(out_h, down::outputs); }
  constexpr index_t tiles_across() const noexcept { return ceil_div(out_w, across::outputs); }

  // --- panels of weights
  static constexpr int panel_vectors = A.panel_vectors > 0 ? A.panel_vectors
                                       : A.along_rows      ? 4
                                                           : row_width(targets::native::facts,
                                                                       ceil_div(A.out_channels, float_lanes), 0);
  using panel_layout = panels<panel_vectors, constant<A.out_channels>>;
  using channel_split = split<tile_rows(panel_vectors), constant<A.out_channels>>;
  static constexpr index_t padded_out = A.along_rows ? A.out_channels : panel_layout::padded(A.out_channels);
  static constexpr index_t weight_plane = ring_of_weights * depth * padded_out;
  // f(constant<channels of the panel>, the first one)
  template <class F> [[gnu::always_inline]] static void for_panels(F&& f) {
    if constexpr (A.along_rows) {
      for (index_t p = 0; p < channel_split::count(); ++p) channel_split::visit(p, f);
    } else {
      for (index_t p = 0; p < panel_layout::count(A.out_channels); ++p)
        panel_layout::visit(
            p, [&](auto vectors, index_t first) { f(constant<decltype(vectors)::value * float_lanes>{}, first); });
    }
  }

  // --- strips: of register tiles of tiles or, along rows, of as many tiles as make so many vectors with those that the
  // window's other segments see; of one where these alone are more
  static constexpr int tile_height = A.along_rows ? 1 : std::min(most_segmented_tiles, tile_rows(panel_vectors));
  using tile_count =
      std::conditional_t<is_constant<Width>, constant<ceil_div(value_or<Width>(1), across::outputs)>, index_t>;
  using row_split = split<tile_height, tile_count>;
  static constexpr index_t strip_tiles =
      A.along_rows ? std::max<index_t>(1, A.strip* panel_vectors* float_lanes - across::segments)
                   : index_t(A.strip) * tile_height;
  constexpr row_split tiles_of_row() const noexcept {
    if constexpr (is_constant<Width>) return row_split(tile_count{});
    else return row_split(tiles_across());
  }
  constexpr index_t strips() const noexcept {
    return A.along_rows ? ceil_div(tiles_across(), strip_tiles) : ceil_div(tiles_of_row().count(), A.strip);
  }
  struct strip_place {
    index_t begin, tiles;
  };
  constexpr strip_place place_of(index_t strip) const noexcept {
    if constexpr (A.along_rows) {
      const index_t begin = tiles_across() * strip / strips();
      return {begin, tiles_across() * (strip + 1) / strips() - begin};
    } else {
      const row_split all = tiles_of_row();
      strip_place p{};
      for (index_t t = strip * A.strip; t < std::min<index_t>((strip + 1) * A.strip, all.count()); ++t)
        all.visit(t, [&](auto height, index_t first) {
          if (p.tiles == 0) p.begin = first;
          p.tiles += height;
        });
      return p;
    }
  }

  // Pixels of a row lie apart by their place in a tile: those of all tiles, pixel by pixel with all channels or channel
  // by channel. Transformed tiles lie in the same order.
  static constexpr index_t tiles_at_once = strip_tiles + across::segments - 1;
  static constexpr bool overlap = across::inputs > across::outputs;            // an input tile ends in the next one
  static constexpr index_t channel_row = in_vectors(tiles_at_once + overlap);  // of one channel alone
  static constexpr index_t next_tile = A.along_rows ? 1 : channels;
  static constexpr index_t tile_row =
      A.along_rows ? channels * channel_row + float_lanes : in_vectors(tiles_at_once * channels);
  static constexpr index_t phase = tile_row + in_vectors(overlap * next_tile), pixel_row = across::outputs * phase;
  static constexpr index_t tile_plane = down::segments * tile_row + apart;

  // Of each point; tile by tile with all output channels, or channel by channel.
  static constexpr index_t product_row = A.along_rows ? in_vectors(strip_tiles) : padded_out;
  static constexpr index_t product_plane = (A.along_rows ? A.out_channels : strip_tiles) * product_row + apart;
  static constexpr index_t finished = A.along_rows ? down::outputs * across::outputs * product_row + float_lanes : 0;

  // --- a row of the input's tiles at all points
  static constexpr index_t taken = A.takes_rows ? (tiles_at_once + overlap) * across::outputs * channels : 0;
  template <class Input>
  [[gnu::noinline]] void transform_row(const Input& input, index_t n, index_t row, bool is_first, strip_place at,
                                       const rooms& r) const {
    const index_t x = at.begin * across::outputs, needed = at.tiles + across::segments - 1, tiles = needed + overlap;
    const index_t there = std::min(out_w - 1 - x + A.taps_w, tiles * across::outputs);
    constexpr index_t kept = down::inputs - down::outputs;  // of the row before
    for (index_t i = is_first ? 0 : kept; i < down::inputs; ++i) {
      const index_t y = row * down::outputs + i;
      float* const to = r.pixels + y % down::inputs * pixel_row;
      if (y >= out_h - 1 + A.taps_h) {
        std::fill_n(to, pixel_row, 0.0f);
        continue;
      }
      const float* from = r.taken();
      if constexpr (A.takes_rows) input(n, y, x, there, r.taken());
      else from = input + n * image_stride + y * row_stride + x * pixel_stride;
      if constexpr (A.along_rows) turn_pixels(from, there, tiles, to);
      else part_pixels(from, there, tiles, to);
    }
    const float* lines[down::inputs];
    for (index_t i = 0; i < down::inputs; ++i)
      lines[i] = r.pixels + (row * down::outputs + i) % down::inputs * pixel_row;
    float* const to = r.tiles + row % down::segments * tile_row;
    if constexpr (A.along_rows) {
      for (index_t c = 0; c < channels; ++c)
        for (index_t t = c * channel_row; t < c * channel_row + needed; t += float_lanes) at_points(lines, t, to);
    } else {
      for (index_t t = 0; t < needed * channels; t += float_lanes) at_points(lines, t, to);
    }
  }
  [[gnu::always_inline]] static void at_points(const float* const (&lines)[down::inputs], index_t at, float* to) {
    winograd_input<down, across, tile_plane>(
        [&](int i, int j) __attribute__((always_inline)) {
          return float_vec::load(lines[i] + at + j % across::outputs * phase + j / across::outputs * next_tile);
        },
        to + at);
  }
  // Pixels of a row, of which so many are there, put apart by their place in a tile.
  void part_pixels(const float* from, index_t there, index_t tiles, float* to) const {
    for (index_t j = 0; j < across::outputs; ++j) {
      const index_t whole = std::clamp<index_t>(ceil_div(there - j, across::outputs), 0, tiles);
      float* out = to + j * phase;
      const float* pixel = from + j * pixel_stride;
      for (index_t t = 0; t < whole; ++t, pixel += across::outputs * pixel_stride, out += channels) {
        if constexpr (channels < float_lanes) {
          for (index_t c = 0; c < channels; ++c) out[c] = pixel[c];
        } else {
          index_t c = 0;
          for (; c + float_lanes <= channels; c += float_lanes) float_vec::load(pixel + c).store(out + c);
          if (c < channels) float_vec::load(pixel + c, channels - c).store(out + c, channels - c);
        }
      }
      std::fill_n(out, (tiles - whole) * channels, 0.0f);
    }
  }
  // The same, and each channel on its own.
  void turn_pixels(const float* from, index_t there, index_t tiles, float* to) const {
    for (index_t t = 0; t < tiles; t += float_lanes)
      for (index_t j = 0; j < across::outputs; ++j)
        for (index_t c = 0; c < channels; c += float_lanes) {
          const index_t lanes = std::min<index_t>(float_lanes, channels - c);
          square_block block;
          const float* pixel = from + (t * across::outputs + j) * pixel_stride + c;
          const index_t left = ceil_div(there - j, across::outputs) - t;
          if (left >= float_lanes && lanes == float_lanes) {
#pragma GCC unroll 16
            for (int i = 0; i < float_lanes; ++i)
              block[i] = float_vec::load(pixel + i * across::outputs * pixel_stride);
          } else {
#pragma GCC unroll 16
            for (int i = 0; i < float_lanes; ++i) {
              block[i] = float_vec(0.0f);
              if (i < left) block[i] = float_vec::load(pixel + i * across::outputs * pixel_stride, lanes);
            }
          }
          transpose(block);
          float* const out = to + j * phase + c * channel_row + t;
#pragma GCC unroll 16
          for (int i = 0; i < float_lanes; ++i)
            if (i < lanes) block[i].store(out + i * channel_row);
        }
  }

  // --- products at all points
  struct no_fetch {
    [[gnu::always_inline]] void next(index_t = 1) noexcept {}
    [[gnu::always_inline]] void next_height() noexcept {}
  };
  void multiply(const float* packed, index_t row, index_t strip, strip_place at, const rooms& r) const {
    // the segment whose row of tiles is the first of the ring
    const index_t turn = (down::segments - row % down::segments) % down::segments;
    for (index_t k = 0; k < points; ++k) {
      const float* const from = r.tiles + k * tile_plane;
      float* const to = r.products() + k * product_plane;
      for_panels([&](auto width, index_t first) {
        constexpr index_t n = decltype(width)::value;
        const float* const weights = packed + k * weight_plane + ring_of_weights * depth * first + turn * depth * n;
        if constexpr (A.along_rows) {
          const split<panel_vectors, index_t> columns(ceil_div(at.tiles, float_lanes));
          for (index_t t = 0; t < columns.count(); ++t)
            columns.visit(t, [&](auto vectors, index_t v) {
              multiply_along_rows<n, decltype(vectors)::value>(weights, from + v * float_lanes,
                                                               to + first * product_row + v * float_lanes);
            });
        } else {
          constexpr int vectors = n / float_lanes;
          const row_split all = tiles_of_row();
          for (index_t t = strip * A.strip; t < std::min<index_t>((strip + 1) * A.strip, all.count()); ++t)
            all.visit(t, [&](auto height, index_t tile) {
              multiply_tiles<decltype(height)::value, vectors>(from + (tile - at.begin) * channels, weights,
                                                               to + (tile - at.begin) * product_row + first);
            });
        }
      });
    }
  }
  template <int Rows, int Vectors>
  [[gnu::noinline]] static void multiply_tiles(const float* a, const float* b, float* to) {
    constexpr index_t width = Vectors * float_lanes;
    // What a tile reads its neighbour does some steps later. Where that is in the next ones GCC keeps it, in more
    // registers than there are, unless it does not know how far apart they lie.
    index_t step = 1;
    if constexpr (channels < 4) detail::keep_in_register(step);
    add_rows<Rows, Vectors>(a, channels, tile_row, b, depth * width, to, [&](index_t rows) {
      return k_walk{.depth = {}, .height = {}, .width = {rows, tile_row, depth * width}, .run = {depth, step, width}};
    });
  }
  template <int Rows, int Vectors>
  [[gnu::noinline]] static void multiply_along_rows(const float* a, const float* b, float* to) {
    add_rows<Rows, Vectors>(a, 1, depth * Rows, b, tile_row, to, [](index_t rows) {
      return k_walk{.depth = {},
                    .height = {rows, depth * Rows, tile_row},
                    .width = {channels, across::segments * Rows, channel_row},
                    .run = {across::segments, Rows, 1}};
    });
  }
  // Sums of as many rows of segments as one may have, which are added up: walk(rows).
  template <int Rows, int Vectors>
  [[gnu::always_inline]] static void add_rows(const float* a, index_t row_stride, index_t next_a, const float* b,
                                              index_t next_b, float* to, auto&& walk) {
    constexpr index_t all = down::segments, most = std::clamp<index_t>(longest_segmented_sum / depth, 1, all);
    for (index_t s = 0; s < all; s += most)
      tile<Rows, Vectors>(
          a + s * next_a, row_stride, b + s * next_b, walk(most == all ? all : std::min(most, all - s)), no_fetch{},
          [](int, int) { return float_vec(0.0f); },
          [&](int i, int j, float_vec acc) {
            float* const at = to + i * product_row + j * float_lanes;
            if (most < all && s > 0) acc = acc + float_vec::load(at);
            acc.store(at);
          });
  }

  // --- and the outputs of them
  template <class Epilogue>
  [[gnu::noinline]] void finish(const float* bias, index_t n, index_t row, strip_place at, const rooms& r,
                                Epilogue& epilogue) const {
    const index_t y = row * down::outputs, there_h = std::min<index_t>(down::outputs, out_h - y);
    float_vec all[down::outputs][across::outputs];
    if constexpr (A.along_rows) {
      const index_t x = at.begin * across::outputs, there_w = std::min<index_t>(at.tiles * across::outputs, out_w - x);
      constexpr index_t line = across::outputs * product_row;
      for (index_t oc = 0; oc < A.out_channels; ++oc) {
        const float_vec start(bias == nullptr ? 0.0f : bias[oc]);
        for (index_t t = 0; t < at.tiles; t += float_lanes) {
          winograd_outputs<down, across, product_plane>(r.products() + oc * product_row + t, start, all);
          for (index_t i = 0; i < down::outputs; ++i) {
            float* const to = r.lines() + i * line + t * across::outputs;
            for (int lane = 0; lane < float_lanes; ++lane)
              for (int j = 0; j < across::outputs; ++j) to[lane * across::outputs + j] = all[i][j][lane];
          }
        }
        for (index_t i = 0; i < there_h; ++i)
          for (index_t column = 0; column < there_w; column += float_lanes)
            with_lanes<false>(there_w - column, [&](auto lanes) {
              epilogue(float_vec::load(r.lines() + i * line + column), n, y + i, x + column, oc, lanes);
            });
      }
    } else {
      for (index_t t = 0; t < at.tiles; ++t) {
        const index_t x = (at.begin + t) * across::outputs, there_w = std::min<index_t>(across::outputs, out_w - x);
        for (index_t oc = 0; oc < A.out_channels; oc += float_lanes)
          with_lanes<A.out_channels % float_lanes == 0>(A.out_channels - oc, [&](auto lanes) {
            winograd_outputs<down, across, product_plane>(
                r.products() + t * product_row + oc, bias == nullptr ? float_vec(0.0f) : float_vec::load(bias + oc),
                all);
#pragma GCC unroll 1
            for (index_t i = 0; i < there_h; ++i) {
#pragma GCC unroll 3
              for (index_t j = 0; j < across::outputs; ++j)
                if (j < there_w) epilogue(all[i][j], n, y + i, x + j, oc, lanes);
            }
          });
      }
    }
  }
};

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
