// SPDX-License-Identifier: MIT
// Attention as one OpenCL kernel, planned only: a work-group takes some queries of a head, and keys and values go
// through local memory some at a time, with the largest and the sum of each row of scores kept up to date (Milakov and
// Gimelshein, Online normalizer calculation for softmax), so that there may be any number of keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "dnnkit/op/softmax.hpp"
#include "dnnkit/opencl/planned/stage_chain.hpp"

namespace dnnkit::opencl::planned {

struct attention {
  static constexpr std::string_view name = "attention";
  static constexpr std::int64_t keys_at_once = 64;
  static constexpr std::int32_t few = 8, many = 32;  // queries of a work-group

  static constexpr tile_wish joins(std::span<const plan::operator_tag> anchors, const gpu_facts&) {
    if (anchors.size() != 3 || anchors[1].id != id_of<op::softmax>) return {};
    if (anchors[0].id != id_of<op::matmul> || anchors[2].id != id_of<op::matmul>) return {};
    return {.positions = few, .whole_axes = 1};
  }
  static constexpr std::int32_t positions(const kernel_spec& spec, const gpu_facts& facts) {
    constexpr std::int32_t offered[] = {few, many};
    return best_positions(offered, [&](std::int32_t n) { return cycles(spec, facts, n); });
  }
  static constexpr kernel_match match(const kernel_spec& spec, const gpu_facts& facts) {
    if (const std::string_view why = unfit(spec); !why.empty()) return no_match{why};
    const std::int32_t queries = spec.tile(spec.rank() - 2) > few ? many : few;
    if (bytes(spec, queries) > static_cast<double>(facts.local_bytes))
      return no_match{"local memory does not hold some keys of a head"};
    return choice_of(time(spec, facts, queries), "scores stay in local memory, for some queries and keys at a time");
  }

 private:
  static constexpr double extent(plan::local_extent e) { return static_cast<double>(plan::known_or_typical(e)); }
  static constexpr double depth(const kernel_spec& scores) {
    return extent(scores.extent_of(0, scores.rank_of(0) - 1));
  }

  static constexpr std::string_view unfit(const kernel_spec& spec) {
    const stage_chain chain(spec);
    const std::size_t rank = spec.rank();
    const gpu_stage scores = chain[0], weights = chain[1];
    if (rank < 2 || scores.rank() != rank || weights.rank() != rank || spec.rank_of(0) != rank)
      return "the stages do not have the same axes";
    if (weights.self().rows.axes.bits != 1u << (rank - 1)) return "the softmax does not run along rows of the product";
    if (spec.tile(rank - 2) == 0) return "tiles are not of queries";
    if (!chain.hands_first_operand(2)) return "what is weighted is computed from the weights";
    for (std::size_t i = 0; i < 2; ++i)
      for (std::size_t d = 0; d + 1 < rank; ++d)
        if (chain.reaches(i)[d].is_whole() && !(chain[i].space(d) == 1))
          return "a tile of the last product is not one of the first";
    return {};
  }
  // Of local memory: queries, scores, results; keys, then values.
  static constexpr double bytes(const kernel_spec& spec, std::int32_t queries) {
    const double d = depth(spec.stage(0)), w = extent(spec.space(spec.rank() - 1));
    return 4 * (queries * (d + w + keys_at_once) + keys_at_once * (d > w ? d : w) / 2);
  }
  static constexpr gpu_kernel_time time(const kernel_spec& spec, const gpu_facts& facts, std::int32_t queries) {
    const stage_chain chain(spec);
    const gpu_stage scores = chain[0], weights = chain[1], values = chain[2];
    const std::size_t rank = spec.rank();
    const double q = extent(spec.space(rank - 2)), heads = spec.elements() / (q * extent(spec.space(rank - 1)));
    const double keys = extent(scores.space(rank - 1)), both = depth(scores) + extent(spec.space(rank - 1));
    const double groups = heads * rounded_up(q / queries);
    // Of few queries, as measured; many are register tiles as other products have them.
    const double share = queries == few ? facts.shares.attention : facts.shares.tiles_4x4;
    gpu_work w;
    w.compute = compute_time(facts, groups, 2 * queries * keys * both, share) +
                element_time(facts, scores.elements() * (scores.operations_behind() + weights.operations_behind() +
                                                         weights.operations(weights.input(0))) +
                                        values.elements() * values.operations_behind());
    w.near = 4 * groups * keys * both;
    for (std::size_t i = 0; i < chain.size(); ++i) chain[i].add_operands(facts, w);
    w.fixed = facts.pipeline;
    gpu_kernel_time t(facts);
    t.add(w);
    return t;
  }
  static constexpr double cycles(const kernel_spec& spec, const gpu_facts& facts, std::int32_t queries) {
    if (!unfit(spec).empty() || bytes(spec, queries) > static_cast<double>(facts.local_bytes)) return 0;
    return time(spec, facts, queries).cost().cycles;
  }
};

}  // namespace dnnkit::opencl::planned
