// SPDX-License-Identifier: MIT
// The kernel of a group around a convolution with 3 x 3 taps by Winograd's F(4x4, 3x3) (cpu/micro/winograd.hpp), on
// input that lies channels last with a halo, as direct convolution reads it. Weights are transformed when they are
// packed, and take four times as much memory as they do there.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <type_traits>

#include "dnnkit/cost/accuracy.hpp"
#include "dnnkit/cpu/families/convolution_kernel.hpp"
#include "dnnkit/cpu/micro/winograd.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

// What it has decided: parameters of the choice.
struct winograd_blocks {
  std::int32_t tiles = 1;  // of a block, at the most
  std::int32_t parts = 1;  // of the output channels
};

class winograd_spec : public convolution_spec {
 public:
  // The largest error against sums in double precision, as a part of the largest output: over random and trained
  // weights it was 0.7 to 2.3 millionths, that of direct convolution 0.3 to 1.5 (tests/cpu/micro/winograd.cpp).
  static constexpr accuracy error{3e-6};

  constexpr explicit winograd_spec(const kernel_spec& spec) : convolution_spec(spec) {}

  // Why its kernels do not carry it out; empty when they do.
  constexpr std::string_view unfit_for_tiles(accuracy allowed) const {
    if (axes < 2 || taps(1) != 3 || taps(2) != 3 || taps(0) != 1) return "the window has not 3 x 3 taps";
    for (std::size_t a = 0; a < 3; ++a)
      if (stride(a) != 1 || dilation(a) != 1) return "the window moves in steps or has holes";
    if (is_depthwise()) return "each channel has a filter of its own: there are no products";
    if (allowed.billionths < error.billionths) return "its error may be larger than the accuracy that is asked for";
    if (const std::string_view why = unfit({}); !why.empty()) return why;
    if (anchor_type() != dtype::f32) return "the elements are not 32-bit floats";
    if (runs_on_rows() || stored.reach.count != 0) return "tiles of 4 rows are not those of its stages";
    if (!stored_channels_last() || stored.type != dtype::f32) return "the input is not read where it lies";
    if (before(0) + after(0) != 0) return "there are planes of zeros before or behind the input";
    return {};
  }

  // The blocks that are expected to take least time.
  constexpr winograd_blocks best_blocks(const cpu_facts& facts) const {
    constexpr double clearly = 0.98;
    const std::int32_t rows = plan::tile_rows(facts, width(facts));
    winograd_blocks best;
    double least = 0;
    for (std::int32_t times = 1; times <= 4; ++times) {
      if (times * rows > most_tiles) break;
      const winograd_blocks asked{times * rows, parts_of(facts, times * rows)};
      const double cycles = cost(facts, asked).cycles;
      if (times > 1 && cycles >= clearly * least) continue;
      best = asked;
      least = cycles;
    }
    return best;
  }

  constexpr kernel_cost cost(const cpu_facts& facts, winograd_blocks b) const {
    const even_pieces blocks = cut(tiles(), static_cast<double>(b.tiles));
    const auto groups = static_cast<double>(convolution.group), in = static_cast<double>(in_channels()),
               out = static_cast<double>(out_channels());
    const tiled_cycles products = cycles_of(facts,
                                            {.rows = blocks.size,
                                             .vectors = vectors_of(facts, out / groups),
                                             .depth = in / groups / sums,
                                             .rows_collide = rows_collide(facts, static_cast<std::int64_t>(in) * 4)},
                                            width(facts));
    const double times = blocks.count * points * groups * sums;
    const double epilogue = tree_cost(*this, facts, 1, facts.float_lanes).outputs();
    kernel_work work{.vectors = tiles() * (vectors_of(facts, in) * of_input + vectors_of(facts, out) * of_output),
                     .cycles = times * products.arithmetic + pixels() * vectors_of(facts, out) * epilogue,
                     .starts = times * products.starts + blocks.count * facts.costs.phase,
                     .traffic = traffic_of(*this, facts)};
    // The weights at all points come from memory once, and once more for each block from where they are then.
    const double taps = 4 * elements_of(1), weights = taps * points / 9;
    const double room = 4 * points * static_cast<double>(b.tiles) * (in + out / static_cast<double>(b.parts));
    work.traffic.add_read(memory_level::memory, weights - taps);
    work.traffic.add_read(level_of(facts, room + weights), (blocks.count - 1) * weights * facts.costs.weights);
    // Blocks go from one phase to the next through the caches; in the second, transforms take as long as they are said
    // to.
    if (const memory_level level = level_of(facts, room); level > memory_level::l2) {
      const double bytes = tiles() * 4 * points * (in + out);
      work.traffic.add_written(level, bytes);
      work.traffic.add_read(level, bytes);
    }
    return estimate(facts, work);
  }

 private:
  static constexpr double points = 36;
  static constexpr std::int32_t most_tiles = 64;
  // Vector operations of a transform of a tile, loads and stores included.
  static constexpr double of_input = 240, of_output = 170;

