// SPDX-License-Identifier: MIT
// A compiled network as its printers see it: the plan, the graph whose nodes it numbers, and why they were grouped so.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "dnnkit/compile.hpp"
#include "dnnkit/graph/graph.hpp"
#include "dnnkit/op/traits.hpp"
#include "dnnkit/pass/fusion_plan.hpp"
#include "dnnkit/pass/make_plan.hpp"
#include "dnnkit/pass/mapping_table.hpp"
#include "dnnkit/plan/plan.hpp"

namespace dnnkit::detail {

class compiled_graph {
 public:
  // Of Net, a dk::compile<...>; the fusion pass runs again, because its reasons are not part of the plan.
  template <class Net> static compiled_graph of() {
    using pipeline = typename Net::pipeline;
    compiled_graph c;
    c.plan = Net::plan;
    c.g = rewritten_graph_of<typename Net::model, pipeline>();
    c.fusion = planning_of<pipeline>::template run<typename Net::target>(c.g).fusion;
    c.note_groups();
    return c;
  }

  // Of a graph built at run time, which Pipeline turns into a plan; plan.error says why if there is none.
  template <class Pipeline> static compiled_graph of_graph(graph built) {
    compiled_graph c;
    schedule s = Pipeline::run(std::move(built));
    c.draft_ = std::make_shared<const plan_draft>(std::move(s.plan));
    c.plan = view_of(*c.draft_);
    c.g = std::move(s.g);
    c.fusion = std::move(s.fusion);
    c.note_groups();
    return c;
  }

  plan_view plan;
  graph g;
  fusion_plan fusion;

  std::span<const node_id> nodes_of(const step& s) const { return plan.numbers_of(s.nodes); }

  // Movement operators between the stored values that a step reads and its nodes: they only say where elements lie.
  std::vector<node_id> views_of(const step& s) const {
    std::vector<node_id> views;
    for (node_id n : nodes_of(s)) add_views(n, nodes_of(s), views);
    std::sort(views.begin(), views.end());
    return views;
  }

  static bool contains(std::span<const node_id> nodes, node_id n) {
    return std::find(nodes.begin(), nodes.end(), n) != nodes.end();
  }
  bool is_movement(node_id n) const { return g.node_at(n).op->kind == form::movement; }

  // The group that became step s; null when there is none.
  const fusion_group* group_of(const step& s) const {
    const auto nodes = nodes_of(s);
    for (node_id n : nodes)  // one of them is in no other group
      if (const fusion_group* group = home_of(n);
          group != nullptr && std::equal(nodes.begin(), nodes.end(), group->nodes.begin(), group->nodes.end()))
        return group;
    for (const fusion_group& group : fusion.groups)
      if (std::equal(nodes.begin(), nodes.end(), group.nodes.begin(), group.nodes.end())) return &group;
    return nullptr;
  }
  // The group that stores the output of node n, else one that n is in; null when there is none.
  const fusion_group* home_of(node_id n) const {
    const std::int32_t home = home_[static_cast<std::size_t>(n)];
    return home == none ? nullptr : &fusion.groups[home];
  }

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

  // Why no kernel was made of an edge that the fusion pass did not ask about: from a group to one that reads its
  // result.
  static std::string_view reason_between(const fusion_group& first, const fusion_group& second) {
    if (fuse(first.type, second.type).decision == verdict::never) return "mapping types";
    return first.anchor != none && second.anchor != none ? "one anchor a kernel" : "already part of another kernel";
  }

 private:
  void note_groups() {
    stored_.resize(g.values.size());
    home_.assign(g.nodes.size(), none);
    for (std::size_t k = 0; k < fusion.groups.size(); ++k)
      for (node_id n : fusion.groups[k].nodes) home_[static_cast<std::size_t>(n)] = static_cast<std::int32_t>(k);
    for (std::size_t k = fusion.groups.size(); k-- > 0;)
      for (value_id v : fusion.groups[k].outputs) {
        stored_[static_cast<std::size_t>(v)] = true;
        if (const node_id p = g.at(v).producer; p != none)
          home_[static_cast<std::size_t>(p)] = static_cast<std::int32_t>(k);
      }
  }
  void add_views(node_id n, std::span<const node_id> members, std::vector<node_id>& views) const {
    for (std::size_t i = 0; i < g.node_at(n).inputs.count; ++i) {
      const value_id v = g.input_of(g.node_at(n), i);
      const node_id p = v == none ? none : g.at(v).producer;
      if (p == none || stored_[static_cast<std::size_t>(v)] || !is_movement(p)) continue;
      if (contains(members, p) || contains(views, p)) continue;
      views.push_back(p);
      add_views(p, members, views);
    }
  }

  std::shared_ptr<const plan_draft> draft_;  // of a graph built at run time: what `plan` views
  std::vector<bool> stored_;                 // of values
  std::vector<std::int32_t> home_;           // of nodes: see home_of
};

}  // namespace dnnkit::detail
