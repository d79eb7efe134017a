// SPDX-License-Identifier: MIT
// The constraint check of fusion: whether a set of nodes can be one kernel (DNNFusion, Listing 3.1, step 2.2).
//
// A kernel has at most one anchor, an operator that is neither element-wise nor movement. What lies before the anchor
// is its prologue, what lies behind it its epilogue. The epilogue runs in the anchor's iteration space, so movement in
// it must be a bijection and nothing in it may grow by broadcast. Values that others read must be stored, which is
// possible in the iteration space only. What only one branch of an If needs is in no kernel with anything else.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dnnkit/core/namespaces.hpp"
#include "dnnkit/core/vector.hpp"
#include "dnnkit/cost/target.hpp"
#include "dnnkit/graph/branches.hpp"
#include "dnnkit/graph/walk.hpp"
#include "dnnkit/pass/fusion_plan.hpp"
#include "dnnkit/pass/fusion_reason.hpp"
#include "dnnkit/pass/operand_check.hpp"

namespace dnnkit::plan {

// How much one kernel may hold. Each operand is on its way to the kernel in a register, while streams of all of them
// are in the first cache, of which a kilobyte each is room for what is fetched ahead; each operator takes up to three
// registers, two operands and a result.
struct fusion_limits {
  std::size_t nodes = 48, operands = 16;  // of a target of which no facts are known
};
constexpr fusion_limits limits_of(known_facts facts) {
  if (!facts) return {};
  const auto registers = static_cast<std::size_t>(facts->vector_registers),
             streams = static_cast<std::size_t>(facts->l1_bytes / 1024);
  return {3 * registers, registers < streams ? registers : streams};
}

class fusion_blocks {
 public:
  constexpr explicit fusion_blocks(graph& g, fusion_limits limits = {})
      : g_(g),
        limits_(limits),
        users_(users_of_values(g)),
        guards_(g),
        given_out_(g.values.size(), 0),
        member_(g.nodes.size(), 0),
        reached_(g.nodes.size(), 0),
        group_of_(g.nodes.size(), none),
        read_in_(g.nodes.size(), none) {
    for (value_id o : g.outputs) given_out_[o] = 1;
    for (value_id c : guards_.stored()) given_out_[c] = 1;
  }

  // Must value v be stored, whoever reads it: an output of the graph, or of what branches depend on?
  constexpr bool is_given_out(value_id v) const { return given_out_.items[v] != 0; }
  constexpr const guard_sets& guards() const { return guards_; }

  constexpr const vector<fusion_group>& settled() const { return groups_; }
  // The settled kernel a node belongs to; none for a node in none, and for movement operators, which may be in several.
  constexpr std::int32_t group_of(node_id n) const { return group_of_.items[n]; }

  constexpr void settle(fusion_group&& group) {
    const std::size_t settled = groups_.count;
    groups_.push_back({});
    replace(settled, static_cast<fusion_group&&>(group));
  }
  constexpr void replace(std::size_t settled, fusion_group&& group) {
    for (std::size_t k = 0; k < group.nodes.count; ++k)
      if (const node_id n = group.nodes.items[k]; g_.nodes.items[n].op->kind != form::movement)
        group_of_.items[n] = static_cast<std::int32_t>(settled);
    groups_[settled] = static_cast<fusion_group&&>(group);
  }
  // Hands over the settled kernels; only single nodes can be checked afterwards.
  constexpr vector<fusion_group> take() { return static_cast<vector<fusion_group>&&>(groups_); }

  constexpr const value_users& users() const { return users_; }

  static constexpr bool is_anchor(const node& n) {
    const form kind = n.op->kind;
    return kind != form::elementwise && kind != form::movement;
  }

  // None when `nodes` (topologically sorted) can be one kernel, whose anchor and outputs are then set; else the reason,
  // and the group is left as it was.
  constexpr fusion_reason check(fusion_group& group) {
    const node_id* const nodes = group.nodes.items;
    const std::size_t n = group.nodes.count;
    for (std::size_t k = 0; k < n; ++k) member_.items[nodes[k]] = 1;
    const fusion_reason reason = check_members(group.nodes);
    for (std::size_t k = 0; k < n; ++k) member_.items[nodes[k]] = 0;
    if (reason != fusion_reason::nothing) return reason;
    group.anchor = anchor_;
    group.outputs = outputs_;
    return fusion_reason::nothing;
  }

