// SPDX-License-Identifier: MIT
// The kernel of a group around a convolution with three taps along one axis or two, in steps of one or two, and any
// window along a third, by Winograd's algorithm (cpu/micro/winograd.hpp), channels last. Weights are transformed when
// they are packed, and take four times as much memory as for direct convolution; along one axis, twice as much.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "dnnkit/cost/accuracy.hpp"
#include "dnnkit/cpu/families/conv_nhwc.hpp"
#include "dnnkit/cpu/micro/winograd.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

// What the family asks about a convolution, and what it costs by blocks of tiles.
class winograd_spec : public convolution_spec {
 public:
  // The largest error against sums in double precision, as a part of the largest output (tests/cpu/micro/winograd.cpp).
  static constexpr accuracy error{3e-6};

  constexpr explicit winograd_spec(const kernel_spec& spec) : convolution_spec(spec) {}

  // Why its kernels do not carry it out; empty when they do. `in_tiles`: what it hands over is wanted tile by tile of
  // this kernel's.
  constexpr std::string_view unfit_for_tiles(accuracy allowed, bool in_tiles = false) const {
    if (!down().is_there() || !across().is_there() || taps(rows()) * taps(2) == 1)
      return "the window has not three taps along one axis or two, or moves in larger steps than two";
    if (dilation(0) != 1 || dilation(1) != 1 || dilation(2) != 1) return "the window has holes";
    if (is_depthwise()) return "each channel has a filter of its own: there are no products";
    if (allowed.billionths < error.billionths) return "its error may be larger than the accuracy that is asked for";
    if (const std::string_view why = unfit({}); !why.empty()) return why;
    if (anchor_type() != dtype::f32) return "the elements are not 32-bit floats";
    if ((runs_on_rows() && !in_tiles) || stored.reach.count != 0) return "its tiles are not rows of an image";
    return stored_channels_last() ? std::string_view() : unfit_for_staging();
  }
  // The axis that tiles lie along besides width: depth, where the window has one row of taps in each plane.
  constexpr std::size_t rows() const { return axes == 3 && taps(0) > 1 && taps(1) == 1 ? 0 : 1; }
  // Are they of 4 x 4 outputs of an image?
  constexpr bool has_square_tiles() const { return rows() == 1 && down().outputs == 4 && across().outputs == 4; }

  // Tiles that are multiplied at once, at the most; parts of the output channels that are units of their own.
  struct division {
    std::int32_t block = 1, parts = 1;
  };
  // The choice with the division that is expected to take least time: of about equals that of the fewest tiles.
  constexpr kernel_choice best_choice(const cpu_facts& facts) const {
    constexpr double clearly = 0.98;
    constexpr std::int32_t most_tiles = 64;
    const std::int32_t rows = plan::tile_rows(facts, width(facts));
    kernel_choice best = choice_of(facts, {rows, parts_of(facts, rows)});
    for (std::int32_t block = 2 * rows; block <= 4 * rows && block <= most_tiles; block += rows)
      if (const kernel_choice c = choice_of(facts, {block, parts_of(facts, block)});
          c.cost.cycles < clearly * best.cost.cycles)
        best = c;
    return best;
  }
  // The same of a kernel that does more than that: its division is none of this one's business.
  constexpr kernel_choice best_choice_with(const cpu_facts& facts, const kernel_work& more) const {
    const kernel_choice best = best_choice(facts);
    return choice_of(facts, {best.parameters[1], best.parameters[2]}, more);
  }

 private:
  constexpr winograd_counts down() const { return winograd_counts_of(taps(rows()), stride(rows())); }
  constexpr winograd_counts across() const { return winograd_counts_of(taps(2), stride(2)); }
  // Vector operations on a point of a tile and a vector of channels, loads and stores included: counted at 6 x 6.
  static constexpr double of_input = 240.0 / 36, of_output = 170.0 / 36;

  constexpr kernel_choice choice_of(const cpu_facts& facts, division d, kernel_work more = {}) const {
    const even_pieces blocks = cut(tiles(), static_cast<double>(d.block));
    const double points = down().points * across().points, weights = down().weights * across().weights;
    const auto groups = static_cast<double>(convolution.group), in = static_cast<double>(in_channels()),
               out = static_cast<double>(out_channels());
    const auto depth = static_cast<double>(taps(1 - rows()));
    const double sums = cut(in / groups, longest_winograd_sum).count,
                 times = blocks.count * points * groups * sums * depth;
    const tiled_cycles products = cycles_of(facts,
                                            {.rows = blocks.size,
                                             .vectors = vectors_of(facts, out / groups),
                                             .depth = in / groups / sums,
                                             .rows_collide = rows_collide(facts, static_cast<std::int64_t>(in) * 4)},
                                            width(facts));
    const double transforms =
        tiles() * points *
        (vectors_of(facts, in) * of_input * (depth > 1 ? depth * d.parts : 1) + vectors_of(facts, out) * of_output);
    const tiled_cycles all{times * products.arithmetic + transforms / facts.multiply_adds,
                           times * products.starts + blocks.count * facts.costs.phase};
    // The weights at all points come from memory once, and from where they are then for each further block.
    const double at_taps = 4 * elements_of(1),
                 at_points = at_taps * weights / static_cast<double>(taps(rows()) * taps(2));
    const double room = 4 * points * static_cast<double>(d.block) * (in + out / static_cast<double>(d.parts));
    more.traffic.add_read(memory_level::memory, at_points - at_taps);
    more.traffic.add_read(level_of(facts, room + at_points), (blocks.count - 1) * at_points * facts.costs.weights);
    // What a block hands from one phase to the next; in the second cache, transforms take as long as was counted.
    if (const memory_level level = level_of(facts, room); level > memory_level::l2) {
      const double bytes = 4 * points * tiles() * (in + out);
      more.traffic.add_written(level, bytes);
      more.traffic.add_read(level, bytes);
    }
    kernel_choice c = choice(facts, 1, all, !stored_channels_last(), reason(), more);
    c.parameters = {0, d.block, d.parts};
    return c;
  }