  constexpr int width(const cpu_facts& facts) const {
    const index_t in = in_channels() / convolution.group;
    return gemm_panel_vectors(facts, ceil_div(in, ceil_div(in, longest_winograd_sum)));
  }
  static constexpr double tiles_along(local_extent e) {
    return static_cast<double>(ceil_div(static_cast<index_t>(known_or_typical(e)), winograd_transform::outputs));
  }
  constexpr double tiles() const {
    return static_cast<double>(known_or_typical(space(0)) * known_or_typical(out_extent(0))) *
           tiles_along(out_extent(1)) * tiles_along(out_extent(2));
  }
  // So many that there are pieces of work for some workers, each with a panel at least.
  constexpr std::int32_t parts_of(const cpu_facts& facts, std::int32_t block) const {
    constexpr std::int32_t pieces = 16;
    const auto blocks = static_cast<std::int32_t>(cut(tiles(), block).count);
    const double of_group = static_cast<double>(out_channels() / convolution.group);
    const double panels = static_cast<double>(convolution.group) * cut(vectors_of(facts, of_group), width(facts)).count;
    return std::clamp((pieces + blocks - 1) / blocks, 1, static_cast<std::int32_t>(panels));
  }
};

// Parameters of its choices: tiles of a block, parts of the output channels.
template <class Net, std::size_t R> struct winograd_kernel;
template <accuracy Allowed> struct conv_winograd_within {
  static constexpr std::string_view name = "conv_winograd";
  static constexpr bool carries_out(const operator_tag& anchor) { return anchor.id == id_of<op::conv>; }

  static constexpr kernel_match match(const kernel_spec& recipe, const cpu_facts& facts) {
    const winograd_spec spec(recipe);
    if (const std::string_view why = spec.unfit_for_tiles(Allowed); !why.empty()) return no_match{why};
    const winograd_blocks b = spec.best_blocks(facts);
    const operand_reading once = operand_reading::packed_once;
    kernel_choice c;
    c.operands = {operand_reading::in_place, once,
                  spec.input(2).from == source::nothing ? operand_reading::absent : once};
    c.tile.along = 1;
    c.tile.lanes = static_cast<std::uint8_t>(facts.float_lanes);
    c.parameters = {b.tiles, b.parts};
    c.cost = spec.cost(facts, b);
    c.reason = "F(4x4, 3x3) by blocks of tiles: a quarter of the multiply-adds, with an error of at most 3e-6";
    return c;
  }

  template <class Net, std::size_t R> using kernel = winograd_kernel<Net, R>;
  template <accuracy Other> using within = conv_winograd_within<Other>;
};
using conv_winograd = conv_winograd_within<accuracy{}>;

template <class Net, std::size_t R> struct winograd_kernel : convolution_kernel<Net, R> {
  using facts = convolution_kernel<Net, R>;
  using access = typename facts::access;
  using values = typename facts::values;
  using facts::axes, facts::bias, facts::has_axis, facts::in_dim, facts::out_extent, facts::position, facts::width_dim;

  static constexpr winograd_attributes attributes{.in_channels = facts::spec.in_channels(),
                                                  .out_channels = facts::spec.out_channels(),
                                                  .groups = facts::spec.convolution.group,
                                                  .block = access::choice.parameters[0],
                                                  .parts = access::choice.parameters[1]};
  static auto convolution(const kernel_call& call) {
    const auto images = facts::times(extent_value<in_dim(0)>(call), extent_value<out_extent(0)>(call));
    const auto height = extent_value<out_extent(1)>(call);
    const auto width = extent_value<out_extent(2)>(call);
    const auto row = facts::template stride_of<width_dim - 1>(call);
    const auto pixel = facts::template stride_of<width_dim>(call);
    winograd<attributes, std::remove_cvref_t<decltype(images)>, std::remove_cvref_t<decltype(height)>,
             std::remove_cvref_t<decltype(width)>, std::remove_cvref_t<decltype(row)>,
             std::remove_cvref_t<decltype(pixel)>>
        c{images, height, width, row, pixel};
    c.image_stride = facts::template stride_of<0>(call);
    c.out_d = extent_value<out_extent(0)>(call);
    if constexpr (axes == 3) c.depth_stride = facts::template stride_of<2>(call);
    return c;
  }
  using convolution_type = decltype(convolution(std::declval<const kernel_call&>()));

  // --- weights at all points, and behind them the bias
  static constexpr index_t weight_numbers = convolution_type::packed_size();
  static constexpr std::int64_t packed_bytes = (weight_numbers + convolution_type::bias_size()) * 4;
  using facts::packed_inputs;
  static void pack(const kernel_call& call) noexcept { facts::template pack_for<convolution_type>(call); }

  // --- a unit is a part of the output channels of a block of tiles
  static std::int64_t worker_bytes(const kernel_call&) noexcept { return convolution_type::room() * 4; }
  static index_t units(const kernel_call& call) noexcept { return convolution(call).units(); }

  static void run(const kernel_call& call, index_t first, index_t last) noexcept {
    const auto c = convolution(call);
    const float* const weights = reinterpret_cast<const float*>(call.packed);
    const index_t out_d = c.out_d;
    c.run(
        facts::first_tap(call), weights, bias.from == source::nothing ? nullptr : weights + weight_numbers, first, last,
        reinterpret_cast<float*>(call.worker),
        [&](auto acc, index_t n, index_t y, index_t x, index_t oc, auto valid) __attribute__((always_inline)) {
          coordinates at{};
          at[1] = oc;
          at[0] = has_axis(0) ? n / out_d : n;
          if constexpr (has_axis(0)) at[position(0) + 2] = n % out_d;
          at[position(1) + 2] = y;
          at[position(2) + 2] = x;
          values::template finish<float_lanes, 1>(call, at, valid, acc);
        });
  }
};

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
