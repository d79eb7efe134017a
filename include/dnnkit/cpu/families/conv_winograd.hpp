// SPDX-License-Identifier: MIT
// The kernel of a group around a convolution with three taps along one axis or two, in steps of one or two, and any
// window along a third, by Winograd's algorithm (cpu/micro/winograd.hpp), channels last. Weights are transformed when
// they are packed, and take 16/9, 4 or 64/9 times as much memory as for direct convolution in tiles of 2, 4 and 6
// outputs along both axes; along one axis 4/3, 2 or 8/3 times as much. Of images that turn out to be one element or two
// along both axes, those of some points alone are read.
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

// What the family asks about a convolution, and what it costs by tiles and blocks of them.
class winograd_spec : public convolution_spec {
 public:
  constexpr explicit winograd_spec(const kernel_spec& spec, accuracy allowed = {})
      : convolution_spec(spec), allowed_(allowed) {}

  // Why its kernels do not carry it out; empty when they do. `in_tiles`: what it hands over is wanted tile by tile of
  // this kernel's.
  constexpr std::string_view unfit_for_tiles(bool in_tiles = false) const {
    if (!down(4).is_there() || !across(4).is_there() || taps(rows()) * taps(2) == 1)
      return "the window has not three taps along one axis or two, or moves in larger steps than two";
    if (dilation(0) != 1 || dilation(1) != 1 || dilation(2) != 1) return "the window has holes";
    if (is_depthwise()) return "each channel has a filter of its own: there are no products";
    if (!is_allowed(2)) return "its error may be larger than the accuracy that is asked for";
    if (const std::string_view why = unfit({}); !why.empty()) return why;
    if (anchor_type() != dtype::f32) return "the elements are not 32-bit floats";
    if ((runs_on_rows() && !in_tiles) || stored.reach.count != 0) return "its tiles are not rows of an image";
    return stored_channels_last() ? std::string_view() : unfit_for_staging();
  }
  // The axis that tiles lie along besides width: depth, where the window has one row of taps in each plane.
  constexpr std::size_t rows() const { return axes == 3 && taps(0) > 1 && taps(1) == 1 ? 0 : 1; }
  // Have they as many rows of an image as columns?
  constexpr bool has_square_tiles() const { return rows() == 1 && taps(1) > 1 && taps(2) > 1; }

  // The choice with the tiles, and the division of them, that are expected to take least time.
  constexpr kernel_choice best_choice(const cpu_facts& facts) const { return choice_of(facts, best(facts)); }
  // The same of a kernel that does more than that: its tiles are none of this one's business.
  constexpr kernel_choice best_choice_with(const cpu_facts& facts, const kernel_work& more) const {
    return choice_of(facts, best(facts), more);
  }

 private:
  accuracy allowed_;

  static constexpr std::int32_t most_block = 256;

  // Outputs of a tile, along each axis that has several taps; tiles that are multiplied at once, at the most; parts of
  // the output channels that are units of their own.
  struct tiling {
    std::int32_t outputs = 4, block = 1, parts = 1;
  };
  // Of about equals that of the smallest tiles, and the fewest of them at once. More weights, as larger tiles have, are
  // to save time: each of their bytes so many cycles of a run, fewer where it is a smaller part of all that the network
  // has. To pack it takes a session 1.6 cycles (vgg16: 0.45 ns), and more where the system has to find the memory.
  constexpr tiling best(const cpu_facts& facts) const {
    constexpr double clearly = 0.98, much = 32e6;
    const double of_a_byte = 0.4 * (network_weights() > much ? much / network_weights() : 1);
    constexpr std::int32_t most_tiles = 64;
    const std::int32_t rows = plan::tile_rows(facts, width(facts));
    tiling best{};
    double least = 0;
    const kernel_genes asked = genes();
    const bool is_block_asked = asked.block > 0 && asked.block <= most_block,
               are_outputs_asked =
                   asked.outputs > 0 && asked.outputs <= 6 && asked.outputs % 2 == 0 && is_allowed(asked.outputs);
    const std::int32_t first = is_block_asked ? asked.block : rows, last = is_block_asked ? asked.block : 4 * rows;
    for (std::int32_t outputs = 2; outputs <= 6 && is_allowed(outputs); outputs += 2)
      for (std::int32_t block = first; block <= last && (block == first || block <= most_tiles); block += rows) {
        if (are_outputs_asked && outputs != asked.outputs) continue;
        const tiling t{outputs, block, parts_of(facts, outputs, block)};
        const double cycles = choice_of(facts, t).cost.cycles + of_a_byte * bytes_at_points(outputs);
        if (least != 0 && cycles >= clearly * least) continue;
        best = t;
        least = cycles;
      }
    return best;
  }

