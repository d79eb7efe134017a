// SPDX-License-Identifier: MIT
// What the family of attention asks about a kernel of three stages: a product, a softmax along its rows, and a product
// of these with another factor.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include "dnnkit/cpu/lane_analysis.hpp"
#include "dnnkit/op/arithmetic.hpp"
#include "dnnkit/op/comparison.hpp"
#include "dnnkit/op/softmax.hpp"
#include "dnnkit/plan/kernel_spec.hpp"

namespace dnnkit::cpu {

// A load of the scores' stage that may hide keys from queries: what is added to the scores where that is at most
// `added`, or a condition where it has a certain value.
struct key_mask {
  static constexpr float added = -1e30f;

  std::uint16_t load = 0;
  bool is_condition = false, hides_if = false;
};

// All of them, and what the score of a hidden key is at most, whatever the product; without a number in the product,
// and provided that what else is added is less than 1e29.
struct key_masks {
  static constexpr std::size_t most = 4;

  std::array<key_mask, most> items{};
  std::size_t count = 0;
  float bound = -std::numeric_limits<float>::infinity();

  constexpr void add(const key_mask& m, float most_of_score) {
    if (count == most) return;
    items[count++] = m;
    if (most_of_score > bound) bound = most_of_score;
  }
};

class attention_spec : public kernel_spec {
 public:
  // spec: the last stage, of three.
  constexpr explicit attention_spec(const kernel_spec& spec)
      : kernel_spec(spec), scores(spec.stage(0)), weights(spec.stage(1)) {}

  static constexpr int vectors_of_queries = 2;  // in a tile

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
  // Is what is computed of a score up to the softmax a few sums and products?
  constexpr bool scores_take_little() const {
    int operators = 0;
    bool is_plain = true;
    const auto look_at = [&](const kernel_spec& stage, operand_ref r) {
      stage.all_in_tree(r, [&](operand_ref x) {
        if (x.from == source::load) is_plain = is_plain && stage.load(x.index).movement.count == 0;
        if (x.from != source::node) return true;
        const operator_id op = stage.node(x.index).op.id;
        is_plain = is_plain && (op == id_of<op::add> || op == id_of<op::sub> || op == id_of<op::mul>);
        ++operators;
        return true;
      });
    };
    look_at(scores, scores.output(0).value);
    look_at(weights, weights.input(0));
    return is_plain && operators <= 3;
  }
  // Do outputs lie next to each other along queries rather than along elements?
  constexpr bool stores_queries() const { return lane_axis(*this) + 2 == rank(); }

  // Does a load that is read with the products or with the softmax's results have keys, not queries, next to each
  // other? Then tiles of it are transposed, as vectors hold queries.
  constexpr bool is_turned(const kernel_spec& stage, std::size_t number) const {
    const recipe_load& l = stage.load(number);
    if (!is_beside_scores(stage, number) || (l.type != dtype::f32 && l.type != dtype::boolean)) return false;
    const lane_stride of_queries = stage.stride_along(l, rank() - 2), of_keys = stage.stride_along(l, rank() - 1);
    return l.movement.count == 0 && of_queries.single && of_keys.single && of_keys.stride == 1 &&
           !(of_queries.stride == 0) && !(of_queries.stride == 1) && !(space(rank() - 2) == 1);
  }
  constexpr std::size_t turned_loads(const kernel_spec& stage) const {
    std::size_t n = 0;
    for (std::size_t l = 0; l < stage.loads(); ++l) n += is_turned(stage, l) ? 1u : 0u;
    return n;
  }

  // Is a load that is turned, or that keys are hidden by, the same for all heads?
  constexpr bool is_of_all_heads(const kernel_spec& stage, std::size_t number) const {
    const recipe_load& l = stage.load(number);
    for (std::size_t d = 0; d + 2 < rank(); ++d) {
      const lane_stride of_heads = stage.stride_along(l, d);
      if (!(space(d) == 1) && !(of_heads.single && of_heads.stride == 0)) return false;
    }
    return l.movement.count == 0;
  }
  // Are all of them?
  constexpr bool heads_are_alike() const {
    for (const kernel_spec* stage : {&scores, &weights})
      for (std::size_t l = 0; l < stage->loads(); ++l)
        if (is_turned(*stage, l) && !is_of_all_heads(*stage, l)) return false;
    const key_masks hiding = masks();
    for (std::size_t m = 0; m < hiding.count; ++m)
      if (!is_of_all_heads(scores, hiding.items[m].load)) return false;
    return true;
  }

  // What keys are hidden by: none where something else is done before the softmax, or where something is made of its
  // zeros, so that hidden keys count.
  constexpr key_masks masks() const {
    key_masks found;
    if (weights.input(0).from == source::load && keeps_zeros(weights, weights.output(0).value) &&
        keeps_zeros(*this, input(0)))
      find_masks(scores.output(0).value, false, found);
    return found;
  }

  // Of all heads.
  constexpr double heads() const {
    double n = 1;
    for (std::size_t d = 0; d + 2 < rank(); ++d) n *= static_cast<double>(known_or_typical(space(d)));
    return n;
  }

 private:
  // Is a load read at the coordinates of scores?
  constexpr bool is_beside_scores(const kernel_spec& stage, std::size_t number) const {
    if (stage.load(number).reach.count != 0) return false;
    return stage.outputs_read(number) || (stage.is_anchor<op::softmax>() && stage.reads(stage.input(0), number));
  }
  // Is r 0 wherever the softmax's result is? It comes as the anchor's, or from the stage before.
  static constexpr bool keeps_zeros(const kernel_spec& stage, operand_ref r) {
    if (r.from == source::anchor) return true;
    if (r.from == source::load) return !stage.is_earlier_stage() && stage.load(r.index).reach.count != 0;
    if (r.from == source::constant) return std::bit_cast<double>(stage.constant(r.index).code) == 0;
    if (r.from != source::node) return false;
    const operator_id op = stage.node(r.index).op.id;
    const auto in = stage.inputs_of(r);
    if (op == id_of<op::mul>) return keeps_zeros(stage, in[0]) || keeps_zeros(stage, in[1]);
    if (op == id_of<op::div>) return keeps_zeros(stage, in[0]);
    if (op == id_of<op::where>) return keeps_zeros(stage, in[1]) && keeps_zeros(stage, in[2]);
    return false;
  }
  // In the tree of r; `summed`: of what r is, a sum is taken with something else.
  constexpr void find_masks(operand_ref r, bool summed, key_masks& found) const {
    if (r.from != source::node) return;
    const operator_id op = scores.node(r.index).op.id;
    const auto inputs = scores.inputs_of(r);
    if (op == id_of<op::add>) {
      for (operand_ref in : inputs)
        if (in.from == source::load && scores.type_of(in) == dtype::f32)
          found.add({.load = in.index}, key_mask::added / 10);
      for (operand_ref in : inputs) find_masks(in, true, found);
    } else if (op == id_of<op::where> && inputs[0].from == source::load) {
      for (std::size_t i = 1; i < 3; ++i) {
        if (inputs[i].from != source::constant || scores.type_of(r) != dtype::f32) continue;
        const auto x = static_cast<float>(std::bit_cast<double>(scores.constant(inputs[i].index).code));
        if (!(x <= (summed ? key_mask::added : -1000.0f))) continue;
        found.add({.load = inputs[0].index, .is_condition = true, .hides_if = i == 1},
                  summed && key_mask::added / 10 > x ? key_mask::added / 10 : x);
        find_masks(inputs[3 - i], summed, found);
      }
    }
  }
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
