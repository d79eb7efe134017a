// SPDX-License-Identifier: MIT
// The kernel of a group around a convolution with more than three taps along an axis, in steps of one, by Winograd's
// algorithm over segments of the window (cpu/micro/wide_winograd.hpp): vectors are of output channels or, where these
// are few, run along rows of tiles. Its input is channels last, or brought into that form, prologue included, some
// pixels of a row at a time, when these are transformed. Weights are transformed when they are packed, and take
// six times as much memory as for direct convolution with 5 x 5 taps, 7.7 with 7 x 7, 4.6 with 9 x 9: rows of segments
// occur in the order in which a ring has them, whatever comes first, of which a row of tiles reads 4, 4.6 and 2.8.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "dnnkit/cost/accuracy.hpp"
#include "dnnkit/cpu/families/conv_nhwc.hpp"
#include "dnnkit/cpu/micro/wide_winograd.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

class wide_winograd_spec : public convolution_spec {
 public:
  constexpr explicit wide_winograd_spec(const kernel_spec& spec) : convolution_spec(spec) {}

  // Why the kernels do not carry it out; empty when they do.
  constexpr std::string_view unfit_for_segments(accuracy allowed) const {
    if (taps(1) <= 3 && taps(2) <= 3) return "the window has at most three taps along an axis";
    if (taps(0) != 1 || in_extent(0) != 1) return "a window over depth, too";
    if (stride(1) != 1 || stride(2) != 1) return "the window moves in steps: its segments read no common tiles";
    if (dilation(1) != 1 || dilation(2) != 1) return "the window has holes";
    if (convolution.group != 1) return "the channels are in groups";
    if (in_channels() * ceil_div(taps(2), index_t(3)) > longest_row_of_segments)
      return "there are so many input channels that sums round too often";
    const accuracy error = largest_wide_winograd_error(taps(1) > 1 && taps(2) > 1);
    if (error.billionths > allowed.billionths) return "its error may be larger than the accuracy that is asked for";
    if (const std::string_view why = unfit({}); !why.empty()) return why;
    if (anchor_type() != dtype::f32) return "the elements are not 32-bit floats";
    if (runs_on_rows() || stored.reach.count != 0) return "its tiles are not rows of an image";
    return stored_channels_last() ? std::string_view() : unfit_for_staging();
  }
  // With vectors of output channels or along rows of tiles, whichever is expected to take less time.
  constexpr kernel_choice best_choice(const cpu_facts& facts) const {
    const kernel_choice c = choice_of(facts, false);
    if (out_channels() > facts.float_lanes) return c;
    const kernel_choice along_rows = choice_of(facts, true);
    return along_rows.cost.cycles < c.cost.cycles ? along_rows : c;
  }

 private:
  // Of an axis: what is made of a tile, and the tiles.
  struct axis_counts {
    double outputs, inputs, points, segments, input_operations, output_operations, tiles;
  };
  constexpr axis_counts along(std::size_t a) const {
    const auto of = [&]<class Axis>(Axis) {
      const index_t n = static_cast<index_t>(known_or_typical(out_extent(a)));
      return axis_counts{.outputs = Axis::outputs,
                         .inputs = Axis::inputs,
                         .points = Axis::points,
                         .segments = static_cast<double>(ceil_div(taps(a), index_t(Axis::outputs))),
                         .input_operations = Axis::input_operations,
                         .output_operations = Axis::output_operations,
                         .tiles = static_cast<double>(ceil_div(n, index_t(Axis::outputs)))};
    };
    return taps(a) == 1 ? of(segmented_axis<1>{}) : of(segmented_axis<3>{});
  }

