// SPDX-License-Identifier: MIT
// Convolution with three taps along one axis or two by Winograd's algorithm, channels last: a block of tiles, of 4 x 4
// outputs, say, is transformed, multiplied by the transformed weights in a product for each point (cpu/micro/gemm.hpp),
// and transformed back, all of which stays in the second cache. With 3 x 3 taps and steps of one, F(4x4, 3x3), a
// quarter of the multiply-adds of direct convolution.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <span>

#include "dnnkit/cpu/micro/gemm.hpp"
#include "dnnkit/cpu/micro/winograd_transform.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

// What is always known. Channel counts are those of the whole tensor; groups divide them.
struct winograd_attributes {
  index_t in_channels = 1, out_channels = 1, groups = 1;
  int taps_h = 3, taps_w = 3, stride_h = 1, stride_w = 1;  // of which there is a winograd_axis
  int taps_d = 1, stride_d = 1;                            // of planes, whose sums are added up
  int outputs = 4;                                         // of a tile, along each axis that has several taps
  int block = 1;                                           // so many tiles are multiplied at once, at the most
  int parts = 1;  // of the output channels, units of their own: where there are few blocks to share among workers
  int panel_vectors = 0;  // of a panel of weights; 0: as gemm_panel_vectors() says

  constexpr index_t group_in() const noexcept { return in_channels / groups; }
  constexpr index_t group_out() const noexcept { return out_channels / groups; }
  constexpr int outputs_of(int taps) const noexcept { return taps == 1 ? 1 : outputs; }
};

// Tiles cut evenly into blocks of at most Most: f(constant<rows of the products>, first tile, tiles). Known counts have
// blocks of at most two sizes; others have products of Most rows or half of them, of which the last are of no tile, or
// of a single one.
template <int Most, class Tiles> struct tile_blocks {
  using blocks = split<Most, Tiles>;
  static constexpr index_t largest = blocks::largest;
  constexpr explicit tile_blocks(Tiles) noexcept {}
  static constexpr index_t count() noexcept { return blocks::count(); }
  template <class F> [[gnu::always_inline]] static void visit(index_t b, F&& f) {
    blocks::visit(b, [&](auto rows, index_t first) { f(rows, first, index_t(rows)); });
  }
};
template <int Most> struct tile_blocks<Most, index_t> {
  static constexpr index_t largest = Most, half = (Most + 1) / 2;
  index_t tiles;
  constexpr explicit tile_blocks(index_t n) noexcept : tiles(n) {}
  constexpr index_t count() const noexcept { return ceil_div(tiles, Most); }
  template <class F> [[gnu::always_inline]] void visit(index_t b, F&& f) const {
    const index_t first = tiles * b / count(), n = tiles * (b + 1) / count() - first;
    if (n > half) f(constant<Most>{}, first, n);
    else if (n > 1) f(constant<half>{}, first, n);
    else f(constant<1>{}, first, n);
  }
};

// So many products are added up at the most before their sum is added to others, which rounds less: of 512 channels,
// the largest error in a dozen convolutions of random numbers was 3.3 millionths of the largest output with sums of
// 256, and 2.1 with those of 128, which take about 2 % longer.
inline constexpr int longest_winograd_sum = 128;

// Extents are constant<N> or index_t. Describes the convolution; holds no data. Strides are in floats.
//
// `input` of run() points at what the first tap of output pixel (0, 0) of image 0 reads, as that of conv_of
// (cpu/micro/conv.hpp): what windows see is read, and nothing else; what tiles need beyond is zero.
// The epilogue is called as epilogue(float_vec acc, n, y, x, oc, lanes), n being image * out_d + plane; or, where it
// has that, once a tile as epilogue.of_tile(float_vec (&all)[.][.], there_h, there_w, n, y, x, oc, lanes), y and x
// being those of the first output, of which only so many rows and columns are there.
template <winograd_attributes A, class Images = index_t, class Depth = index_t, class Height = index_t,
          class Width = index_t, class RowStride = index_t, class PixelStride = constant<A.in_channels>>
