// SPDX-License-Identifier: MIT
// What is known of fusing an edge whose cell of the mapping table is yellow (DNNFusion, section 3.4.3, "Step 2.3: get
// latency"): what was measured of such an edge (cost/profile.hpp), or, where nothing was, what the cost model says
// (cost/estimate.hpp) of the work that is not the same in one kernel and in two: what is stored between them and
// loaded again, elements that leave vectors or enter them one by one, what would be computed again, and the second
// kernel's beginning.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "dnnkit/core/namespaces.hpp"
#include "dnnkit/core/vector.hpp"
#include "dnnkit/cost/estimate.hpp"
#include "dnnkit/cost/operator_cycles.hpp"
#include "dnnkit/cost/profiles.hpp"
#include "dnnkit/graph/graph.hpp"
#include "dnnkit/graph/walk.hpp"
#include "dnnkit/plan/kernel_spec.hpp"
#include "dnnkit/tensor/view.hpp"

namespace dnnkit::plan {

enum class answered_by : std::uint8_t { nobody, measurement, cost_model };

constexpr std::string_view unit_of(answered_by by) {
  return by == answered_by::measurement ? "% of the time of two, measured" : "cycles by the cost model";
}

struct edge_answer {
  answered_by by = answered_by::nobody;
  double fused = 0, apart = 0;  // measurement: per cent of the time apart; model: cycles, but for what is the same
  // What was measured is not told apart within two per cent, and then one kernel is better than two.
  constexpr bool pays() const { return by == answered_by::measurement ? fused <= 1.02 * apart : fused < apart; }
};

// An edge: from the operator that a block has its type of, or that computes the value itself, through movement
// operators, to one that reads the last one's result.
struct profiled_edge {
  const node& source;             // of the first block
  std::span<const node_id> path;  // what computes the value, then the movement operators behind it
  const node& second;
  mapping from;     // of the first block
  mapping through;  // the type furthest from One-to-One behind it
};

class edge_profile {
 public:
  // `facts`: null for a target of which none are known.
  constexpr edge_profile(graph& g, const value_users& users, const cpu_facts* facts, const profiled_edge& edge)
      : g_(g), users_(users), facts_(facts), edge_(edge) {}

  // Found out when it is first asked for. Nobody answers for a target without facts.
  constexpr const edge_answer& answer() {
    if (!asked_ && facts_ != nullptr) find_answer();
    asked_ = true;
    return answer_;
  }
  constexpr bool was_asked() const { return asked_; }
  // What the cost model says, whoever decides. There must be facts.
  constexpr edge_answer by_model() {
    edge_answer model{answered_by::cost_model, 0, 0};
    if (is_anchor(edge_.second)) weigh_prologue(model);
    else weigh_epilogue(model);
    return model;
  }

  constexpr profile_key key() {
    return {edge_.source.op->name, edge_.second.op->name, edge_.from,
            edge_.through,         order_of_elements(),   size_class_of(elements(g_.node_at(edge_.path[0]).output))};
  }

 private:
  constexpr void find_answer() {
    if (const profile_table table = table_of(facts_->profile); !table.empty())
      if (const profile_entry* const found = find(table, key())) {
        answer_ = {answered_by::measurement, 100 * found->ratio, 100};
        return;
      }
    answer_ = by_model();
  }
  static constexpr bool is_anchor(const node& n) {
    return n.op->kind != form::elementwise && n.op->kind != form::movement;
  }

  // Elements that symbols decide count as typical ones.
  constexpr double elements(value_id v) const {
    double n = 1;
    for (const dim d : g_.at(v).type.dims) n *= static_cast<double>(d.is_known() ? d.value() : typical_extent);
    return n;
  }