  constexpr kernel_choice choice_of(const cpu_facts& facts, bool along_rows) const {
    const axis_counts h = along(1), w = along(2);
    const auto in = static_cast<double>(in_channels()), out = static_cast<double>(out_channels());
    const double points = h.points * w.points, segments = h.segments * w.segments,
                 rows = static_cast<double>(known_or_typical(space(0))) * h.tiles;
    const double lanes = facts.float_lanes;
    const auto vectors = static_cast<index_t>(vectors_of(facts, along_rows ? w.tiles + w.segments : out));
    const int width = along_rows ? static_cast<int>(std::min<index_t>(plan::tile_vectors(facts), vectors))
                                 : row_width(facts, vectors, 0);

    // A strip's tiles at all points, and products, stay in the second cache.
    const double at_once = along_rows ? width * lanes : most_segmented_tiles,
                 floats = points * (h.segments * in + out) + h.inputs * w.outputs * in;
    const double room = along_rows ? 0.8 : 0.3;  // of that cache: nothing else is read again, or weights are
    const double most = cut(w.tiles + (along_rows ? w.segments : 0), at_once).count;
    const double fits = room * static_cast<double>(facts.l2_bytes) / (4 * at_once * floats);
    const auto strip = static_cast<std::int32_t>(std::clamp(fits, 1.0, most));
    const double strips = cut(w.tiles, std::max(1.0, strip * at_once - (along_rows ? w.segments : 0))).count;

    const tiled_product of_row = along_rows ? tiled_product{.rows = out,
                                                            .vectors = strips * vectors_of(facts, w.tiles / strips),
                                                            .depth = segments * in,
                                                            .runs = h.segments * in}
                                            : tiled_product{.rows = w.tiles,
                                                            .vectors = vectors_of(facts, out),
                                                            .depth = segments * in,
                                                            .runs = h.segments,
                                                            .most_rows = most_segmented_tiles};
    const tiled_cycles products = cycles_of(facts, of_row, width);

    // Vector operations on a tile, loads and stores included, and on its pixels, which are put where its neighbours'
    // are that vectors take together.
    const double of_input =
                     h.input_operations * w.inputs + h.points * w.input_operations + h.inputs * w.inputs + points,
                 of_output = points + h.output_operations * w.points + h.outputs * (w.output_operations + w.outputs);
    const double pixels = h.outputs * w.outputs, in_tiles = w.tiles + strips * (w.segments - 1);
    const double in_vectors =
        along_rows ? in * strips * vectors_of(facts, in_tiles / strips) : vectors_of(facts, in * in_tiles);
    const double transforms = in_vectors * (of_input + pixels * (along_rows ? 6 : 2)) +
                              (along_rows ? out * vectors_of(facts, w.tiles) * (of_output + pixels * lanes)
                                          : w.tiles * vectors_of(facts, out) * of_output);
    const double copies = along_rows || in >= lanes ? 0 : in_tiles * pixels * in;
    const tiled_cycles all{rows * (points * products.arithmetic + (transforms + copies) / facts.multiply_adds),
                           rows * (points * products.starts + strips * facts.costs.row)};

    kernel_work more;
    const double of_taps = 4 * elements_of(1),
                 of_points = of_taps * points * segments / static_cast<double>(taps(1) * taps(2));
    more.traffic.add_read(memory_level::memory, of_points - of_taps);
    more.traffic.add_read(level_of(facts, of_points + 4 * floats * at_once * strip),
                          (rows * strips - 1) * of_points * facts.costs.weights);
    kernel_choice c = choice(facts, along_rows ? width_dim() : 1, all, !stored_channels_last(),
                             along_rows ? "F(3, 3) over segments of the window, vectors along rows of tiles"
                                        : "F(3, 3) over segments of the window, vectors of output channels",
                             more, 1);
    c.parameters = {0, along_rows, strip, width};
    return c;
  }
};

// Parameters of its choices: 0, as where images of conv_nhwc have a border; whether vectors run along rows; register
// tiles of a strip; vectors of a register tile.
template <class Net, std::size_t R> struct wide_winograd_kernel;
template <accuracy Allowed> struct conv_wide_winograd_within {
  static constexpr std::string_view name = "conv_wide_winograd";
  static constexpr bool carries_out(const operator_tag& anchor) { return anchor.id == id_of<op::conv>; }

  static constexpr kernel_match match(const kernel_spec& recipe, const cpu_facts& facts) {
    const wide_winograd_spec spec(recipe);
    if (const std::string_view why = spec.unfit_for_segments(Allowed); !why.empty()) return no_match{why};
    return spec.best_choice(facts);
  }

  template <class Net, std::size_t R> using kernel = wide_winograd_kernel<Net, R>;
  template <accuracy Other> using within = conv_wide_winograd_within<Other>;
};
using conv_wide_winograd = conv_wide_winograd_within<accuracy{}>;

constexpr bool runs_along_rows(const kernel_choice& wide_winograd) { return wide_winograd.parameters[1] != 0; }

template <bool AlongRows, bool Staged, int Strip, int Vectors> struct wide_winograd_convolution {
  static constexpr bool takes_rows = true;
  static constexpr wide_winograd_attributes attributes_of(const conv_attributes& a) {
    return {.in_channels = a.in_channels,
            .out_channels = a.out_channels,
            .taps_h = static_cast<int>(a.kernel_h),
            .taps_w = static_cast<int>(a.kernel_w),
            .along_rows = AlongRows,
            .takes_rows = Staged,
            .strip = Strip,
            .panel_vectors = Vectors};
  }
  template <conv_attributes A, class, class... Extents> using of = wide_winograd<attributes_of(A), Extents...>;
};
template <class Net, std::size_t R> struct engine_of_wide_winograd {
  static constexpr auto parameters = recipe_access<Net, R>::choice.parameters;
  using type = wide_winograd_convolution<parameters[1] != 0,
                                         recipe_access<Net, R>::choice.operands[0] != operand_reading::in_place,
                                         parameters[2], parameters[3]>;
};
template <class Net, std::size_t R>
struct wide_winograd_kernel : channels_last_kernel<Net, R, typename engine_of_wide_winograd<Net, R>::type> {
  using base = channels_last_kernel<Net, R, typename engine_of_wide_winograd<Net, R>::type>;
  using facts = convolution_kernel<Net, R>;

  static void run(const kernel_call& call, index_t first, index_t last) noexcept {
    constexpr std::size_t along = engine_of_wide_winograd<Net, R>::parameters[1] != 0 ? facts::width_dim : 1;
    base::run_with(call, first, last, [&](auto acc, index_t n, index_t y, index_t x, index_t oc, auto valid) {
      facts::values::template finish<float_lanes, along>(call, base::place_of(n, y, x, oc, 1), valid, acc);
    });
  }
};

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
