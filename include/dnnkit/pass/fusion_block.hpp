// SPDX-License-Identifier: MIT
// The constraint check of fusion: whether a set of nodes can be one kernel (DNNFusion, Listing 3.1, step 2.2).
//
// A kernel has at most one anchor, an operator that is neither element-wise nor movement. What lies before the anchor
// is its prologue, what lies behind it its epilogue. The epilogue runs in the anchor's iteration space, so movement in
// it must be a bijection and nothing in it may grow by broadcast. Values that others read must be stored, which is
// possible in the iteration space only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/graph/walk.hpp"
#include "dnnkit/pass/epilogue_views.hpp"
#include "dnnkit/pass/fusion_plan.hpp"

namespace dnnkit {

class fusion_blocks {
 public:
  static constexpr std::size_t most_nodes = 32, most_operands = 16;

  constexpr explicit fusion_blocks(graph& g)
      : g_(g),
        users_(users_of_values(g)),
        member_(g.nodes.size(), 0),
        reached_(g.nodes.size(), 0),
        group_of_(g.nodes.size(), none),
        read_in_(g.nodes.size(), none) {}

  constexpr const vector<fusion_group>& settled() const { return groups_; }
  // The settled kernel a node belongs to; none for a node in none, and for movement operators, which may be in several.
  constexpr std::int32_t group_of(node_id n) const { return group_of_[n]; }

  constexpr void settle(fusion_group&& group) {
    groups_.push_back({});
    replace(groups_.size() - 1, static_cast<fusion_group&&>(group));
  }
  constexpr void replace(std::size_t settled, fusion_group&& group) {
    for (node_id n : group.nodes)
      if (g_.nodes[n].op->kind != form::movement) group_of_[n] = static_cast<std::int32_t>(settled);
    groups_[settled] = static_cast<fusion_group&&>(group);
  }
  // Hands over the settled kernels; only single nodes can be checked afterwards.
  constexpr vector<fusion_group> take() { return static_cast<vector<fusion_group>&&>(groups_); }

  constexpr const value_users& users() const { return users_; }

  static constexpr bool is_anchor(const node& n) {
    const form kind = n.op->kind;
    return kind != form::elementwise && kind != form::movement;
  }

  // Empty when `nodes` (topologically sorted) can be one kernel, whose anchor and outputs are then set; else the
  // reason, and the group is left as it was.
  constexpr std::string_view check(fusion_group& group) {
    const vector<node_id>& nodes = group.nodes;
    for (node_id n : nodes) member_[n] = 1;
    const std::string_view reason = check_members(nodes);
    for (node_id n : nodes) member_[n] = 0;
    if (!reason.empty()) return reason;
    group.anchor = anchor_;
    group.outputs = outputs_;
    return {};
  }

  // Adds n to a sorted list that does not have it yet.
  static constexpr void add(vector<node_id>& nodes, node_id n) {
    std::size_t k = nodes.size();
    while (k > 0 && nodes[k - 1] > n) --k;
    if (k > 0 && nodes[k - 1] == n) return;
    nodes.push_back(n);
    for (std::size_t i = nodes.size() - 1; i > k; --i) nodes[i] = nodes[i - 1];
    nodes[k] = n;
  }

 private:
  constexpr bool inside(node_id n) const { return n != none && member_[n] != 0; }
  constexpr node_id producer(value_id v) const { return v == none ? none : g_.values[v].producer; }

  // What follows sets anchor_ and outputs_ on its way.
  constexpr std::string_view check_members(const vector<node_id>& nodes) {
    if (nodes.size() > most_nodes) return "too many operators for one kernel";
    anchor_ = none;
    std::size_t operands = 0;
    for (node_id n : nodes) {
      const node& x = g_.nodes[n];
      for (std::uint32_t i = x.inputs.first; i < x.inputs.first + x.inputs.count; ++i)
        if (const value_id v = g_.operands[i]; v != none && !inside(g_.values[v].producer)) ++operands;
      if (!is_anchor(x)) continue;
      if (anchor_ != none) return "one anchor a kernel";
      anchor_ = n;
    }
    if (operands > most_operands && nodes.size() > 1) return "too many operands for one kernel";
    find_outputs(nodes);
    if (outputs_.empty()) return "nothing to store";
    if (leaves_and_returns(nodes)) return "a path leaves the kernel and comes back";
    return anchor_ == none ? check_iteration_space(nodes) : check_epilogue(nodes);
  }