  // Adds n to a sorted list; false when the list has it already.
  static constexpr bool add(vector<node_id>& nodes, node_id n) {
    std::size_t k = nodes.count;
    while (k > 0 && nodes.items[k - 1] > n) --k;
    if (k > 0 && nodes.items[k - 1] == n) return false;
    nodes.push_back(n);
    for (std::size_t i = nodes.count - 1; i > k; --i) nodes.items[i] = nodes.items[i - 1];
    nodes.items[k] = n;
    return true;
  }
  static constexpr void remove(vector<node_id>& nodes, node_id n) {
    const node_id* at = nodes.begin();
    while (*at != n) ++at;
    nodes.erase(at);
  }

 private:
  constexpr bool inside(node_id n) const { return n != none && member_.items[n] != 0; }
  constexpr node_id producer(value_id v) const { return v == none ? none : g_.values.items[v].producer; }

  constexpr fusion_reason check_members(const vector<node_id>& nodes) {
    if (nodes.count > limits_.nodes) return fusion_reason::too_many_operators;
    if (!guards_.run_together(g_, nodes)) return fusion_reason::other_branches;
    examine(nodes);
    if (anchors_ > 1) return fusion_reason::one_anchor;
    if (nodes.count > 1 && anchor_ != none && g_.nodes.items[anchor_].op->kind == form::whole)
      return fusion_reason::whole_operator;
    if (operands_ > limits_.operands && nodes.count > 1) return fusion_reason::too_many_operands;
    if (outputs_.count == 0) return fusion_reason::nothing_to_store;
    if (leaves_and_returns(nodes.back())) return fusion_reason::path_returns;
    bool moves = false;  // behind the anchor
    const fusion_reason reason = anchor_ == none ? check_iteration_space(nodes) : check_epilogue(nodes, moves);
    if (reason != fusion_reason::nothing || !(moves || reads_differ(nodes))) return reason;
    return check_operands(g_, nodes, anchor_, outputs_);
  }

  // One walk over the members, from the last to the first, finds the anchor, counts the operands, and notes what is
  // stored and where paths leave the kernel.
  // Stored is what the graph gives out and what nodes elsewhere read. Those see through a movement operator to its
  // input, which is then stored in its place, unless the movement is the last of the kernel.
  constexpr void examine(const vector<node_id>& members) {
    constexpr std::uint8_t read_through_movement = 2;
    forget_examined();
    const value* const values = g_.values.items;
    const value_id* const operands = g_.operands.items;
    std::uint8_t* const member = member_.items;
    const node_id last = members.items[members.count - 1];
    std::size_t loaded = 0;
    for (std::size_t k = members.count; k-- > 0;) {
      const node_id n = members.items[k];
      const node& x = g_.nodes.items[n];
      const form kind = x.op->kind;
      if (kind != form::elementwise && kind != form::movement) anchor_ = n, ++anchors_;
      for (std::uint32_t i = x.inputs.first; i < x.inputs.first + x.inputs.count; ++i)
        if (const value_id v = operands[i]; v != none)
          if (const node_id p = values[v].producer; (p == none || member[p] == 0) && !is_literal(values[v])) ++loaded;
      bool read_inside = false, read_outside = member[n] == read_through_movement;
      const value_users::range users = users_[x.output];
      for (const node_id* u = users.first; u != users.last; ++u)
        if (const node_id reader = *u; member[reader] != 0) read_inside = true;
        else {
          read_outside = true;
          if (reader <= last) reach(reader);
        }
      const bool seen_through = read_inside && kind == form::movement;
      if ((read_outside && !seen_through) || given_out_.items[x.output] != 0) outputs_.push_back(x.output);
      else if (read_outside)
        if (const node_id p = producer(g_.input_of(x, 0)); inside(p)) member[p] = read_through_movement;
    }
    operands_ = loaded;
  }
  // Constants of one element are part of a kernel, not loaded.
  static constexpr bool is_literal(const value& v) { return v.from == origin::constant && v.data.count == 1; }
  constexpr void forget_examined() {
    anchor_ = none;
    anchors_ = operands_ = 0;
    outputs_.clear();
    for (std::size_t k = 0; k < reached_nodes_.count; ++k) reached_.items[reached_nodes_.items[k]] = 0;
    reached_nodes_.clear();
    work_.clear();
  }

  // Is there a path from a member through other nodes to a member? Kernels that are already settled count as one node
  // each. Nodes behind the last member are not followed, so a rare cycle between kernels is left for the planner's
  // final ordering to find.
  constexpr bool leaves_and_returns(node_id last) {
    while (work_.count != 0) {
      const node_id n = work_.items[work_.count - 1];
      work_.pop_back();
      if (member_.items[n] != 0) return true;
      if (const std::int32_t settled = group_of_.items[n]; settled == none) follow(n, last);
      else
        for (node_id m : groups_.items[settled].nodes) follow(m, last);
    }
    return false;
  }
  constexpr void follow(node_id from, node_id last) {
    const value_users::range users = users_[g_.nodes.items[from].output];
    for (const node_id* u = users.first; u != users.last; ++u)
      if (*u <= last) reach(*u);
  }
  constexpr void reach(node_id n) {
    if (reached_.items[n] != 0) return;
    reached_.items[n] = 1;
    reached_nodes_.push_back(n);
    work_.push_back(n);
  }

