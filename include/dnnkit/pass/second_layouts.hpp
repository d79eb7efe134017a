// SPDX-License-Identifier: MIT
// Values that are stored a second time, in another order (SmartMem, section 3.2.2): a kernel that copies one, behind
// the kernel that computes it, and readers that read the copy. The graph gets an Identity for each, behind the operator
// that computes the value; movement operators that such a reader sees through are there once more.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/graph/graph.hpp"
#include "dnnkit/op/movement.hpp"
#include "dnnkit/pass/group_loads.hpp"
#include "dnnkit/pass/layout_problem.hpp"
#include "dnnkit/pass/schedule.hpp"

namespace dnnkit::detail {

class second_layouts {
 public:
  constexpr second_layouts(schedule& s, const vector<std::uint8_t>& stored)
      : s_(s), g_(s.g), stored_(stored), nodes_before_(s.g.nodes.count) {}

  // Each value once. Behind the last, finish().
  constexpr void add(const second_layout& copy) {
    const value_id v = copy.v;
    node n{};
    n.op = &info_of<op::identity>;
    n.name = g_.at(v).name;
    n.inputs = graph::end_of(g_.operands, 1);
    g_.operands.push_back(v);
    const tensor_type type = g_.at(v).type;
    const value_id second = append(n, type, g_.at(v).producer);
    s_.layouts.items[second] = s_.layouts.items[v];
    s_.layouts.items[second].order = copy.order;
    for (std::uint32_t k : copy.readers) redirect(s_.fusion.groups.items[k], v, second);
    copies_.push_back({v, second});
  }

  // Puts nodes and kernels in an order in which they can run.
  constexpr void finish() {
    if (copies_.empty()) return;
    sort_nodes();
    for (const stored_twice& c : copies_) {
      std::size_t k = 0;
      while (!stores(s_.fusion.groups.items[k], c.first)) ++k;
      fusion_group moves;
      moves.nodes.push_back(g_.at(c.second).producer);
      moves.outputs.push_back(c.second);
      s_.fusion.groups.insert(s_.fusion.groups.items + k + 1, moves);
    }
  }

 private:
  struct stored_twice {
    value_id first = none, second = none;
  };
  struct doubled {
    value_id of = none, as = none;
  };

  static constexpr bool stores(const fusion_group& group, value_id v) {
    for (value_id o : group.outputs)
      if (o == v) return true;
    return false;
  }

  // A node that comes behind node number `behind`; its output, which has a layout like any value.
  constexpr value_id append(const node& n, const tensor_type& type, node_id behind) {
    buffer_layout row_major;
    for (std::size_t d = 0; d < type.dims.size(); ++d) {
      row_major.order.push_back(static_cast<std::uint8_t>(d));
      row_major.before.push_back(0);
      row_major.after.push_back(0);
    }
    const value_id v = g_.add_node(n, type);
    behind_.push_back(behind);
    s_.layouts.push_back(row_major);
    return v;
  }

  // The members of a group that read v read `second`.
  constexpr void redirect(const fusion_group& group, value_id v, value_id second) {
    vector<doubled> known{{v, second}};
    for (node_id n : group.nodes) {
      const slice_of inputs = g_.node_at(n).inputs;
      vector<value_id> now;
      bool changes = false;
      for (std::uint32_t i = 0; i < inputs.count; ++i) {
        const value_id in = g_.operands.items[inputs.first + i];
        now.push_back(leads_to(in, v, group) ? again(in, known) : in);
        changes = changes || now.back() != in;
      }
      if (!changes) continue;
      g_.node_at(n).inputs = graph::end_of(g_.operands, now.count);
      g_.operands.append(now.begin(), now.end());
    }
  }
  // Through movement operators that are part of no kernel.
  constexpr bool leads_to(value_id from, value_id v, const fusion_group& group) const {
    while (from != none && from != v && is_view(from, group)) from = g_.input_of(g_.node_at(g_.at(from).producer), 0);
    return from == v;
  }
  constexpr bool is_view(value_id v, const fusion_group& group) const {
    const bool is_new = static_cast<std::size_t>(v) >= stored_.count;
    const node_id p = g_.at(v).producer;
    return !is_new && stored_.items[v] == 0 && p != none && !contains(group, p) &&
           g_.node_at(p).op->kind == form::movement;
  }
  // What movement operators make of the copy.
  constexpr value_id again(value_id v, vector<doubled>& known) {
    for (const doubled& d : known)
      if (d.of == v) return d.as;
    const node_id p = g_.at(v).producer;
    const value_id from = again(g_.input_of(g_.node_at(p), 0), known);
    node n = g_.node_at(p);
    vector<value_id> inputs(g_.operands.items + n.inputs.first, g_.operands.items + n.inputs.first + n.inputs.count);
    inputs.items[0] = from;
    n.inputs = graph::end_of(g_.operands, inputs.count);
    g_.operands.append(inputs.begin(), inputs.end());
    const tensor_type type = g_.at(v).type;
    const value_id made = append(n, type, p);
    known.push_back({v, made});
    return made;
  }

  // New nodes go behind those that they were said to be behind.
  constexpr void sort_nodes() {
    vector<node> sorted;
    vector<node_id> place(g_.nodes.count, none);
    sorted.reserve(g_.nodes.count);
    const auto put = [&](std::size_t n) {
      place.items[n] = static_cast<node_id>(sorted.count);
      sorted.push_back(g_.nodes.items[n]);
    };
    for (std::size_t n = 0; n < nodes_before_; ++n) {
      put(n);
      for (std::size_t i = 0; i < behind_.count; ++i)
        if (behind_.items[i] == static_cast<node_id>(n)) put(nodes_before_ + i);
    }
    g_.nodes = static_cast<vector<node>&&>(sorted);
    const auto renumber = [&](node_id& n) {
      if (n != none) n = place.items[n];
    };
    for (value& v : g_.values) renumber(v.producer);
    for (fusion_group& group : s_.fusion.groups) {
      renumber(group.anchor);
      for (node_id& n : group.nodes) renumber(n);
    }
    for (plan::decision& d : s_.log.decisions) {
      renumber(d.first);
      renumber(d.second);
    }
  }

  schedule& s_;
  graph& g_;
  const vector<std::uint8_t>& stored_;  // by value, of those before
  const std::size_t nodes_before_;
  vector<node_id> behind_;  // of new nodes
  vector<stored_twice> copies_;
};

}  // namespace dnnkit::detail