  // The second operator in the kernel of the first, which stores in its coordinates.
  constexpr void weigh_epilogue(edge_answer& model) {
    const double between = elements(g_.node_at(edge_.path[0]).output), stored = elements(edge_.second.output);
    const bool across = order_of_elements() == element_order::across;
    const memory_level level = level_of(*facts_, 4 * (between + stored));
    kernel_work fused, first, second;
    fused.traffic.add_written(level, 4 * stored);
    if (across) fused.scattered = stored;
    if (stored > between && edge_.from == mapping::many_to_many)
      fused.vectors = (stored / between - 1) * flops(edge_.source) / (2 * facts_->float_lanes);
    first.traffic.add_written(level, 4 * between);
    second.traffic.add_read(level, 4 * between);
    second.traffic.add_written(level, 4 * stored);
    if (across) second.gathered = stored;
    model.fused = estimate(*facts_, fused).cycles;
    model.apart = estimate(*facts_, first).cycles + estimate(*facts_, second).cycles;
  }
  // The first operator in the kernel of the second, an anchor, which reads it through the movement either way. What
  // goes over its operand several times computes it as often, and a block that shuffles elements reads them one by one.
  constexpr void weigh_prologue(edge_answer& model) {
    const double between = elements(g_.node_at(edge_.path[0]).output);
    const memory_level level = level_of(*facts_, 8 * between);
    const double times = edge_.second.op->kind == form::row ? 2 : 1;
    const double vectors = between / facts_->float_lanes * vector_cycles(*facts_, edge_.source.op->id);
    kernel_work fused, first, second;
    fused.cycles = times * vectors;
    fused.traffic.add_read(level, 4 * between);
    if (edge_.from == mapping::shuffle) {
      fused.gathered = times * between;
      first.gathered = between;
    }
    first.cycles = vectors;
    first.traffic.add_read(level, 4 * between);
    first.traffic.add_written(level, 4 * between);
    second.traffic.add_read(level, 4 * between);
    model.fused = estimate(*facts_, fused).cycles;
    model.apart = estimate(*facts_, first).cycles + estimate(*facts_, second).cycles;
  }
  constexpr double flops(const node& n) {
    const dim f = g_.flops_of(n);
    return f.is_known() ? static_cast<double>(f.value()) : elements(n.output) * typical_extent;
  }

  // Do elements that lie next to each other behind the movement do so in front of it?
  constexpr element_order order_of_elements() {
    if (edge_.path.size() == 1) return element_order::along;
    view_algebra algebra(g_.symbols);
    const value& from = g_.at(g_.node_at(edge_.path[0]).output);
    view v = stored_view(algebra, from.type.dims);
    for (const node_id n : edge_.path.subspan(1)) {
      const node& moves = g_.node_at(n);
      const movement m{algebra, g_.at(g_.input_of(moves, 0)).type.dims, g_.at(moves.output).type.dims};
      if (!moves.op->forward || !moves.op->forward(g_.attributes_of(moves), m, v)) return element_order::across;
    }
    if (is_stored_channels_last(edge_.second)) return innermost(v, 1).value_or(element_order::along);
    for (std::size_t d = v.dims.size(); d-- > 0;)
      if (const auto order = innermost(v, d)) return *order;
    return element_order::along;
  }
  // Of a logical dimension; nothing where that is of one element.
  static constexpr std::optional<element_order> innermost(const view& v, std::size_t d) {
    for (std::size_t k = v.dims[d].size(); k-- > 0;)
      if (const axis& a = v.dims[d][k]; !(a.size == dim(1)))
        return a.stride == dim(1) ? element_order::along : element_order::across;
    return std::nullopt;
  }
  // Layouts are selected later: an image that a convolution or pool reads, also behind element-wise operators, is taken
  // to become one with its channels last.
  constexpr bool is_stored_channels_last(const node& n) const {
    if (const std::size_t rank = g_.at(n.output).type.dims.size(); rank < 3 || rank > 5) return false;
    const node* at = &n;
    for (int steps = 0; steps < 4; ++steps) {
      const value_users::range readers = users_[at->output];
      const node* next = nullptr;
      for (const node_id r : readers) {
        const node& reader = g_.node_at(r);
        if (reader.op->properties.contiguous_axis == 1) return true;
        if (reader.op->kind == form::elementwise) next = &reader;
      }
      if (next == nullptr) return false;
      at = next;
    }
    return false;
  }
  // Channels last behind what wants it so.
  constexpr view stored_view(const view_algebra& algebra, const shape& dims) const {
    const std::int8_t innermost = edge_.source.op->properties.contiguous_axis;
    if (innermost != 1 || dims.size() < 3) return algebra.row_major(dims);
    int_list order;
    for (std::size_t i = 0; i < dims.size(); ++i)
      if (i != 1) order.push_back(static_cast<std::int64_t>(i));
    order.push_back(1);
    return algebra.dense(dims, order, dims);
  }

  graph& g_;
  const value_users& users_;
  const cpu_facts* const facts_;
  const profiled_edge edge_;
  edge_answer answer_;
  bool asked_ = false;
};

}  // namespace dnnkit::plan
