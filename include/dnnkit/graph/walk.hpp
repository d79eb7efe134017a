// SPDX-License-Identifier: MIT
// Facts read off a graph in one walk: who uses a value, what is alive, what depends on weights and constants only.
// The walks read numbers one by one: a copy of a pair of them, out of a list, takes GCC longer.
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

  constexpr explicit value_users(const graph& g) : begins_(g.values.size() + 1, 0), nodes_(g.operands.size(), none) {
    const node* const nodes = g.nodes.items;
    const value_id* const operands = g.operands.items;
    std::uint32_t* const begins = begins_.items;
    for (std::size_t k = 0; k < g.nodes.count; ++k) {
      const std::uint32_t end = nodes[k].inputs.first + nodes[k].inputs.count;
      for (std::uint32_t i = nodes[k].inputs.first; i < end; ++i)
        if (const value_id v = operands[i]; v != none) ++begins[v];
    }
    std::uint32_t sum = 0;  // begins[v]: where the users of v end, until they are put down, the last first
    for (std::size_t v = 0; v < begins_.count; ++v) begins[v] = sum += begins[v];
    for (std::size_t k = g.nodes.count; k-- > 0;) {
      const std::uint32_t end = nodes[k].inputs.first + nodes[k].inputs.count;
      for (std::uint32_t i = nodes[k].inputs.first; i < end; ++i)
        if (const value_id v = operands[i]; v != none) nodes_.items[--begins[v]] = static_cast<node_id>(k);
    }
  }
  constexpr range operator[](std::integral auto v) const {
    return {nodes_.items + begins_.items[v], nodes_.items + begins_.items[v + 1]};
  }

 private:
  vector<std::uint32_t> begins_;  // begins_[v]: where the users of v begin, and those of the value before it end
  vector<node_id> nodes_;
};
constexpr value_users users_of_values(const graph& g) { return value_users(g); }

template <class Op> constexpr bool has_operator(const graph& g) {
  constexpr operator_id id = id_of<Op>;
  for (std::size_t n = 0; n < g.nodes.count; ++n)
    if (g.nodes.items[n].op->id == id) return true;
  return false;
}

constexpr bool is_output(const graph& g, value_id v) {
  for (std::size_t i = 0; i < g.outputs.count; ++i)
    if (g.outputs.items[i] == v) return true;
  return false;
}

// One value, or equal constants of one element.
constexpr bool is_same_value(const graph& g, value_id a, value_id b) {
  if (a == b) return true;
  if (a == none || b == none) return false;
  const value &x = g.at(a), &y = g.at(b);
  return x.from == origin::constant && y.from == origin::constant && x.type.type == y.type.type &&
         x.type.dims == y.type.dims && x.data.count == 1 && y.data.count == 1 &&
         g.constants[x.data.first] == g.constants[y.data.first];
}

// alive[n] != 0: some graph output depends on node n.
constexpr vector<std::uint8_t> live_nodes(const graph& g) {
  vector<std::uint8_t> alive(g.nodes.size(), 0);
  std::uint8_t* const is_alive = alive.items;
  const node* const nodes = g.nodes.items;
  const value* const values = g.values.items;
  const value_id* const operands = g.operands.items;
  for (value_id o : g.outputs)
    if (const node_id p = values[o].producer; p != none) is_alive[p] = 1;
  for (std::size_t k = g.nodes.count; k-- > 0;) {
    if (is_alive[k] == 0) continue;
    const std::uint32_t end = nodes[k].inputs.first + nodes[k].inputs.count;
    for (std::uint32_t i = nodes[k].inputs.first; i < end; ++i)
      if (const value_id v = operands[i]; v != none)
        if (const node_id p = values[v].producer; p != none) is_alive[p] = 1;
  }
  return alive;
}

// fixed[v] != 0: value v is a weight or a constant, or computed from such values alone (not from the extents of inputs,
// which attributes and the shapes of constants may hold), by a node whose output `allowed` lets count.
template <class Allowed> constexpr vector<std::uint8_t> fixed_values(const graph& g, Allowed allowed) {
  vector<std::uint8_t> fixed(g.values.size(), 0);
  std::uint8_t* const is_fixed = fixed.items;
  const value* const values = g.values.items;
  const node* const nodes = g.nodes.items;
  const value_id* const operands = g.operands.items;
  const bool has_symbols = !g.symbols.symbols.empty();
  const auto is_given = [&](value_id v) { return v == none || (is_fixed[v] != 0 && is_known(values[v].type.dims)); };
  for (std::size_t v = 0; v < g.values.count; ++v)
    if (const origin from = values[v].from; from == origin::weight || from == origin::constant) is_fixed[v] = 1;
  for (std::size_t k = 0; k < g.nodes.count; ++k) {
    const std::uint32_t end = nodes[k].inputs.first + nodes[k].inputs.count;
    std::uint32_t i = nodes[k].inputs.first;
    if (has_symbols)
      while (i < end && is_given(operands[i])) ++i;
    else
      while (i < end && (operands[i] == none || is_fixed[operands[i]] != 0)) ++i;
    if (i != end || !allowed(nodes[k].output)) continue;
    if (has_symbols && !nodes[k].op->symbolic_codes(g.attributes_of(nodes[k])).empty()) continue;
    is_fixed[nodes[k].output] = 1;
  }
  return fixed;
}

// setup[v] != 0: value v depends on weights and constants only, so it is computed once, when a session is made. Outputs
// of the graph are written by every run, and so are values whose extents are known only then.
constexpr vector<std::uint8_t> setup_values(const graph& g) {
  return fixed_values(g, [&](value_id v) { return !is_output(g, v) && is_known(g.values[v].type.dims); });
}

}  // namespace dnnkit