  constexpr winograd_counts down(int outputs) const {
    return winograd_counts_of(taps(rows()), stride(rows()), outputs);
  }
  constexpr winograd_counts across(int outputs) const { return winograd_counts_of(taps(2), stride(2), outputs); }
  // The largest error against sums in double precision is at most what is allowed (tests/cpu/micro/winograd.cpp).
  constexpr bool is_allowed(int outputs) const {
    const bool along_both = taps(rows()) > 1 && taps(2) > 1;
    return largest_winograd_error(outputs, along_both).billionths <= allowed_.billionths;
  }

  // Of the weights.
  constexpr double bytes_at_points(int outputs) const {
    const double weights = down(outputs).weights * across(outputs).weights;
    return 4 * elements_of(1) * weights / static_cast<double>(taps(rows()) * taps(2));
  }

  constexpr kernel_choice choice_of(const cpu_facts& facts, tiling d, kernel_work more = {}) const {
    const winograd_counts h = down(d.outputs), w = across(d.outputs);
    const double tiles = tiles_of(d.outputs);
    const even_pieces blocks = cut(tiles, static_cast<double>(d.block));
    const double points = h.points * w.points;
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
    // Vector operations on a tile, loads and stores included.
    const double of_input =
                     h.input_operations * w.inputs + h.points * w.input_operations + h.inputs * w.inputs + points,
                 of_output = points + h.output_operations * w.points + h.outputs * (w.output_operations + w.outputs);
    const double transforms = tiles * (vectors_of(facts, in) * of_input * (depth > 1 ? depth * d.parts : 1) +
                                       vectors_of(facts, out) * of_output);
    const tiled_cycles all{times * products.arithmetic + transforms / facts.multiply_adds,
                           times * products.starts + blocks.count * facts.costs.phase};
    // The weights at all points come from memory once, fetched ahead beside products, which hide more of that than of
    // other reads; and from where they are then for each further block. Measured at 14 x 14 outputs: F(4x4, 3x3) takes
    // 0.82 of F(2x2, 3x3) with 512 channels, 0.8 to 1.4 of it with 256, by what else reads memory.
    constexpr double not_hidden = 0.2;
    const double at_taps = 4 * elements_of(1), at_points = bytes_at_points(d.outputs);
    const double room = 4 * points * static_cast<double>(d.block) * (in + out / static_cast<double>(d.parts));
    const double more_weights = at_points - at_taps,
                 beside = std::min(more_weights, times * products.arithmetic * facts.memory_width);
    more.traffic.add_read(memory_level::memory, more_weights - (1 - not_hidden) * beside);
    more.traffic.add_read(level_of(facts, room + at_points), (blocks.count - 1) * at_points * facts.costs.weights);
    // What a block hands from one phase to the next; in the second cache, transforms take as long as was counted.
    if (const memory_level level = level_of(facts, room); level > memory_level::l2) {
      const double bytes = 4 * points * tiles * (in + out);
      more.traffic.add_written(level, bytes);
      more.traffic.add_read(level, bytes);
    }
    kernel_choice c = choice(facts, 1, all, !stored_channels_last(), reason(d.outputs), more);
    c.parameters = {0, d.outputs, d.block, d.parts, width(facts)};
    const auto vectors = static_cast<index_t>(vectors_of(facts, out / groups));
    c.genes = {.vectors = static_cast<std::int32_t>(plan::largest_piece(vectors, width(facts))),
               .block = d.block,
               .outputs = d.outputs};
    if (are_tiles_known())
      c.genes.block = static_cast<std::int32_t>(plan::largest_piece(static_cast<index_t>(tiles), d.block));
    return c;
  }

