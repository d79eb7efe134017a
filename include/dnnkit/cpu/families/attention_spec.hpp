// SPDX-License-Identifier: MIT
// What the family of attention asks about a kernel of three stages: a product, a softmax along its rows, and a product
// of these with another factor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dnnkit/cpu/lane_analysis.hpp"
#include "dnnkit/plan/kernel_spec.hpp"

namespace dnnkit::cpu {

class attention_spec : public kernel_spec {
 public:
  // spec: the last stage, of three.
  constexpr explicit attention_spec(const kernel_spec& spec)
      : kernel_spec(spec), scores(spec.stage(0)), weights(spec.stage(1)) {}

  kernel_spec scores, weights;  // the stages before this one

  constexpr local_extent queries() const { return space(rank() - 2); }
  constexpr local_extent width() const { return space(rank() - 1); }
  constexpr local_extent keys() const { return scores.space(rank() - 1); }
  constexpr local_extent depth() const { return scores.extent_of(0, scores.rank_of(0) - 1); }
  constexpr recipe_load q() const { return scores.load(scores.input(0).index); }
  constexpr recipe_load k() const { return scores.load(scores.input(1).index); }
  constexpr recipe_load v() const { return load(input(1).index); }

  // Why it is none; empty when it is.
  constexpr std::string_view unfit() const {
    if (rank() < 2 || scores.rank() != rank() || weights.rank() != rank())
      return "the stages do not have the same axes";
    if (weights.self().rows.axes.bits != 1u << (rank() - 1))
      return "the softmax does not run along rows of the product";
    for (std::size_t d = 0; d + 1 < rank(); ++d)
      if (!(scores.space(d) == space(d) && weights.space(d) == space(d) && follows(scores, d) && follows(weights, d)))
        return "a tile of the last product is not one of the first";
    if (rank_of(0) != rank()) return "a factor is a vector";
    for (std::size_t d = 0; d + 1 < rank(); ++d)
      if (!(extent_of(0, d) == space(d))) return "rows of the softmax are read for several heads";
    if (tile(rank() - 2) == 0) return "tiles are not of queries";
    if (!is_direct(scores, 0) || !is_direct(scores, 1) || !is_direct(*this, 1))
      return "a factor is computed where it is read, or lies at no strides";
    for (const kernel_spec* stage : {&scores, &weights, static_cast<const kernel_spec*>(this)}) {
      if (stage->anchor_type() != dtype::f32 || stage->type_of(stage->input(0)) != dtype::f32)
        return "the elements are not 32-bit floats";
    }
    if (scores.type_of(scores.output(0).value) != dtype::f32 || weights.type_of(weights.output(0).value) != dtype::f32)
      return "the elements are not 32-bit floats";
    return {};
  }

  // Is the softmax's result read as it is?
  constexpr bool weighs_plainly() const {
    return weights.output(0).value.from == source::anchor && input(0).from == source::load;
  }
  // Do outputs lie next to each other along queries rather than along elements?
  constexpr bool stores_queries() const { return lane_axis(*this) + 2 == rank(); }

  // Of all heads.
  constexpr double heads() const {
    double n = 1;
    for (std::size_t d = 0; d + 2 < rank(); ++d) n *= static_cast<double>(known_or_typical(space(d)));
    return n;
  }

 private:
  // Has a tile the same positions of axis d in this stage?
  constexpr bool follows(const kernel_spec& stage, std::size_t d) const {
    if (space(d) == 1) return true;
    return plan().reaches_of(stage.self().reach)[d] == tile_reach{static_cast<std::int8_t>(d)};
  }
  // Is the factor a strided view of what is stored?
  static constexpr bool is_direct(const kernel_spec& stage, std::size_t input) {
    const operand_ref r = stage.input(input);
    if (r.from != source::load || stage.rank_of(input) < 2) return false;
    const recipe_load l = stage.load(r.index);
    if (l.type != dtype::f32 || l.movement.count != 0 || l.reach.count != 0) return false;
    const std::size_t rank = stage.rank_of(input);
    return stage.stride_along(l.axes, rank - 2).single && stage.stride_along(l.axes, rank - 1).single;
  }
};

}  // namespace dnnkit::cpu
