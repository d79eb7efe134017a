// SPDX-License-Identifier: MIT
// What the family of products of few rows that follow each other, or a reduction, asks about its stages: that they are
// such, where their rows lie, and what they take.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dnnkit/cost/register_tile.hpp"
#include "dnnkit/cpu/families/convolution_spec.hpp"
#include "dnnkit/cpu/families/row_passes.hpp"
#include "dnnkit/cpu/tree_cost.hpp"
#include "dnnkit/op/matmul.hpp"
#include "dnnkit/plan/kernel_family.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

// A product of rows by weights: a MatMul, or a Conv of images of one pixel.
class thin_product : public kernel_spec {
 public:
  static constexpr bool carries_out(const operator_tag& anchor) {
    return anchor.id == id_of<op::matmul> || anchor.id == id_of<op::conv>;
  }

  constexpr explicit thin_product(const kernel_spec& spec)
      : kernel_spec(spec), convolves(is_anchor<op::conv>()), column_axis(convolves ? 1 : rank() - 1) {}

  bool convolves;
  std::size_t column_axis;  // of the iteration space; the others are rows

  // Why it is none; empty when it is.
  constexpr std::string_view unfit() const {
    for (std::size_t i = 0; i < 2; ++i)
      for (std::size_t d = 0; d < rank_of(i); ++d)
        if (!extent_of(i, d).is_known() || extent_of(i, d) == 0) return "how large a product is, is not known";
    if (const std::string_view why = convolves ? unfit_convolution() : unfit_product(); !why.empty()) return why;
    if (anchor_type() != dtype::f32 || type_of(input(1)) != dtype::f32) return "the elements are not 32-bit floats";
    if (!is_setup(input(1)) || !is_setup(input(2)))
      return "the run computes weights or bias, which are packed before it";
    if (!reads_rows()) return "rows are computed where they are read, or lie at no one stride";
    return {};
  }

  // What follows needs a product that fits.
  constexpr index_t depth() const { return extent_of(0, depth_axis()).value(); }
  constexpr index_t columns() const { return space(column_axis).value(); }
  constexpr index_t rows() const {
    index_t n = 1;
    for (std::size_t d = 0; d < rank_of(0); ++d)
      if (d != depth_axis()) n *= extent_of(0, d).value();
    return n;
  }
  constexpr recipe_load stored() const { return load(input(0).index); }
  // From one row to the next, in elements; none where there is one row.
  constexpr std::int64_t row_stride() const {
    for (std::size_t d = rank_of(0); d-- > 0;)
      if (d != depth_axis() && extent_of(0, d) != 1) return stride_along(stored().axes, d).stride.value();
    return depth();
  }

  // Vectors of a panel of weights.
  constexpr int panel_vectors(const cpu_facts& facts) const {
    if (const int asked = genes().vectors; asked > 0 && asked <= plan::tile_vectors(facts)) return asked;
    return plan::best_width(facts, product_of(facts, depth()), plan::tile_vectors(facts));
  }
  // What the product takes as a stage, where its reduction is cut into blocks, each for one row.
  constexpr kernel_work work(const cpu_facts& facts, index_t blocks) const {
    tiled_product p = product_of(facts, depth() / blocks);
    double times = 1;
    if (blocks > 1) {
      times = p.rows * static_cast<double>(blocks);
      p.rows = 1;
    }
    const tiled_cycles one = cycles_of(facts, p, panel_vectors(facts));
    const double vectors = static_cast<double>(rows()) * p.vectors;
    kernel_work w{
        .cycles = times * one.arithmetic + vectors * tree_cost(*this, facts, column_axis, facts.float_lanes).outputs(),
        .starts = times * one.starts,
        .traffic = traffic_of(*this, facts)};
    if (blocks > 1) w.cycles += static_cast<double>(blocks) * vectors * (facts.costs.load + facts.costs.store);
    return w;
  }

 private:
  using tiled_product = plan::tiled_product;
  using tiled_cycles = plan::tiled_cycles;

  constexpr std::size_t depth_axis() const { return convolves ? 1 : rank_of(0) - 1; }
  constexpr tiled_product product_of(const cpu_facts& facts, index_t steps) const {
    return {.rows = static_cast<double>(rows()),
            .vectors = vectors_of(facts, static_cast<double>(columns())),
            .depth = static_cast<double>(steps)};
  }

  constexpr std::string_view unfit_convolution() const {
    for (std::size_t d = 2; d < rank(); ++d)
      if (extent_of(0, d) != 1 || extent_of(1, d) != 1 || space(d) != 1) return "images have several pixels";
    if (convolution_spec(*this).padded()) return "what is multiplied may be a border";
    if (extent_of(1, 1) != extent_of(0, 1)) return "channels are in groups";
    return {};
  }
  constexpr std::string_view unfit_product() const {
    if (rank_of(0) < 2 || rank_of(1) < 2) return "a factor is a vector";
    for (std::size_t d = 0; d + 2 < rank_of(1); ++d)
      if (extent_of(1, d) != 1) return "there are several matrices of weights";
    return {};
  }
  // Is the first factor stored in rows of neighbouring elements, at one stride?
  constexpr bool reads_rows() const {
    if (input(0).from != source::load) return false;
    const recipe_load l = stored();
    if (l.type != dtype::f32 || l.movement.count != 0) return false;
    for (std::size_t d = 0; d < rank_of(0); ++d)
      if (const lane_stride s = stride_along(l.axes, d); !s.single || !s.stride.is_known() || l.before[d] + l.after[d])
        return false;
    if (depth() != 1 && stride_along(l.axes, depth_axis()).stride != 1) return false;
    std::int64_t expected = row_stride();
    for (std::size_t d = rank_of(0); d-- > 0;) {
      if (d == depth_axis() || extent_of(0, d) == 1) continue;
      if (stride_along(l.axes, d).stride != expected) return false;
      expected *= extent_of(0, d).value();
    }
    return true;
  }
};

