// SPDX-License-Identifier: MIT
// What the families of convolution kernels know of a specification: the window over depth, height and width, whether
// the input can be read where it is, and what the kernels have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dnnkit/cost/register_tile.hpp"
#include "dnnkit/cpu/lane_analysis.hpp"
#include "dnnkit/cpu/micro/conv.hpp"
#include "dnnkit/cpu/micro/depthwise.hpp"
#include "dnnkit/cpu/tree_cost.hpp"
#include "dnnkit/op/builtin.hpp"
#include "dnnkit/plan/kernel_family.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

class convolution_spec : public kernel_spec {
 public:
  constexpr explicit convolution_spec(const kernel_spec& spec)
      : kernel_spec(spec), axes(rank() - 2), convolution(anchor<op::conv>()) {
    shape = convolution.over([this](std::size_t d) { return weight_dim(d); }, axes);
    while (axes > 1 && !runs_on_rows() && is_idle(axes - 1)) --axes;
    if (input(0).from == source::load) stored = load(input(0).index);
  }

  // That the window runs over: of its last ones, those along which there is nothing to run over are none, since the
  // kernels' tiles lie along the last (a width of 1, as signals have that are written as pictures).
  std::size_t axes;
  op::conv convolution;
  window shape{};
  recipe_load stored;  // the input, where it is stored

  constexpr local_extent in_dim(std::size_t d) const { return extent_of(0, d); }
  constexpr index_t weight_dim(std::size_t d) const { return extent_of(1, d).value(); }
  constexpr index_t in_channels() const { return in_dim(1).value(); }
  constexpr index_t out_channels() const { return weight_dim(0); }

  // Are they 64-bit floats in memory, not in the tiles that stages hand to each other?
  constexpr bool is_of_doubles() const {
    return anchor_type() == dtype::f64 && !runs_on_rows() && stored.reach.count == 0;
  }
  // Does no run compute weights or bias?
  constexpr bool is_packed_once() const { return is_setup(input(1)) && is_setup(input(2)); }
  // What a kernel takes besides 32-bit floats and weights that are packed before the run.
  struct taken {
    bool doubles = false, computed_weights = false;
  };
  // Why no kernel of packed weights and vectors carries it out; empty when one can.
  constexpr std::string_view unfit(taken t) const {
    if (!is_computed_in_f32(anchor_type()) && !(t.doubles && is_of_doubles()))
      return "the elements are not computed with as 32-bit floats";
    if (!is_packed_once() && (!t.computed_weights || runs_on_rows()))
      return "the run computes weights or bias, which are packed before it";
    return {};
  }

  // Why an input that has to be staged cannot be; empty when it can.
  constexpr std::string_view unfit_for_staging() const {
    const bool plain = all_in_tree(
        input(0), [this](operand_ref x) { return x.from != source::load || load(x.index).reach.count == 0; });
    return plain ? std::string_view() : "what an earlier stage hands over is read where it lies, not staged";
  }

  // --- the window over a: 0 depth, 1 height, 2 width; missing axes have one tap
  constexpr bool has_axis(std::size_t a) const { return a + axes >= 3; }
  constexpr std::size_t position(std::size_t a) const { return a + axes - 3; }
  // The dimension that tiles of pixels lie along.
  constexpr std::size_t width_dim() const { return axes + 1; }
  constexpr index_t taps(std::size_t a) const { return has_axis(a) ? shape.kernel(position(a)) : 1; }
  constexpr index_t stride(std::size_t a) const { return has_axis(a) ? shape.stride(position(a)) : 1; }
  constexpr index_t dilation(std::size_t a) const { return has_axis(a) ? shape.dilation(position(a)) : 1; }
  constexpr index_t before(std::size_t a) const { return has_axis(a) ? shape.pad_begin(position(a)) : 0; }
  constexpr index_t after(std::size_t a) const { return has_axis(a) ? shape.pad_end(position(a)) : 0; }
  constexpr local_extent in_extent(std::size_t a) const {
    return has_axis(a) ? in_dim(position(a) + 2) : local_extent(1);
  }
  constexpr local_extent out_extent(std::size_t a) const {
    return has_axis(a) ? space(position(a) + 2) : local_extent(1);
  }
  // Has the window nothing to run over along axis i?
  constexpr bool is_idle(std::size_t i) const {
    return in_dim(i + 2) == 1 && space(i + 2) == 1 && shape.kernel(i) == 1 && shape.pad_begin(i) == 0 &&
           shape.pad_end(i) == 0;
  }
  constexpr bool padded() const { return before(0) + after(0) + before(1) + after(1) + before(2) + after(2) > 0; }

  // --- is the input stored as the kernels want it?
  constexpr bool has_border() const {
    for (std::size_t d = 0; d < rank(); ++d)
      if (stored.before[d] + stored.after[d] != 0) return true;
    return false;
  }
  // With a halo wide enough and the elements along `axis` next to each other; other axes have one stride each.
  constexpr bool stored_along(std::size_t axis) const {
    if (input(0).from != source::load || stored.movement.count != 0) return false;
    if (!is_multiplied_as_stored(stored.type) && !is_of_doubles()) return false;
    for (std::size_t d = 0; d < rank(); ++d)
      if (!stride_along(stored.axes, d).single) return false;
    // an extent of one has a stride where a border lies beside it
    const local_extent step = stride_along(stored.axes, axis).stride;
    if (step != 1 && !(in_dim(axis) == 1 && step == 0)) return false;
    if (!padded()) return true;
    for (std::size_t i = 0; i < axes; ++i)
      if (!is_cut(i + 2) && (stored.before[i + 2] < shape.pad_begin(i) || stored.after[i + 2] < shape.pad_end(i)))
        return false;
    return stored.bordered;
  }
  constexpr bool stored_channels_last() const { return stored_along(1); }
  // Do the channels of an input that is brought into scratch memory lie next to each other, so that vectors of them are
  // read, whatever is written?
  constexpr bool lies_along_channels(int lanes) const {
    return in_channels() >= lanes && all_in_tree(input(0), [this](operand_ref x) {
             return x.from != source::load || plan::stride_along(plan(), load(x.index), 1).stride == 1;
           });
  }
  // Vectors along rows read up to one vector past the end of a row, which the arena and scratch memory have room for; a
  // file or what was computed from one has not.
  constexpr bool stored_channels_first() const {
    return stored_along(width_dim()) && !stored.external && !stored.setup;
  }

