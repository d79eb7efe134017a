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
        group_of_(g.nodes.size(), none) {}

  constexpr const vector<fusion_group>& settled() const { return groups_; }
  // The settled kernel a node belongs to; none for a node in none, and for movement operators, which may be in several.
  constexpr std::int32_t group_of(node_id n) const { return group_of_[index(n)]; }

  constexpr void settle(const fusion_group& group) {
    for (node_id n : group.nodes)
      if (g_.node_at(n).op->kind != form::movement) group_of_[index(n)] = static_cast<std::int32_t>(groups_.size());
    groups_.push_back(group);
  }
  constexpr void replace(std::size_t settled, const fusion_group& group) {
    for (node_id n : group.nodes)
      if (g_.node_at(n).op->kind != form::movement) group_of_[index(n)] = static_cast<std::int32_t>(settled);
    groups_[settled] = group;
  }

  constexpr const vector<vector<node_id>>& users() const { return users_; }

  static constexpr bool is_anchor(const node& n) {
    return n.op->kind != form::elementwise && n.op->kind != form::movement;
  }

  // Empty when `nodes` (topologically sorted) can be one kernel, whose anchor and outputs are then set; else the
  // reason.
  constexpr std::string_view check(fusion_group& group) {
    for (node_id n : group.nodes) member_[index(n)] = 1;
    const std::string_view reason = check_members(group);
    for (node_id n : group.nodes) member_[index(n)] = 0;
    return reason;
  }

 private:
  static constexpr std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }
  constexpr bool inside(node_id n) const { return n != none && member_[index(n)] != 0; }
  constexpr node_id producer(value_id v) const { return v == none ? none : g_.at(v).producer; }

  constexpr std::string_view check_members(fusion_group& group) {
    if (group.nodes.size() > most_nodes) return "too many operators for one kernel";
    group.anchor = none;
    std::size_t operands = 0;
    for (node_id n : group.nodes) {
      const node& x = g_.node_at(n);
      for (std::size_t i = 0; i < x.inputs.count; ++i)
        if (const value_id v = g_.input_of(x, i); v != none && !inside(producer(v))) ++operands;
      if (!is_anchor(x)) continue;
      if (group.anchor != none) return "one anchor a kernel";
      group.anchor = n;
    }
    if (operands > most_operands && group.nodes.size() > 1) return "too many operands for one kernel";
    find_outputs(group);
    if (group.outputs.empty()) return "nothing to store";
    if (leaves_and_returns(group)) return "a path leaves the kernel and comes back";
    return group.anchor == none ? check_iteration_space(group) : check_epilogue(group);
  }

  // Stored is what the graph gives out and what nodes elsewhere read. Those see through a movement operator to its
  // input, which is then stored in its place, unless the movement is the last of the kernel.
  constexpr void find_outputs(fusion_group& group) {
    constexpr std::uint8_t read_through_movement = 2;
    group.outputs.clear();
    for (std::size_t k = group.nodes.size(); k-- > 0;) {
      const node& x = g_.node_at(group.nodes[k]);
      const bool moved = x.op->kind == form::movement;
      bool read_inside = false, read_outside = member_[index(group.nodes[k])] == read_through_movement;
      for (node_id u : users_[index(x.output)]) (inside(u) ? read_inside : read_outside) = true;
      if (is_output(g_, x.output) || (read_outside && !(moved && read_inside))) group.outputs.push_back(x.output);
      else if (read_outside)
        if (const node_id p = producer(g_.input_of(x, 0)); inside(p)) member_[index(p)] = read_through_movement;
    }
  }

  // Is there a path from a member through other nodes to a member? Kernels that are already settled count as one node
  // each. Nodes behind the last member are not followed, so a rare cycle between kernels is left for the planner's
  // final ordering to find.
  constexpr bool leaves_and_returns(const fusion_group& group) {
    const node_id last = group.nodes.back();
    vector<node_id> work, visited;
    bool found = false;
    auto follow = [&](node_id from) {
      for (node_id u : users_[index(g_.node_at(from).output)])
        if (u <= last && reached_[index(u)] == 0) {
          reached_[index(u)] = 1;
          visited.push_back(u);
          work.push_back(u);
        }
    };
    for (node_id n : group.nodes) {
      follow(n);
      for (node_id u : work)  // the step from member to member is no way out
        if (inside(u)) reached_[index(u)] = 0;
      std::size_t outside = 0;
      for (node_id u : work)
        if (!inside(u)) work[outside++] = u;
      work.resize(outside);
    }
    while (!work.empty() && !found) {
      const node_id n = work.back();
      work.pop_back();
      if (inside(n)) found = true;
      else if (const std::int32_t settled = group_of_[index(n)]; settled == none) follow(n);
      else
        for (node_id m : groups_[index(settled)].nodes) follow(m);
    }
    for (node_id n : visited) reached_[index(n)] = 0;
    return found;
  }

  constexpr std::string_view check_iteration_space(const fusion_group& group) const {
    const shape& space = g_.at(group.outputs[0]).type.dims;
    for (std::size_t k = 1; k < group.outputs.size(); ++k)
      if (!(g_.at(group.outputs[k]).type.dims == space)) return "outputs of different shapes";
    if (group.outputs.size() > 1)
      for (node_id n : group.nodes)
        if (g_.node_at(n).op->kind == form::movement) return "several outputs in different coordinates";
    return {};
  }

  constexpr std::string_view check_epilogue(const fusion_group& group) {
    // read_in[k]: the anchor, or the last movement operator between it and member k; none before the anchor
    vector<node_id> read_in(group.nodes.size(), none);
    bool moves = false;
    for (std::size_t k = 0; k < group.nodes.size(); ++k) {
      const node& x = g_.node_at(group.nodes[k]);
      if (group.nodes[k] == group.anchor) {
        read_in[k] = group.anchor;
        continue;
      }
      for (std::size_t i = 0; i < x.inputs.count; ++i) {
        const value_id v = g_.input_of(x, i);
        const node_id before = inside(producer(v)) ? read_in[position(group, producer(v))] : none;
        if (before == none) continue;
        if (read_in[k] != none && read_in[k] != before) return "operands of the epilogue in different coordinates";
        read_in[k] = before;
        if (x.op->kind == form::movement) {
          if (!x.op->backward) return "only bijections can follow the anchor";
          read_in[k] = group.nodes[k];
          moves = true;
        } else if (!(g_.at(v).type.dims == g_.at(x.output).type.dims)) return "broadcast behind the anchor";
      }
      if (read_in[k] == none)
        for (value_id o : group.outputs)
          if (o == x.output) return "a value beside the anchor's iteration space is read elsewhere";
    }
    if (moves) {
      epilogue_views views(g_, group.anchor, [&](node_id n) { return inside(n); });
      for (value_id o : group.outputs)
        if (!views.exist(o)) return "movement behind the anchor that no view can undo";
    }
    return {};
  }

  static constexpr std::size_t position(const fusion_group& group, node_id n) {
    std::size_t k = 0;
    while (group.nodes[k] != n) ++k;
    return k;
  }

  graph& g_;
  vector<vector<node_id>> users_;
  vector<std::uint8_t> member_, reached_;
  vector<std::int32_t> group_of_;
  vector<fusion_group> groups_;
};

}  // namespace dnnkit