  // Stored is what the graph gives out and what nodes elsewhere read. Those see through a movement operator to its
  // input, which is then stored in its place, unless the movement is the last of the kernel.
  constexpr void find_outputs(const vector<node_id>& nodes) {
    constexpr std::uint8_t read_through_movement = 2;
    outputs_.clear();
    for (std::size_t k = nodes.size(); k-- > 0;) {
      const node& x = g_.nodes[nodes[k]];
      bool read_inside = false, read_outside = member_[nodes[k]] == read_through_movement;
      for (node_id u : users_[x.output]) (member_[u] != 0 ? read_inside : read_outside) = true;
      const bool seen_through = read_inside && x.op->kind == form::movement;
      if ((read_outside && !seen_through) || is_output(g_, x.output)) outputs_.push_back(x.output);
      else if (read_outside)
        if (const node_id p = producer(g_.input_of(x, 0)); inside(p)) member_[p] = read_through_movement;
    }
  }

  // Is there a path from a member through other nodes to a member? Kernels that are already settled count as one node
  // each. Nodes behind the last member are not followed, so a rare cycle between kernels is left for the planner's
  // final ordering to find.
  constexpr bool leaves_and_returns(const vector<node_id>& nodes) {
    work_.clear();
    reached_nodes_.clear();
    const node_id last = nodes.back();
    for (node_id n : nodes)
      for (node_id u : users_[g_.nodes[n].output])
        if (u <= last && member_[u] == 0) reach(u);
    bool found = false;
    while (!work_.empty() && !found) {
      const node_id n = work_.back();
      work_.pop_back();
      if (member_[n] != 0) found = true;
      else if (const std::int32_t settled = group_of_[n]; settled == none) follow(n, last);
      else
        for (node_id m : groups_[settled].nodes) follow(m, last);
    }
    for (node_id n : reached_nodes_) reached_[n] = 0;
    return found;
  }
  constexpr void follow(node_id from, node_id last) {
    for (node_id u : users_[g_.nodes[from].output])
      if (u <= last) reach(u);
  }
  constexpr void reach(node_id n) {
    if (reached_[n] != 0) return;
    reached_[n] = 1;
    reached_nodes_.push_back(n);
    work_.push_back(n);
  }

  constexpr std::string_view check_iteration_space(const vector<node_id>& nodes) const {
    if (outputs_.size() == 1) return {};
    const shape& space = g_.values[outputs_[0]].type.dims;
    for (value_id o : outputs_)
      if (!(g_.values[o].type.dims == space)) return "outputs of different shapes";
    for (node_id n : nodes)
      if (g_.nodes[n].op->kind == form::movement) return "several outputs in different coordinates";
    return {};
  }

  constexpr std::string_view check_epilogue(const vector<node_id>& nodes) {
    // read_in_[n]: the anchor, or the last movement operator between it and member n; none before the anchor
    bool moves = false;
    for (node_id n : nodes) {
      node_id& read_in = read_in_[n];
      read_in = n == anchor_ ? anchor_ : none;
      if (n <= anchor_) continue;
      const node& x = g_.nodes[n];
      for (std::uint32_t i = x.inputs.first; i < x.inputs.first + x.inputs.count; ++i) {
        const value_id v = g_.operands[i];
        const node_id p = producer(v), before = inside(p) ? read_in_[p] : none;
        if (before == none) continue;
        if (read_in != none && read_in != before) return "operands of the epilogue in different coordinates";
        read_in = before;
        if (x.op->kind == form::movement) {
          if (!x.op->backward) return "only bijections can follow the anchor";
          read_in = n;
          moves = true;
        } else if (!(g_.values[v].type.dims == g_.values[x.output].type.dims)) return "broadcast behind the anchor";
      }
    }
    for (value_id o : outputs_)
      if (read_in_[g_.values[o].producer] == none)
        return "a value beside the anchor's iteration space is read elsewhere";
    if (moves) {
      epilogue_views views(g_, anchor_, [&](node_id n) { return inside(n); });
      for (value_id o : outputs_)
        if (!views.exist(o)) return "movement behind the anchor that no view can undo";
    }
    return {};
  }

  graph& g_;
  value_users users_;
  vector<std::uint8_t> member_, reached_;
  vector<std::int32_t> group_of_;
  vector<fusion_group> groups_;
  // of the group under examination
  node_id anchor_ = none;
  vector<value_id> outputs_;
  vector<node_id> work_, reached_nodes_, read_in_;
};

}  // namespace dnnkit
