// SPDX-License-Identifier: MIT
// What matching and weighing ask of a graph, read off it once a sweep.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/graph/walk.hpp"

namespace dnnkit::rewrite {

struct graph_facts {
  constexpr explicit graph_facts(const graph& of)
      : g(of), users(of), setup(setup_values(of)), alive(live_nodes(of)), is_output(of.values.count, 0) {
    for (const value_id v : of.outputs) is_output.items[v] = 1;
  }

  // The node that a run computes v by; none for inputs, weights, constants.
  constexpr const node* producer_of(value_id v) const {
    if (v == none || static_cast<std::size_t>(v) >= g.values.count || g.at(v).producer == none) return nullptr;
    return &g.node_at(g.at(v).producer);
  }
  constexpr bool is_setup(value_id v) const {
    return v != none && static_cast<std::size_t>(v) < g.values.count && setup.items[v] != 0;
  }
  // Is v read once, and by nobody else?
  constexpr bool has_one_reader(value_id v) const { return users[v].size() == 1 && is_output.items[v] == 0; }
  constexpr node_id number_of(const node& n) const { return static_cast<node_id>(&n - g.nodes.items); }

  const graph& g;
  value_users users;
  vector<std::uint8_t> setup, alive, is_output;  // of values, nodes, values: not 0, if so
};

}  // namespace dnnkit::rewrite
