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
#include <string_view>

#include "dnnkit/core/namespaces.hpp"
#include "dnnkit/core/vector.hpp"
#include "dnnkit/cost/estimate.hpp"
#include "dnnkit/cost/operator_cycles.hpp"
#include "dnnkit/cost/profiles.hpp"
#include "dnnkit/graph/graph.hpp"
#include "dnnkit/graph/walk.hpp"
#include "dnnkit/pass/decision_log.hpp"
#include "dnnkit/pass/mapping_table.hpp"
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
  // What was measured is not told apart within five per cent, and then one kernel is better than two.
  static constexpr double not_told_apart = 1.05;
  constexpr bool pays() const {
    return by == answered_by::measurement ? fused <= not_told_apart * apart : fused < apart;
  }
};

// For the log: what decided, and what the cost model says.
struct edge_costs {
  edge_answer known, model;
  constexpr void add(const decision& d, const decision_notes& notes) const {
    if (known.by == answered_by::nobody) return notes.add(d);
    const std::string_view cycles = unit_of(answered_by::cost_model);
    const compared_cost one{"one kernel", cycles, model.fused}, two{"two", cycles, model.apart};
    if (known.by == answered_by::cost_model) notes.add(d, {one, two});
    else
      notes.add(d, {{"one kernel", unit_of(known.by), known.fused},
                    {"fused up to", "%", edge_answer::not_told_apart * known.apart},
                    one,
                    two});
  }
};

class edge_profile {
 public:
  // `source`: the operator that the first block has its type of, or that computes the value itself. `path`: what
  // computes the value, then the movement operators behind it; it must outlive this. `second` reads the last one's
  // result, and `result` is what the kernel of both stores. `from`, `through`: the types of the first block and of what
  // is behind the movement. `facts`: of the target, if any are known. Nothing is known either of an edge that
  // ends in a red cell.
  constexpr edge_profile(graph& g, const value_users& users, known_facts facts, node_id source,
                         const vector<node_id>& path, const node& second, value_id result, mapping from,
                         mapping through)
      : g_(g),
        users_(users),
        facts_(facts),
        source_(g.node_at(source)),
        path_{path.items, path.count},
        second_(second),
        result_(result),
        from_(from),
        through_(through) {
    mapping type = from;
    const auto go_on = [&](mapping next) {
      const fused f = fuse(type, next);
      type = f.type;
      if (f.decision == verdict::never) facts_ = {};
      if (next > through_) through_ = next;
    };
    for (const node_id n : path_.subspan(1)) go_on(g.node_at(n).op->properties.map);
    go_on(through);
  }

  // Found out when it is first asked for. Nobody answers for a target without facts.
  constexpr const edge_answer& answer() {
    if (!asked_ && facts_) find_answer();
    asked_ = true;
    return answer_;
  }
  // What was compared, if that was asked for.
  constexpr edge_costs costs() {
    if (!asked_ || answer_.by == answered_by::nobody) return {};
    return {answer_, by_model()};
  }
  // What the cost model says, whoever decides. There must be facts.
  constexpr edge_answer by_model() {
    edge_answer model{answered_by::cost_model, 0, 0};
    if (is_anchor(second_)) weigh_prologue(model);
    else weigh_epilogue(model);
    return model;
  }

  constexpr profile_key key() {
    return {source_.op->name, second_.op->name,    from_,
            through_,         order_of_elements(), size_class_of(elements(g_.node_at(path_[0]).output))};
  }