class thin_stages_spec : public kernel_spec {
 public:
  // spec: the last stage.
  constexpr thin_stages_spec(const kernel_spec& spec, const cpu_facts& facts) : kernel_spec(spec), facts_(facts) {}

  // Does a reduction come first?
  static constexpr bool reduces(const operator_tag& anchor) { return anchor.kind == form::reduction; }
  constexpr bool reduces() const { return reduces(stage(0).self().anchor); }
  constexpr std::size_t first_product() const { return reduces() ? 1 : 0; }
  // Is the first product computed beside the reduction, of which it has its first factor, block by block?
  constexpr bool splits() const { return reduces() && stages() == 3; }

  // The kernel of a reduction, cut into blocks of results that are as even as can be. The last of its parameters is how
  // many results, which follow each other, are a block.
  static constexpr kernel_choice reduction(const kernel_spec& stage, const cpu_facts& facts) {
    constexpr std::int32_t single_rows = 64;
    kernel_choice c = *row_passes::match(stage, facts);
    const row_spec spec(stage, facts.float_lanes);
    if (!spec.lanes_in_row && spec.group == 1) {
      const index_t vectors = ceil_div(lanes_of(spec), spec.width),
                    blocks = std::max<index_t>(1, ceil_div(vectors, spec.at_once)),
                    at_once = std::max<index_t>(1, ceil_div(vectors, blocks));
      c.parameters[std::size_t{row_passes::at_once}] = static_cast<std::int32_t>(at_once);
      c.tile.vectors = static_cast<std::uint8_t>(at_once);
      c.parameters.push_back(static_cast<std::int32_t>(at_once * spec.width));
    } else {
      c.parameters.push_back(single_rows);
    }
    return c;
  }

  // Why the stages do not run so; empty when they do.
  constexpr std::string_view unfit() const {
    for (std::size_t d = 0; d < rank(); ++d)
      if (tile(d) != 0) return "stages run on more than one tile";
    for (std::size_t i = 0; i + 1 < stages(); ++i)
      if (stage(i).output(0).type != dtype::f32) return "the elements are not 32-bit floats";
    for (std::size_t d = 0; d < stage(0).rank(); ++d)
      if (!stage(0).space(d).is_known()) return "how much is handed over is not known";
    for (std::size_t i = first_product(); i < stages(); ++i) {
      const thin_product one(stage(i));
      if (const std::string_view why = one.unfit(); !why.empty()) return why;
      if (i > 0 && !reads(one, stage(i - 1))) return "a product reads something else than what is handed to it";
    }
    if (splits() && !is_in_blocks()) return "the reduction's results are not computed in rows";
    return {};
  }

  // What the stages take, one after the other, once unfit() has found nothing.
  constexpr kernel_cost cost() const {
    kernel_cost all;
    if (reduces()) {
      const kernel_spec one = stage(0);
      const kernel_cost alone = reduction(one, facts_).cost;
      add(all, {.cycles = alone.arithmetic,
                .starts = alone.starts - facts_.costs.kernel,
                .traffic = traffic_of(one, facts_)});
    }
    for (std::size_t i = first_product(); i < stages(); ++i) {
      const thin_product one(stage(i));
      index_t blocks = 1;
      if (i == 1 && splits()) blocks = ceil_div(one.depth(), index_t(reduction(stage(0), facts_).parameters.back()));
      add(all, one.work(facts_, blocks));
    }
    const double begins = facts_.costs.kernel + facts_.costs.phase;
    all.starts += begins;
    all.cycles += begins;
    return all;
  }

 private:
  // Stages wait for each other: what one takes is hidden by nothing that another does.
  constexpr void add(kernel_cost& all, const kernel_work& work) const {
    const kernel_cost one = estimate(facts_, work);
    all.arithmetic += one.arithmetic;
    all.memory += one.memory;
    all.starts += one.starts - facts_.costs.kernel;
    all.bytes += one.bytes;
    all.cycles += one.cycles - facts_.costs.kernel;
  }
  // What the lanes of a reduction's vectors run along.
  static constexpr index_t lanes_of(const row_spec& spec) {
    index_t n = 1;
    for (std::size_t d = spec.first_along; d <= spec.along; ++d) n *= known_or_typical(spec.in_dim(d));
    return n;
  }
  static constexpr bool reads(const thin_product& one, const kernel_spec& before) {
    const recipe_load l = one.stored();
    return l.reach.count != 0 && l.operand == before.output(0).operand && one.row_stride() == one.depth();
  }
  // Are the reduction's results stored in the order of their coordinates, and is a unit of its work some of a row?
  constexpr bool is_in_blocks() const {
    const kernel_spec one = stage(0);
    const index_t depth = thin_product(stage(1)).depth();
    std::int64_t expected = 1;
    std::size_t innermost = one.rank();
    for (std::size_t d = one.rank(); d-- > 0;) {
      if (one.space(d) == 1) continue;
      const lane_stride s = one.stride_along(one.output(0).axes, d);
      if (!one.space(d).is_known() || !s.single || s.stride != expected) return false;
      if (innermost == one.rank()) innermost = d;
      expected *= one.space(d).value();
    }
    if (innermost == one.rank() || one.space(innermost) != depth) return false;
    const row_spec spec(one, facts_.float_lanes);
    if (spec.lanes_in_row) return true;
    return spec.group == 1 && spec.output_axis(spec.along) == innermost && lanes_of(spec) == depth;
  }

  const cpu_facts& facts_;
};

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
