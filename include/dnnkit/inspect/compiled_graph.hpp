// SPDX-License-Identifier: MIT
// A compiled network as its printers see it: the plan, the graph whose nodes it numbers, and why they were grouped so.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "dnnkit/compile.hpp"
#include "dnnkit/cpu/families.hpp"
#include "dnnkit/graph/graph.hpp"
#include "dnnkit/op/traits.hpp"
#include "dnnkit/pass/fusion_block.hpp"
#include "dnnkit/pass/fusion_plan.hpp"
#include "dnnkit/pass/make_plan.hpp"
#include "dnnkit/plan/plan.hpp"

namespace dnnkit::detail {

class compiled_graph {
 public:
  // Of Net, a dk::compile<...>; the fusion pass runs again, because its reasons are not part of the plan.
  template <class Net> static compiled_graph of() {
    using pipeline = typename Net::pipeline;
    compiled_graph c;
    c.plan = Net::recorded_plan();
    c.g = rewritten_graph_of<typename Net::model, pipeline>();
    c.fusion = planning_of<pipeline>::template run<typename Net::target>(c.g).fusion;
    c.index();
    return c;
  }

  // Of a graph built at run time, which Pipeline turns into a plan; plan.error says why if there is none.
  template <class Pipeline> static compiled_graph of_graph(graph built) {
    compiled_graph c;
    schedule s = Pipeline::run(std::move(built), cpu::default_families.table);
    c.draft_ = std::make_shared<const plan_draft>(std::move(s.plan));
    c.plan = view_of(*c.draft_);
    c.g = std::move(s.g);
    if (c.plan.error.empty()) c.fusion = std::move(s.fusion);
    c.index();
    return c;
  }

  plan_view plan;
  graph g;
  fusion_plan fusion;

  std::span<const node_id> nodes_of(const step& s) const { return plan.numbers_of(s.nodes); }

  // The same in the order in which the kernel computes them, as the plan's recipes have them: what is computed while
  // the anchor's operands are read, the anchor, what follows it.
  std::vector<node_id> in_order_of_computation(const step& s) const {
    const auto nodes = nodes_of(s);
    std::vector<node_id> order;
    std::vector<bool> done(nodes.size());
    for (node_id n : nodes)
      if (is_anchor(n)) compute(n, nodes, done, order);
    if (const fusion_group* group = group_of(s))
      for (value_id v : group->outputs) compute(g.at(v).producer, nodes, done, order);
    for (node_id n : nodes) compute(n, nodes, done, order);  // movement of which only the shape is needed
    return order;
  }

  // Movement operators between the stored values that a step reads and its nodes: they only say where elements lie.
  std::vector<node_id> views_of(const step& s) const {
    std::vector<node_id> views, waiting(nodes_of(s).begin(), nodes_of(s).end());
    std::unordered_set<node_id> seen(waiting.begin(), waiting.end());
    while (!waiting.empty()) {
      const node_id n = waiting.back();
      waiting.pop_back();
      for (std::size_t i = 0; i < g.node_at(n).inputs.count; ++i) {
        const value_id v = g.input_of(g.node_at(n), i);
        const node_id p = v == none ? none : g.at(v).producer;
        if (p == none || stored_[static_cast<std::size_t>(v)] || !is_movement(p) || !seen.insert(p).second) continue;
        views.push_back(p);
        waiting.push_back(p);
      }
    }
    std::sort(views.begin(), views.end());
    return views;
  }

  // Of a step's nodes, or of a group's, which are in topological order.
  static bool contains(std::span<const node_id> nodes, node_id n) {
    return std::binary_search(nodes.begin(), nodes.end(), n);
  }
  bool is_movement(node_id n) const { return g.node_at(n).op->kind == form::movement; }
  bool is_anchor(node_id n) const { return fusion_blocks::is_anchor(g.node_at(n)); }
  bool is_stored(value_id v) const { return stored_[static_cast<std::size_t>(v)]; }