struct winograd {
  using element = float;
  using down = winograd_axis<A.taps_h, A.stride_h, A.outputs_of(A.taps_h)>;
  using across = winograd_axis<A.taps_w, A.stride_w, A.outputs_of(A.taps_w)>;
  static constexpr index_t taps = A.taps_h * A.taps_w;
  static constexpr int planes = down::points * across::points, weight_planes = down::weights * across::weights;

  static_assert(A.groups > 0 && A.in_channels % A.groups == 0 && A.out_channels % A.groups == 0,
                "winograd: groups must divide the input and the output channels");

  [[no_unique_address]] Height out_h{};
  [[no_unique_address]] Width out_w{};
  [[no_unique_address]] RowStride row_stride{};
  [[no_unique_address]] PixelStride pixel_stride{};
  [[no_unique_address]] Images images{};
  index_t image_stride = 0;
  [[no_unique_address]] Depth out_d{};
  index_t depth_stride = 0;
  // Of images whose extents are not known before: is each, along the axes of several taps, one element between zeros,
  // of which there is one output?
  bool is_one_element = false;

  // Sums over many channels are sums of sums over some of them.
  using sums = split<longest_winograd_sum, constant<A.group_in()>>;
  static constexpr index_t input_row = ceil_div(A.in_channels, float_lanes) * float_lanes;
  static constexpr int widest_panel = A.panel_vectors > 0 ? A.panel_vectors
                                                          : gemm_panel_vectors<constant<sums::largest>>();
  template <index_t Rows, index_t Channels>
  using product = gemm<constant<Rows>, constant<A.group_out()>, constant<Channels>, constant<input_row>, widest_panel>;
  using panel_layout = panels<widest_panel, constant<A.group_out()>>;

  // --- output channels: panels of all groups, of which each part has some
  static constexpr index_t panels_of_group = panel_layout::count(A.group_out());
  static constexpr index_t first_panel(index_t part) noexcept { return A.groups * panels_of_group * part / A.parts; }
  // Columns before panel p: as panels store them, and as the tensor has them.
  static constexpr index_t stored_columns(index_t p) noexcept {
    return p / panels_of_group * panel_layout::padded(A.group_out()) + column_in_group(p);
  }
  static constexpr index_t columns(index_t p) noexcept {
    return p / panels_of_group * A.group_out() + column_in_group(p);
  }

  static constexpr index_t packed_size() noexcept {
    return A.taps_d * weight_planes * A.group_in() * A.groups * panel_layout::padded(A.group_out());
  }
  static constexpr index_t bias_size() noexcept { return A.out_channels; }

  // weight: ONNX's OIHW or OIDHW, contiguous. Part by part, tap by tap along the depth, plane by plane, some channels
  // after the others, panels of these.
  static void pack(const float* weight, float* packed) {
    for (index_t part = 0; part < A.parts; ++part)
      for (index_t depth = 0; depth < A.taps_d; ++depth) {
        const index_t begin = first_panel(part), end = first_panel(part + 1);
        const index_t plane = A.group_in() * (stored_columns(end) - stored_columns(begin));
        float* const to = weights_of(packed, part, depth);
        for (index_t sum = 0; sum < sums::count(); ++sum)
          sums::visit(sum, [&](auto channels, index_t first) {
            for (index_t p = begin; p < end; ++p)
              pack_panel(weight + depth * taps, p, first, channels,
                         to + plane / A.group_in() * first + channels * (stored_columns(p) - stored_columns(begin)),
                         plane);
          });
      }
  }
  static void pack_bias(const float* bias, float* packed) { std::copy_n(bias, A.out_channels, packed); }

  // --- work: a unit is one part of the output channels of a block of tiles. Any partition of [0, units()) into ranges
  // may run in any order or at once. A range transforms the input of each of its blocks once; with several taps along
  // the depth, once for each of them and for each part.
  constexpr index_t units() const noexcept { return blocks().count() * A.parts; }

  // Floats of the room that run() needs, a range's own: transformed input and products.
  static constexpr index_t room() noexcept { return planes * (input_plane + product_plane); }

