// SPDX-License-Identifier: MIT
// Which stages are attention, softmax(f(Q K')) V, that one OpenCL kernel computes (opencl/attention.hpp), and what it
// is expected to take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "dnnkit/op/matmul.hpp"
#include "dnnkit/op/softmax.hpp"
#include "dnnkit/opencl/attention_tile.hpp"
#include "dnnkit/opencl/joined_stages.hpp"
#include "dnnkit/opencl/planned/stage_chain.hpp"

namespace dnnkit::opencl {

// Three stages: a product, a softmax along its rows, and a product of these with another factor.
class attention_stages {
 public:
  // spec: the last.
  constexpr explicit attention_stages(const kernel_spec& spec)
      : scores(spec.stage(0)), weights(spec.stage(1)), values(spec) {}

  kernel_spec scores, weights, values;

  // Why there is no kernel for them; empty when there may be one.
  constexpr std::string_view unfit() const {
    const std::size_t rank = values.rank();
    if (rank < 2 || scores.rank() != rank || weights.rank() != rank || values.rank_of(0) != rank)
      return "the stages do not have the same axes";
    if (weights.self().rows.axes.bits != 1u << (rank - 1)) return "the softmax does not run along rows of the product";
    for (const kernel_spec* s : {&scores, &weights, &values}) {
      if (!has_known_extents(*s)) return "extents are not known before the network runs";
      if (const std::string_view why = unreadable(*s); !why.empty()) return why;
    }
    if (scores.rank_of(0) < 2 || scores.rank_of(1) < 2 || values.rank_of(1) < 2) return "a factor is a vector";
    for (std::size_t d = 0; d < rank; ++d) {
      const bool is_row = d + 1 < rank;
      if (!(scores.space(d) == weights.space(d)) || !(scores.space(d) == values.extent_of(0, d)) ||
          (is_row && !(scores.space(d) == values.space(d))) || (is_row && !(follows(scores, d) && follows(weights, d))))
        return "a tile of the last product is not one of the first";
    }
    if (values.tile(rank - 2) == 0) return "tiles are not of queries";
    if (weights.output(0).value.from != plan::source::anchor || values.input(0).from != plan::source::load ||
        !planned::stage_chain(values).hands_first_operand(2))
      return "something is computed from the softmax's results";
    if (!hands_as_it_is(scores, weights) || !hands_as_it_is(weights, values))
      return "scores are rearranged on their way";
    return {};
  }
  constexpr attention_extents extents() const {
    const std::size_t rank = values.rank();
    attention_extents x;
    for (std::size_t d = 0; d + 2 < rank; ++d) x.heads *= values.space(d).value();
    x.queries = values.space(rank - 2).value();
    x.width = values.space(rank - 1).value();
    x.keys = scores.space(rank - 1).value();
    x.depth = scores.extent_of(0, scores.rank_of(0) - 1).value();
    return x;
  }

 private:
  // Has a tile the same positions of axis d in this stage?
  constexpr bool follows(const kernel_spec& stage, std::size_t d) const {
    if (values.space(d) == 1) return true;
    return stage.plan().reaches_of(stage.self().reach)[d] == plan::tile_reach{static_cast<std::int8_t>(d)};
  }
};

struct attention {
  static constexpr std::string_view name = "attention";

  static constexpr tile_wish joins(std::span<const plan::operator_tag> anchors, const gpu_facts&) {
    if (anchors.size() != 3 || anchors[1].id != id_of<op::softmax>) return {};
    if (anchors[0].id != id_of<op::matmul> || anchors[2].id != id_of<op::matmul>) return {};
    return {.positions = 16, .whole_axes = 1};
  }
  static constexpr std::int32_t positions(const kernel_spec& spec, const gpu_facts& facts) {
    const attention_stages stages(spec);
    if (!stages.unfit().empty()) return 0;
    return static_cast<std::int32_t>(tile_for(stages.extents(), facts).bq);
  }
  static constexpr kernel_match match(const kernel_spec& spec, const gpu_facts& facts) {
    const attention_stages stages(spec);
    if (const std::string_view why = stages.unfit(); !why.empty()) return no_match{why};
    const attention_tile t = tile_for(stages.extents(), facts);
    if (t.bq == 0) return no_match{"local memory does not hold some queries and keys of a head"};
    kernel_choice c =
        planned::choice_of(time(stages, facts, t), "scores stay in local memory, for some queries and keys at a time");
    for (std::int64_t n : {t.bq, t.bk, t.tm, t.tn, t.slices, t.step, t.buffers})
      c.parameters.push_back(static_cast<std::int32_t>(n));
    return c;
  }

 private:
  // The kind of device that tiles are fitted to, with as many compute units and as much local memory.
  static constexpr product_gpu gpu_of(const gpu_facts& facts) {
    product_gpu gpu;
    gpu.compute_units = facts.compute_units;
    gpu.group_local = std::min(gpu.group_local, facts.local_bytes / 4);
    return gpu;
  }
  static constexpr attention_tile tile_for(const attention_extents& x, const gpu_facts& facts) {
    return choose_attention_tile(x, gpu_of(facts));
  }
  static constexpr gpu_kernel_time time(const attention_stages& s, const gpu_facts& facts, const attention_tile& t) {
    constexpr double fitted_to = devices::h200.lanes * devices::h200.gigahertz;
    const gpu_stage scores(s.scores), weights(s.weights), values(s.values);
    gpu_work w;
    const double clocks = detail::clocks_of_tile(s.extents(), t, gpu_of(facts)) - detail::clocks_of_launch;
    w.compute =
        clocks / (1e3 * devices::h200.gigahertz) * fitted_to / (facts.lanes * facts.gigahertz) +
        element_time(facts, scores.elements() * (scores.operations_behind() + weights.operations(weights.input(0))) +
                                values.elements() * values.operations_behind());
    for (const gpu_stage& stage : {scores, weights, values}) stage.add_operands(facts, w);
    gpu_kernel_time all(facts);
    all.add(w);
    return all;
  }
};

}  // namespace dnnkit::opencl