  // The group that became step s; null when there is none.
  const fusion_group* group_of(const step& s) const {
    const auto nodes = nodes_of(s);
    if (!nodes.empty())
      for (std::int32_t k : groups_ending_in_[static_cast<std::size_t>(nodes.back())])
        if (const fusion_group& group = fusion.groups[k];
            std::equal(nodes.begin(), nodes.end(), group.nodes.begin(), group.nodes.end()))
          return &group;
    return nullptr;
  }
  // The group that stores the output of node n, else the last one that n is in; null when there is none.
  const fusion_group* home_of(node_id n) const {
    const std::int32_t home = homes_[static_cast<std::size_t>(n)];
    return home == none ? nullptr : &fusion.groups[home];
  }
  // What was decided about the edges that node n is at either end of: positions in fusion.decisions, in their order.
  std::span<const std::size_t> decisions_at(node_id n) const { return decisions_at_[static_cast<std::size_t>(n)]; }

  // The movement operators between the output of `first` and `second`, which reads it; empty when it reads it directly.
  std::vector<node_id> movement_between(node_id first, node_id second) const {
    for (std::size_t i = 0; i < g.node_at(second).inputs.count; ++i) {
      std::vector<node_id> way;
      const value_id v = g.input_of(g.node_at(second), i);
      for (node_id p = v == none ? none : g.at(v).producer; p != none;
           p = is_movement(p) ? g.at(g.input_of(g.node_at(p), 0)).producer : none) {
        if (p == first) return {way.rbegin(), way.rend()};
        way.push_back(p);
      }
    }
    return {};
  }

 private:
  // To be called once graph and fusion plan are there.
  void index() {
    stored_.resize(g.values.size());
    homes_.resize(g.nodes.size(), none);
    groups_ending_in_.resize(g.nodes.size());
    decisions_at_.resize(g.nodes.size());
    std::vector<bool> is_final(g.nodes.size());  // the home is that which stores the output
    for (std::size_t k = 0; k < fusion.groups.size(); ++k) {
      const fusion_group& group = fusion.groups[k];
      const auto number = static_cast<std::int32_t>(k);
      groups_ending_in_[static_cast<std::size_t>(group.nodes.back())].push_back(number);
      for (node_id n : group.nodes)
        if (!is_final[static_cast<std::size_t>(n)]) homes_[static_cast<std::size_t>(n)] = number;
      for (value_id v : group.outputs) {
        stored_[static_cast<std::size_t>(v)] = true;
        const auto n = static_cast<std::size_t>(g.at(v).producer);
        if (!is_final[n]) homes_[n] = number;
        is_final[n] = true;
      }
    }
    for (std::size_t k = 0; k < fusion.decisions.size(); ++k) {
      const fusion_decision& d = fusion.decisions[k];
      decisions_at_[static_cast<std::size_t>(d.first)].push_back(k);
      decisions_at_[static_cast<std::size_t>(d.second)].push_back(k);
    }
  }

  // Appends n and, before it, what it needs of `nodes`.
  void compute(node_id n, std::span<const node_id> nodes, std::vector<bool>& done, std::vector<node_id>& order) const {
    const auto found = std::lower_bound(nodes.begin(), nodes.end(), n);
    if (n == none || found == nodes.end() || *found != n || done[static_cast<std::size_t>(found - nodes.begin())])
      return;
    done[static_cast<std::size_t>(found - nodes.begin())] = true;
    for (std::size_t i = 0; i < g.node_at(n).inputs.count; ++i)
      if (const value_id v = g.input_of(g.node_at(n), i); v != none) compute(g.at(v).producer, nodes, done, order);
    order.push_back(n);
  }

  std::shared_ptr<const plan_draft> draft_;  // of a graph built at run time: what `plan` views
  std::vector<bool> stored_;                 // of values
  std::vector<std::int32_t> homes_;          // of nodes: their group, or none
  std::vector<std::vector<std::int32_t>> groups_ending_in_;
  std::vector<std::vector<std::size_t>> decisions_at_;
};

}  // namespace dnnkit::detail
