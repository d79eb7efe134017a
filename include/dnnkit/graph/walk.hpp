// SPDX-License-Identifier: MIT
// Facts read off a graph in one walk: who uses a value, what is alive, what depends on weights and constants only.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/graph/graph.hpp"

namespace dnnkit {

// users[v]: the nodes that read value v, each as often as it reads it, in topological order; graph outputs not counted.
class value_users {
 public:
  struct range {
    const node_id *first, *last;
    constexpr const node_id* begin() const { return first; }
    constexpr const node_id* end() const { return last; }
    constexpr std::size_t size() const { return static_cast<std::size_t>(last - first); }
    constexpr bool empty() const { return first == last; }
  };

  constexpr explicit value_users(const graph& g) : ends_(g.values.size() + 1, 0), nodes_(g.operands.size(), none) {
    for (const node& n : g.nodes)
      for (std::uint32_t i = n.inputs.first; i < n.inputs.first + n.inputs.count; ++i)
        if (const value_id v = g.operands[i]; v != none) ++ends_[v + 1];
    std::uint32_t sum = 0;
    for (std::uint32_t& end : ends_) end = sum += end;
    vector<std::uint32_t> next = ends_;  // where each value's list goes on
    node_id k = 0;
    for (const node& n : g.nodes) {
      for (std::uint32_t i = n.inputs.first; i < n.inputs.first + n.inputs.count; ++i)
        if (const value_id v = g.operands[i]; v != none) nodes_[next[v]++] = k;
      ++k;
    }
  }
  constexpr range operator[](std::integral auto v) const {
    return {nodes_.data() + ends_[v], nodes_.data() + ends_[v + 1]};
  }

 private:
  vector<std::uint32_t> ends_;  // ends_[v]: where the users of the value before v end and those of v begin
  vector<node_id> nodes_;
};
constexpr value_users users_of_values(const graph& g) { return value_users(g); }

constexpr bool is_output(const graph& g, value_id v) {
  for (value_id o : g.outputs)
    if (o == v) return true;
  return false;
}

// alive[n] != 0: some graph output depends on node n.
constexpr vector<std::uint8_t> live_nodes(const graph& g) {
  vector<std::uint8_t> alive(g.nodes.size(), 0);
  for (value_id o : g.outputs)
    if (const node_id p = g.values[o].producer; p != none) alive[p] = 1;
  for (std::size_t k = g.nodes.size(); k-- > 0;) {
    if (alive[k] == 0) continue;
    const slice_of inputs = g.nodes[k].inputs;
    for (std::uint32_t i = inputs.first; i < inputs.first + inputs.count; ++i)
      if (const value_id v = g.operands[i]; v != none)
        if (const node_id p = g.values[v].producer; p != none) alive[p] = 1;
  }
  return alive;
}

// setup[v] != 0: value v depends on weights and constants only, so it is computed once, when a session is made. Outputs
// of the graph are written by every run, and so are values whose extents are known only then.
constexpr vector<std::uint8_t> setup_values(const graph& g) {
  vector<std::uint8_t> setup(g.values.size(), 0);
  for (std::size_t v = 0; v < setup.size(); ++v) {
    const origin from = g.values[v].from;
    setup[v] = from == origin::weight || from == origin::constant;
  }
  for (const node& n : g.nodes) {
    std::uint8_t all = 1;
    for (std::uint32_t i = n.inputs.first; all != 0 && i < n.inputs.first + n.inputs.count; ++i)
      if (const value_id v = g.operands[i]; v != none) all = setup[v];
    setup[n.output] = all != 0 && !is_output(g, n.output) && is_known(g.values[n.output].type.dims);
  }
  return setup;
}

}  // namespace dnnkit