  constexpr int width(const cpu_facts& facts) const {
    const index_t in = in_channels() / convolution.group;
    return gemm_panel_vectors(facts, ceil_div(in, ceil_div(in, longest_winograd_sum)));
  }
  constexpr std::string_view reason() const {
    if (stride(rows()) * stride(2) != 1)
      return "Winograd's algorithm by blocks of tiles, over every other element: three quarters of the multiply-adds "
             "along an axis, with an error of up to 3e-6";
    return taps(rows()) * taps(2) == 3
               ? "F(4, 3) by blocks of tiles: half of the multiply-adds, with an error of up to 3e-6"
               : "F(4x4, 3x3) by blocks of tiles: a quarter of the multiply-adds, with an error of up to 3e-6";
  }
  static constexpr double tiles_along(local_extent e, int outputs) {
    return static_cast<double>(ceil_div(static_cast<index_t>(known_or_typical(e)), outputs));
  }
  constexpr double tiles() const {
    return static_cast<double>(known_or_typical(space(0)) * known_or_typical(out_extent(1 - rows()))) *
           tiles_along(out_extent(rows()), down().outputs) * tiles_along(out_extent(2), across().outputs);
  }
  // So many that there is work for some workers, each with a panel at least.
  constexpr std::int32_t parts_of(const cpu_facts& facts, std::int32_t block) const {
    constexpr std::int32_t pieces = 16;
    const auto blocks = static_cast<std::int32_t>(cut(tiles(), block).count);
    const auto groups = static_cast<double>(convolution.group);
    const double panels =
        groups * cut(vectors_of(facts, static_cast<double>(out_channels()) / groups), width(facts)).count;
    return std::clamp((pieces + blocks - 1) / blocks, 1, static_cast<std::int32_t>(panels));
  }
};

// Parameters of its choices: 0, as where images of conv_nhwc have a border; tiles of a block; parts of the output
// channels.
template <class Net, std::size_t R> struct winograd_kernel;
template <accuracy Allowed> struct conv_winograd_within {
  static constexpr std::string_view name = "conv_winograd";
  static constexpr bool carries_out(const operator_tag& anchor) { return anchor.id == id_of<op::conv>; }

  static constexpr kernel_match match(const kernel_spec& recipe, const cpu_facts& facts) {
    const winograd_spec spec(recipe);
    if (const std::string_view why = spec.unfit_for_tiles(Allowed); !why.empty()) return no_match{why};
    return spec.best_choice(facts);
  }

  template <class Net, std::size_t R> using kernel = winograd_kernel<Net, R>;
  template <accuracy Other> using within = conv_winograd_within<Other>;
};
using conv_winograd = conv_winograd_within<accuracy{}>;

// Images and planes, as constants where they are known; whether rows lie along the depth; how the work is divided.
template <class Images, class Planes, bool Deep, int Block, int Parts> struct winograd_convolution {
  static constexpr bool is_deep = Deep;
  static constexpr winograd_attributes attributes_of(const conv_attributes& a) {
    return {.in_channels = a.in_channels,
            .out_channels = a.out_channels,
            .groups = a.groups,
            .taps_h = static_cast<int>(Deep ? a.kernel_d : a.kernel_h),
            .taps_w = static_cast<int>(a.kernel_w),
            .stride_h = static_cast<int>(Deep ? a.stride_d : a.stride_h),
            .stride_w = static_cast<int>(a.stride_w),
            .taps_d = static_cast<int>(Deep ? a.kernel_h : a.kernel_d),
            .stride_d = static_cast<int>(Deep ? a.stride_h : a.stride_d),
            .block = Block,
            .parts = Parts};
  }
  template <conv_attributes A, class, class... Extents>
  using of = winograd<attributes_of(A), Images, Planes, Extents...>;
};
template <class Net, std::size_t R> struct engine_of_winograd {
  using facts = convolution_kernel<Net, R>;
  static constexpr std::size_t rows = winograd_spec(facts::access::spec).rows();
  static constexpr local_extent images = facts::in_dim(0), planes = facts::out_extent(1 - rows);
  template <bool Known, index_t Extent> using extent = std::conditional_t<Known, constant<Extent>, index_t>;
  using type = winograd_convolution<extent<images.is_known(), images.is_known() ? images.value() : 0>,
                                    extent<planes.is_known(), planes.is_known() ? planes.value() : 0>, rows == 0,
                                    facts::access::choice.parameters[1], facts::access::choice.parameters[2]>;
};
template <class Net, std::size_t R>
struct winograd_kernel : channels_last_kernel<Net, R, typename engine_of_winograd<Net, R>::type> {};

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