  // bias: bias_size() floats or null.
  template <class Epilogue>
  void run(const float* input, const float* packed, const float* bias, index_t first, index_t last, Epilogue&& epilogue,
           float* room) const {
    if constexpr (may_be_small) {
      if (is_one_element)
        return run_by<axis_of_one<down>, axis_of_one<across>>(input, packed, bias, first, last, epilogue, room);
      if ((A.taps_h == 1 || out_h <= 2) && (A.taps_w == 1 || out_w <= 2))
        return run_by<axis_of_two<down>, axis_of_two<across>>(input, packed, bias, first, last, epilogue, room);
    }
    run_by<down, across>(input, packed, bias, first, last, epilogue, room);
  }

 private:
  // Tiles that are no wider than two, or one: the same tiles by fewer points.
  static constexpr bool may_be_small = (A.taps_h == 1 || value_or<Height>(1) <= 2) &&
                                       (A.taps_w == 1 || value_or<Width>(1) <= 2) &&
                                       (!is_constant<Height> || !is_constant<Width>);
  // Down, Across: winograd_axis or others by its weights.
  template <class Down, class Across, class Epilogue>
  void run_by(const float* input, const float* packed, const float* bias, index_t first, index_t last,
              Epilogue& epilogue, float* room) const {
    float* const v = room;
    float* const m = room + planes * input_plane;
    for (index_t u = first; u < last;) {
      const index_t b = u / A.parts, end = std::min(last, (b + 1) * A.parts);
      blocks().visit(b, [&](auto rows, index_t tile, index_t tiles) {
        for (index_t part = u % A.parts; part < end - b * A.parts; ++part) {
          for (index_t depth = 0; depth < A.taps_d; ++depth) {
            if (A.taps_d > 1 || part == u % A.parts)
              transform_input<Down, Across>(input + depth * depth_stride, tile, tiles, rows, v);
            multiply<static_cast<index_t>(decltype(rows)::value)>(v, packed, part, depth,
                                                                  weights_of_points<Down, Across>, m);
          }
          transform_output<Down, Across>(m, bias, tile, tiles, part, epilogue);
        }
      });
      u = end;
    }
  }
  // The weights that a point's products are with, by the point.
  template <class Down, class Across>
  static constexpr auto weights_of_points = [] {
    std::array<index_t, static_cast<std::size_t>(Down::points * Across::points)> weights{};
    for (std::size_t k = 0; k < weights.size(); ++k) {
      const auto point = static_cast<int>(k);
      weights[k] =
          Down::weight_of(point / Across::points) * across::weights + Across::weight_of(point % Across::points);
    }
    return weights;
  }();

  // Planes do not begin in one set of the first cache.
  static constexpr index_t apart = 48;

  static constexpr bool are_tiles_known =
      is_constant<Images> && is_constant<Depth> && is_constant<Height> && is_constant<Width>;
  using tile_count = std::conditional_t<
      are_tiles_known,
      constant<value_or<Images>(0) * value_or<Depth>(0) * ceil_div(value_or<Height>(0), down::outputs) *
               ceil_div(value_or<Width>(0), across::outputs)>,
      index_t>;
  using block_layout = tile_blocks<A.block, tile_count>;
  constexpr index_t tiles_across() const noexcept { return ceil_div(out_w, across::outputs); }
  constexpr index_t tiles_down() const noexcept { return ceil_div(out_h, down::outputs); }
  constexpr block_layout blocks() const noexcept {
    if constexpr (are_tiles_known) return block_layout(tile_count{});
    else return block_layout(images * out_d * tiles_down() * tiles_across());
  }

  static constexpr index_t input_plane = block_layout::largest * input_row + apart;
  static constexpr index_t product_row = [] {
    index_t most = 0;
    for (index_t p = 0; p < A.parts; ++p) most = std::max(most, columns(first_panel(p + 1)) - columns(first_panel(p)));
    return ceil_div(most, float_lanes) * float_lanes;
  }();
  static constexpr index_t product_plane = block_layout::largest * product_row + apart;

  static constexpr index_t column_in_group(index_t p) noexcept {
    index_t at = 0;
    panel_layout::visit(p % panels_of_group, [&](auto, index_t column) { at = column; });
    return at;
  }