  // Is the kernel asked for some rows at a time? A stage may also be asked for all.
  constexpr bool runs_on_rows() const { return cut_axis() < max_rank; }
  // One filter for each channel.
  constexpr bool is_depthwise() const {
    return convolution.group > 1 && convolution.group == in_channels() && convolution.group == out_channels();
  }

  // Do the channels of several groups lie side by side in vectors of 32-bit floats (cpu/micro/depthwise.hpp)?
  constexpr bool fills_vectors_with_groups(const cpu_facts& facts) const {
    return is_computed_in_f32(anchor_type()) && convolution.group > 1 &&
           groups_fill_vectors(weight_dim(1), out_channels() / convolution.group, facts.float_lanes);
  }

  // `dense`: the pixels of an image follow each other without a border.
  constexpr conv_attributes attributes(bool dense) const {
    return {.in_channels = in_channels(),
            .out_channels = out_channels(),
            .groups = convolution.group,
            .kernel_d = taps(0),
            .kernel_h = taps(1),
            .kernel_w = taps(2),
            .stride_d = stride(0),
            .stride_h = stride(1),
            .stride_w = stride(2),
            .dilation_d = dilation(0),
            .dilation_h = dilation(1),
            .dilation_w = dilation(2),
            .dense = dense};
  }

  // Is the input tile storage, which has what a tile needs beyond the ends of axis d?
  constexpr bool is_cut(std::size_t d) const {
    return stored.reach.count != 0 && !plan().reaches_of(stored.reach)[d].is_whole();
  }

  // The choice of a kernel whose vectors run along `along` and whose tiles take so long; `staged`: the input is brought
  // into scratch memory, since it is not stored so. `more`: the cycles of what it does besides, and what it moves
  // besides operands. `staged_along`: the axis along which elements lie next to each other there, where that is another
  // than `along`.
  constexpr kernel_choice choice(const cpu_facts& facts, std::size_t along, const tiled_cycles& tiles, bool staged,
                                 std::string_view reason, const kernel_work& more = {},
                                 std::size_t staged_along = 0) const {
    kernel_choice c;
    const operand_reading packed = is_packed_once() ? operand_reading::packed_once : operand_reading::packed_each_run;
    c.operands = {staged ? operand_reading::staged : operand_reading::in_place, packed,
                  input(2).from == source::nothing ? operand_reading::absent : packed};
    c.tile.along = static_cast<std::int8_t>(along);
    c.tile.lanes = static_cast<std::uint8_t>(facts.float_lanes);
    const auto all = static_cast<double>(known_or_typical(space(along)));
    const bool is_whole = along != 1 || is_depthwise() || fills_vectors_with_groups(facts);
    const double extent = is_whole ? all : all / static_cast<double>(convolution.group);
    const double vectors = elements() / extent * vectors_of(facts, extent);
    kernel_work work{.cycles = tiles.arithmetic + vectors * tree_cost(*this, facts, along, facts.float_lanes).outputs(),
                     .starts = tiles.starts,
                     .traffic = traffic_of(*this, facts)};
    work.cycles += more.cycles;
    work.traffic += more.traffic;
    if (staged) add_staging(facts, staged_along == 0 ? along : staged_along, work);
    if (!is_packed_once()) {
      work.gathered += elements_of(1);
      work.starts += facts.costs.phase;
    }
    c.cost = estimate(facts, work);
    c.reason = reason;
    return c;
  }
  // Pixels of the output.
  constexpr double pixels() const {
    double n = 1;
    for (std::size_t d = 0; d < rank(); ++d)
      if (d != 1) n *= static_cast<double>(known_or_typical(space(d)));
    return n;
  }
  // Multiply-adds that one output element takes.
  constexpr double depth() const {
    return static_cast<double>(taps(0) * taps(1) * taps(2)) * static_cast<double>(weight_dim(1));
  }

 private:
  // Staging works in vectors along `along`; channels that do not fill one are put down one by one instead, and those
  // that lie next to each other are where planes are wanted.
  constexpr void add_staging(const cpu_facts& facts, std::size_t along, kernel_work& work) const {
    const bool turned = along == 1 ? in_channels() < facts.float_lanes : lies_along_channels(facts.float_lanes);
    const std::size_t axis = !turned ? along : along == 1 ? width_dim() : 1;
    const auto extent = static_cast<double>(known_or_typical(in_dim(axis)));
    const double all = elements_of(0), rows = all / extent;
    const double vectors = rows * (static_cast<double>(static_cast<std::int64_t>(extent) / facts.float_lanes) + 1);
    work.cycles += vectors * (tree_cost(*this, facts, axis, facts.float_lanes).value(input(0)) + facts.costs.store);
    if (turned && along == 1) work.scattered += all;
    else if (turned) work.cycles += 4 * vectors * facts.costs.simple;  // log2(lanes) exchanges each, in registers
    work.starts += facts.costs.phase + rows * facts.costs.row;
    work.staged = all * static_cast<double>(size_of(multiplied_as(anchor_type())));
  }
};

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
