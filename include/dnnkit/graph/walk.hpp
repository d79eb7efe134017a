// SPDX-License-Identifier: MIT
// Facts read off a graph in one walk: who uses a value, what is alive, what depends on weights and constants only.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/graph/graph.hpp"

namespace dnnkit {

// users[v]: the nodes that read value v, each as often as it reads it, in topological order; graph outputs not counted.
constexpr vector<vector<node_id>> users_of_values(const graph& g) {
  vector<vector<node_id>> users(g.values.size());
  for (std::size_t n = 0; n < g.nodes.size(); ++n)
    for (std::size_t i = 0; i < g.nodes[n].inputs.count; ++i)
      if (const value_id v = g.input_of(g.nodes[n], i); v != none)
        users[static_cast<std::size_t>(v)].push_back(static_cast<node_id>(n));
  return users;
}

constexpr bool is_output(const graph& g, value_id v) {
  for (value_id o : g.outputs)
    if (o == v) return true;
  return false;
}

// alive[n] != 0: some graph output depends on node n.
constexpr vector<std::uint8_t> live_nodes(const graph& g) {
  vector<std::uint8_t> alive(g.nodes.size(), 0);
  auto mark = [&](value_id v) {
    if (v != none && g.at(v).producer != none) alive[static_cast<std::size_t>(g.at(v).producer)] = 1;
  };
  for (value_id o : g.outputs) mark(o);
  for (std::size_t n = g.nodes.size(); n-- > 0;)
    if (alive[n] != 0)
      for (std::size_t i = 0; i < g.nodes[n].inputs.count; ++i) mark(g.input_of(g.nodes[n], i));
  return alive;
}

// setup[v] != 0: value v depends on weights and constants only, so it is computed once, when a session is made. Outputs
// of the graph are written by every run.
constexpr vector<std::uint8_t> setup_values(const graph& g) {
  vector<std::uint8_t> setup(g.values.size(), 0);
  for (std::size_t v = 0; v < g.values.size(); ++v)
    setup[v] = g.values[v].from == origin::weight || g.values[v].from == origin::constant;
  for (const node& n : g.nodes) {
    std::uint8_t all = !is_output(g, n.output);
    for (std::size_t i = 0; i < n.inputs.count; ++i)
      if (const value_id v = g.input_of(n, i); v != none && setup[static_cast<std::size_t>(v)] == 0) all = 0;
    setup[static_cast<std::size_t>(n.output)] = all;
  }
  return setup;
}

}  // namespace dnnkit