  // Where a tile lies.
  struct tile_place {
    index_t image, y, x;  // of its first output
  };
  constexpr tile_place place_of(index_t tile) const noexcept {
    const index_t column = tile % tiles_across(), row = tile / tiles_across();
    return {row / tiles_down(), row % tiles_down() * down::outputs, column * across::outputs};
  }

  // Some channels of panel p at all points, planes `plane` floats apart.
  static void pack_panel(const float* weight, index_t p, index_t first, index_t channels, float* to, index_t plane) {
    panel_layout::visit(p % panels_of_group, [&](auto vectors, index_t column) {
      constexpr index_t width = decltype(vectors)::value * float_lanes;
      const index_t group = p / panels_of_group, there = std::min(width, A.group_out() - column);
      const float* const from = weight + (group * A.group_out() + column) * A.group_in() * A.taps_d * taps;
      for (index_t c = 0; c < channels; ++c) {
        double filters[taps][width]{};
        for (index_t n = 0; n < there; ++n)
          for (index_t t = 0; t < taps; ++t) filters[t][n] = from[(n * A.group_in() + first + c) * A.taps_d * taps + t];
        winograd_filters<down, across>(filters, to + c * width, plane);
      }
    });
  }

  // --- the input's tiles at all points
  template <class Down, class Across>
  [[gnu::noinline]] void transform_input(const float* input, index_t tile, index_t tiles, index_t rows,
                                         float* v) const {
    for (index_t t = 0; t < tiles; ++t) {
      const tile_place at = place_of(tile + t);
      const float* const from = input + at.image / out_d * image_stride + at.image % out_d * A.stride_d * depth_stride +
                                at.y * A.stride_h * row_stride + at.x * A.stride_w * pixel_stride;
      const index_t there_h = (out_h - 1 - at.y) * A.stride_h + A.taps_h,
                    there_w = (out_w - 1 - at.x) * A.stride_w + A.taps_w;
      float* const to = v + t * input_row;
      if (there_h >= Down::inputs && there_w >= Across::inputs) transform_tile<Down, Across>(from, to);
      else transform_cut_tile<Down, Across>(from, there_h, there_w, to);
    }
    for (index_t k = 0; tiles < rows && k < Down::points * Across::points; ++k)
      std::fill(v + k * input_plane + tiles * input_row, v + k * input_plane + rows * input_row, 0.0f);
  }
  template <class Down, class Across>
  [[gnu::always_inline]] static void at_points(const float* from, auto row, auto pixel, float* to, auto lanes) {
    winograd_input<Down, Across, input_plane>(
        [&](int i, int j) __attribute__((always_inline)) { return float_vec::load(from + i * row + j * pixel, lanes); },
        to);
  }
  template <class Down, class Across> [[gnu::always_inline]] void transform_tile(const float* from, float* to) const {
    for (index_t c = 0; c + float_lanes <= A.in_channels; c += float_lanes)
      at_points<Down, Across>(from + c, row_stride, pixel_stride, to + c, constant<float_lanes>{});
    if constexpr (constexpr index_t rest = A.in_channels % float_lanes; rest != 0) {
      constexpr index_t c = A.in_channels - rest;
      at_points<Down, Across>(from + c, row_stride, pixel_stride, to + c, rest);
    }
  }
  // Of a tile at the right or lower end, of whose input so many rows and columns are there.
  template <class Down, class Across>
  [[gnu::noinline]] void transform_cut_tile(const float* from, index_t there_h, index_t there_w, float* to) const {
    for (index_t c = 0; c < A.in_channels; c += float_lanes) {
      const index_t lanes = std::min<index_t>(float_lanes, A.in_channels - c);
      alignas(64) float whole[Down::inputs * Across::inputs * float_lanes];
      for (index_t i = 0; i < Down::inputs; ++i)
        for (index_t j = 0; j < Across::inputs; ++j) {
          float_vec d(0.0f);
          if (i < there_h && j < there_w) d = float_vec::load(from + i * row_stride + j * pixel_stride + c, lanes);
          d.store(whole + (i * Across::inputs + j) * float_lanes);
        }
      at_points<Down, Across>(whole, constant<Across::inputs * float_lanes>{}, constant<float_lanes>{}, to + c,
                              constant<float_lanes>{});
    }
  }