 private:
  constexpr void find_answer() {
    if (const profile_table table = table_of(facts_->profile); !table.empty())
      if (const std::optional<double> ratio = find(table, key())) {
        answer_ = {answered_by::measurement, 100 * *ratio, 100};
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
    for (const dim d : g_.at(v).type.dims) n *= static_cast<double>(g_.symbols.typical(d));
    return n;
  }

  // The second operator in the kernel of the first, which stores in its coordinates.
  constexpr void weigh_epilogue(edge_answer& model) {
    const double between = elements(g_.node_at(path_[0]).output), stored = elements(result_);
    const bool across = order_of_elements() == element_order::across;
    const memory_level level = level_of(*facts_, 4 * (between + stored));
    kernel_work fused, first, second;
    fused.traffic.add_written(level, 4 * stored);
    if (across) fused.scattered = stored;
    if (stored > between && from_ == mapping::many_to_many)
      fused.vectors = (stored / between - 1) * flops(source_) / (2 * facts_->float_lanes);
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
    const double between = elements(g_.node_at(path_[0]).output);
    const memory_level level = level_of(*facts_, 8 * between);
    const double times = second_.op->kind == form::row ? 2 : 1;
    const double vectors = between / facts_->float_lanes * vector_cycles(*facts_, source_.op->id);
    kernel_work fused, first, second;
    fused.cycles = times * vectors;
    fused.traffic.add_read(level, 4 * between);
    if (from_ == mapping::shuffle) {
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
    return f.is_known() ? static_cast<double>(f.value()) : elements(n.output) * symbol::usual;
  }

  // Do elements that lie next to each other behind the movement do so in front of it?
  constexpr element_order order_of_elements() {
    if (path_.size() == 1) return element_order::along;
    view_algebra algebra(g_.symbols);
    const value& from = g_.at(g_.node_at(path_[0]).output);
    view v = stored_view(algebra, from.type.dims);
    for (const node_id n : path_.subspan(1)) {
      const node& moves = g_.node_at(n);
      const movement m{algebra, g_.at(g_.input_of(moves, 0)).type.dims, g_.at(moves.output).type.dims};
      if (!moves.op->forward || !moves.op->forward(g_.attributes_of(moves), m, v)) return element_order::across;
    }
    const bool may_differ = source_.op->kind != form::row;  // rows are computed in the order of what reads them
    if (may_differ && v.dims.size() == g_.at(second_.output).type.dims.size() && is_stored_channels_last(second_))
      return innermost(v, 1).value_or(element_order::along);
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
  // Layouts are selected later: an image that a convolution or pool reads, also behind element-wise operators, Reshapes
  // and normalisations, is taken to become one with its channels last.
  constexpr bool is_stored_channels_last(const node& n) const {
    if (const std::size_t rank = g_.at(n.output).type.dims.size(); rank < 3 || rank > 5) return false;
    const node* at = &n;
    for (int steps = 0; steps < 8; ++steps) {
      const value_users::range readers = users_[at->output];
      const node* next = nullptr;
      for (const node_id r : readers) {
        const node& reader = g_.node_at(r);
        if (reader.op->properties.contiguous_axis == 1) return true;
        const bool keeps_axes = reader.op->properties.map == mapping::one_to_one ||
                                reader.op->properties.map == mapping::reorganize || reader.op->kind == form::row;
        if (keeps_axes) next = &reader;
      }
      if (next == nullptr) return false;
      at = next;
    }
    return false;
  }
  // Channels last behind what wants it so.
  constexpr view stored_view(const view_algebra& algebra, const shape& dims) const {
    const std::int8_t innermost = source_.op->properties.contiguous_axis;
    if (innermost != 1 || dims.size() < 3) return algebra.row_major(dims);
    int_list order;
    for (std::size_t i = 0; i < dims.size(); ++i)
      if (i != 1) order.push_back(static_cast<std::int64_t>(i));
    order.push_back(1);
    return algebra.dense(dims, order, dims);
  }

  graph& g_;
  const value_users& users_;
  known_facts facts_;
  const node& source_;
  const std::span<const node_id> path_;
  const node& second_;
  const value_id result_;
  const mapping from_;
  mapping through_;  // the type furthest from One-to-One behind the first block
  edge_answer answer_;
  bool asked_ = false;
};

}  // namespace dnnkit::plan