  constexpr int width(const cpu_facts& facts) const {
    if (const int asked = genes().vectors; asked > 0 && asked <= plan::tile_vectors(facts)) return asked;
    const index_t in = in_channels() / convolution.group;
    return gemm_panel_vectors(facts, ceil_div(in, ceil_div(in, longest_winograd_sum)));
  }
  constexpr std::string_view reason(int outputs) const {
    if (stride(rows()) * stride(2) != 1)
      return outputs == 2   ? "Winograd's algorithm over every other element, by blocks of tiles of 2 outputs along an "
                              "axis: five sixths of the multiply-adds along an axis"
             : outputs == 4 ? "Winograd's algorithm over every other element, by blocks of tiles of 4 outputs along an "
                              "axis: three quarters of the multiply-adds along an axis"
                            : "Winograd's algorithm over every other element, by blocks of tiles of 6 outputs along an "
                              "axis: 13 of 18 multiply-adds along an axis";
    if (taps(rows()) * taps(2) == 3)
      return outputs == 2   ? "F(2, 3) by blocks of tiles: two thirds of the multiply-adds"
             : outputs == 4 ? "F(4, 3) by blocks of tiles: half of the multiply-adds"
                            : "F(6, 3) by blocks of tiles: four ninths of the multiply-adds";
    return outputs == 2   ? "F(2x2, 3x3) by blocks of tiles: four ninths of the multiply-adds"
           : outputs == 4 ? "F(4x4, 3x3) by blocks of tiles: a quarter of the multiply-adds"
                          : "F(6x6, 3x3) by blocks of tiles: 16 of 81 multiply-adds";
  }
  static constexpr double tiles_along(local_extent e, int outputs) {
    return static_cast<double>(ceil_div(static_cast<index_t>(known_or_typical(e)), outputs));
  }
  constexpr double tiles_of(int outputs) const {
    return static_cast<double>(known_or_typical(space(0)) * known_or_typical(out_extent(1 - rows()))) *
           tiles_along(out_extent(rows()), down(outputs).outputs) * tiles_along(out_extent(2), across(outputs).outputs);
  }
  constexpr bool are_tiles_known() const {
    return space(0).is_known() && out_extent(0).is_known() && out_extent(1).is_known() && out_extent(2).is_known();
  }
  // So many that there is work for some workers, each with a panel at least.
  constexpr std::int32_t parts_of(const cpu_facts& facts, int outputs, std::int32_t block) const {
    constexpr std::int32_t pieces = 16;
    const auto blocks = static_cast<std::int32_t>(cut(tiles_of(outputs), block).count);
    const auto groups = static_cast<double>(convolution.group);
    const double panels =
        groups * cut(vectors_of(facts, static_cast<double>(out_channels()) / groups), width(facts)).count;
    return std::clamp((pieces + blocks - 1) / blocks, 1, static_cast<std::int32_t>(panels));
  }
};

// Along an axis.
constexpr std::int32_t outputs_of_tile(const kernel_choice& winograd) { return winograd.parameters[1]; }

// Parameters of its choices: 0, as where images of conv_nhwc have a border; outputs of a tile along an axis; tiles of a
// block; parts of the output channels; vectors of a panel.
template <class Net, std::size_t R> struct winograd_kernel;
template <accuracy Allowed> struct conv_winograd_within {
  static constexpr std::string_view name = "conv_winograd";
  static constexpr bool carries_out(const operator_tag& anchor) { return anchor.id == id_of<op::conv>; }

  static constexpr kernel_match match(const kernel_spec& recipe, const cpu_facts& facts) {
    const winograd_spec spec(recipe, Allowed);
    if (const std::string_view why = spec.unfit_for_tiles(); !why.empty()) return no_match{why};
    return spec.best_choice(facts);
  }

  template <class Net, std::size_t R> using kernel = winograd_kernel<Net, R>;
  template <accuracy Other> using within = conv_winograd_within<Other>;
};
using conv_winograd = conv_winograd_within<accuracy{}>;

// Images and planes, as constants where they are known; whether rows lie along the depth; tiles, and how the work is
// divided.
template <class Images, class Planes, bool Deep, int Outputs, int Block, int Parts, int Vectors>
struct winograd_convolution {
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
            .outputs = Outputs,
            .block = Block,
            .parts = Parts,
            .panel_vectors = Vectors};
  }
  template <conv_attributes A, class, class... Extents>
  using of = winograd<attributes_of(A), Images, Planes, Extents...>;
};
template <class Net, std::size_t R> struct engine_of_winograd {
  using facts = convolution_kernel<Net, R>;
  static constexpr auto parameters = facts::access::choice.parameters;
  static constexpr std::size_t rows = winograd_spec(facts::access::spec).rows();
  static constexpr local_extent images = facts::in_dim(0), planes = facts::out_extent(1 - rows);
  template <bool Known, index_t Extent> using extent = std::conditional_t<Known, constant<Extent>, index_t>;
  using type = winograd_convolution<extent<images.is_known(), images.is_known() ? images.value() : 0>,
                                    extent<planes.is_known(), planes.is_known() ? planes.value() : 0>, rows == 0,
                                    parameters[1], parameters[2], parameters[3], parameters[4]>;
};
template <class Net, std::size_t R>
struct winograd_kernel : channels_last_kernel<Net, R, typename engine_of_winograd<Net, R>::type> {};

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