  // Is a member read in coordinates that may differ? Each member is given a number for those that it is read in, from
  // the last member to the first: that of its reader, or a new one where movement or a broadcast lies between.
  constexpr bool reads_differ(const vector<node_id>& nodes) {
    constexpr node_id not_read = none;
    for (std::size_t k = 0; k < nodes.count; ++k) read_in_.items[nodes.items[k]] = not_read;
    node_id new_number = 1;
    const auto read = [&](value_id v, node_id number, bool differs) {
      node_id p = producer(v);
      for (; p != none && g_.nodes.items[p].op->kind == form::movement; differs = true)
        p = producer(g_.input_of(g_.nodes.items[p], 0));
      if (!inside(p) || p == anchor_) return true;
      if (differs) number = new_number++;
      node_id& known = read_in_.items[p];
      const bool same = known == not_read || known == number;
      known = number;
      return same;
    };
    for (std::size_t k = 0; k < outputs_.count; ++k)
      if (!read(outputs_.items[k], 0, false)) return true;
    for (std::size_t k = nodes.count; k-- > 0;) {
      const node& x = g_.nodes.items[nodes.items[k]];
      if (x.op->kind == form::movement) continue;
      const node_id number = read_in_.items[nodes.items[k]];
      for (std::uint32_t i = x.inputs.first; i < x.inputs.first + x.inputs.count; ++i)
        if (const value_id v = g_.operands.items[i]; v != none)
          if (const bool differs = nodes.items[k] == anchor_ ||
                                   !same_shape(g_.values.items[v].type.dims, g_.values.items[x.output].type.dims);
              !read(v, number, differs))
            return true;
    }
    return false;
  }

  constexpr fusion_reason check_iteration_space(const vector<node_id>& nodes) const {
    if (outputs_.count == 1) return fusion_reason::nothing;
    const shape& space = g_.values[outputs_[0]].type.dims;
    for (value_id o : outputs_)
      if (!same_shape(g_.values[o].type.dims, space)) return fusion_reason::different_shapes;
    for (node_id n : nodes)
      if (g_.nodes[n].op->kind == form::movement) return fusion_reason::several_coordinates;
    return fusion_reason::nothing;
  }

  // Sets `moves` when there is movement in the epilogue.
  constexpr fusion_reason check_epilogue(const vector<node_id>& nodes, bool& moves) {
    // read_in_[n]: the anchor, or the last movement operator between it and member n; none before the anchor
    for (std::size_t k = 0; k < nodes.count; ++k) {
      const node_id n = nodes.items[k];
      node_id& read_in = read_in_.items[n];
      read_in = n == anchor_ ? anchor_ : none;
      if (n <= anchor_) continue;
      const node& x = g_.nodes.items[n];
      for (std::uint32_t i = x.inputs.first; i < x.inputs.first + x.inputs.count; ++i) {
        const value_id v = g_.operands.items[i];
        const node_id p = producer(v), before = inside(p) ? read_in_.items[p] : none;
        if (before == none) continue;
        if (read_in != none && read_in != before) return fusion_reason::epilogue_coordinates;
        read_in = before;
        if (x.op->kind == form::movement) {
          if (!x.op->backward) return fusion_reason::no_bijection;
          read_in = n;
          moves = true;
        } else if (!same_shape(g_.values.items[v].type.dims, g_.values.items[x.output].type.dims))
          return fusion_reason::broadcast_behind_anchor;
      }
    }
    for (std::size_t k = 0; k < outputs_.count; ++k)
      if (read_in_.items[g_.values.items[outputs_.items[k]].producer] == none) return fusion_reason::beside_anchor;
    return fusion_reason::nothing;
  }

  graph& g_;
  const fusion_limits limits_;
  value_users users_;
  guard_sets guards_;
  vector<std::uint8_t> given_out_;  // of values: an output of the graph, or a condition
  vector<std::uint8_t> member_, reached_;
  vector<std::int32_t> group_of_;
  vector<fusion_group> groups_;
  // of the group under examination
  node_id anchor_ = none;
  std::size_t anchors_ = 0, operands_ = 0;
  vector<value_id> outputs_;
  vector<node_id> work_, reached_nodes_;
  vector<std::int32_t> read_in_;  // of members, while they are checked
};

}  // namespace dnnkit::plan