  // --- products at all points
  // The weights of a part and a tap along the depth.
  static auto weights_of(auto* packed, index_t part, index_t depth) noexcept {
    const index_t begin = stored_columns(first_panel(part)), end = stored_columns(first_panel(part + 1));
    return packed + weight_planes * A.group_in() * (A.taps_d * begin + depth * (end - begin));
  }
  template <index_t Rows>
  static void multiply(const float* v, const float* packed, index_t part, index_t depth,
                       std::span<const index_t> weights_of_point, float* m) {
    const index_t begin = first_panel(part), end = first_panel(part + 1);
    const index_t plane = A.group_in() * (stored_columns(end) - stored_columns(begin));
    const float* const weights = weights_of(packed, part, depth);
    for (index_t k = 0; k < std::ssize(weights_of_point); ++k) {
      const index_t weight = weights_of_point[static_cast<std::size_t>(k)];
      for (index_t p = begin; p < end;) {
        const index_t group = p / panels_of_group, last = std::min(end, (group + 1) * panels_of_group);
        const index_t in_group = p - group * panels_of_group;
        for (index_t sum = 0; sum < sums::count(); ++sum)
          sums::visit(sum, [&](auto channels, index_t first) {
            constexpr product<Rows, static_cast<index_t>(decltype(channels)::value)> some{};
            constexpr index_t cuts = some.units() / panels_of_group;  // that the product makes of the block's rows
            const bool adds = first > 0 || depth > 0;
            // where the first panel of the group would be
            const float* const b = weights + weight * plane + plane / A.group_in() * first +
                                   channels * (stored_columns(p) - stored_columns(begin) - column_in_group(p));
            float* const to = m + k * product_plane + group * A.group_out() - columns(begin);
            for (index_t unit = in_group; unit < cuts * panels_of_group; unit += panels_of_group)
              some.run(
                  v + k * input_plane + group * A.group_in() + first, b, nullptr, unit, unit + last - p,
                  [to, adds](float_vec acc, index_t row, index_t column, auto lanes) {
                    float* const at = to + row * product_row + column;
                    if (A.taps_d * sums::count() > 1 && adds) acc = acc + float_vec::load(at, lanes);
                    acc.store(at, lanes);
                  },
                  nullptr, weights + weight_planes * plane);
          });
        p = last;
      }
    }
  }

  // --- and the outputs of them
  template <class Down, class Across, class Epilogue>
  [[gnu::noinline]] void transform_output(const float* m, const float* bias, index_t tile, index_t tiles, index_t part,
                                          Epilogue& epilogue) const {
    const index_t begin = columns(first_panel(part)), end = columns(first_panel(part + 1));
    for (index_t t = 0; t < tiles; ++t) {
      const tile_place at = place_of(tile + t);
      const index_t there_h = std::min<index_t>(Down::outputs, out_h - at.y),
                    there_w = std::min<index_t>(Across::outputs, out_w - at.x);
      const float* const from = m + t * product_row;
      const auto finish = [&](index_t oc, auto lanes) __attribute__((always_inline)) {
        float_vec all[down::outputs][across::outputs];
        winograd_outputs<Down, Across, product_plane>(
            from + (oc - begin), bias == nullptr ? float_vec(0.0f) : float_vec::load(bias + oc, lanes), all);
        if constexpr (requires { epilogue.of_tile(all, there_h, there_w, at.image, at.y, at.x, oc, lanes); }) {
          epilogue.of_tile(all, there_h, there_w, at.image, at.y, at.x, oc, lanes);
        } else {
#pragma GCC unroll 1
          for (index_t i = 0; i < there_h; ++i) {
#pragma GCC unroll 6
            for (index_t j = 0; j < Across::outputs; ++j)
              if (j < there_w) epilogue(all[i][j], at.image, at.y + i, at.x + j, oc, lanes);
          }
        }
      };
      index_t oc = begin;
      for (; oc + float_lanes <= end; oc += float_lanes) finish(oc, constant<float_lanes>{});
      if constexpr (A.group_out() % float_lanes != 0)
        if (oc < end) finish(oc, end - oc);
    }
  }
};

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
