// SPDX-License-Identifier: MIT
// Editing a graph by building it anew: every live node is copied, or replaced by what a rule builds for it.
#pragma once

#include <cstddef>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/graph/builder.hpp"
#include "dnnkit/graph/walk.hpp"

namespace dnnkit {

namespace detail {

// A rebuilt graph begins with the old one's symbols and pools, so that slices of the old graph mean the same in it.
constexpr void begin_rebuilt(graph& result, const graph& g) {
  result.symbols = g.symbols;
  result.error = g.error;
  result.attributes = g.attributes;
  result.constants = g.constants;
  result.characters = g.characters;
  result.values.reserve(g.values.size());
  result.nodes.reserve(g.nodes.size());
  result.operands.reserve(g.operands.size());
}

// Appends n reading `inputs`; its output is of the same type as in the old graph.
constexpr tensor copy_node(builder& b, const graph& old, node n, const vector<tensor>& inputs) {
  graph& result = b.value();
  const tensor_type& type = old.values[n.output].type;
  n.inputs = graph::end_of(result.operands, inputs.size());
  for (const tensor& t : inputs) result.operands.push_back(t.id());
  return {&b, result.add_node(n, type)};
}

}  // namespace detail

// Calls rule(b, n, inputs) for each live node n of `g` in order, with its inputs as tensors of the new graph in b. The
// tensor it returns, of the type of n's output, takes the place of that output; tensor{} means: copy n. Nodes a rule
// builds are named after n.
template <class Rule> constexpr graph rebuild(const graph& g, Rule rule) {
  builder b;
  graph& result = b.value();
  detail::begin_rebuilt(result, g);
  vector<tensor> image(g.values.size());
  for (std::size_t v = 0; v < g.values.size(); ++v)
    if (g.values[v].from != origin::node) image[v] = {&b, result.add_value(g.values[v])};
  const vector<std::uint8_t> alive = live_nodes(g);
  vector<tensor> inputs;
  for (std::size_t k = 0; k < g.nodes.size(); ++k) {
    if (alive[k] == 0) continue;
    const node& n = g.nodes[k];
    inputs.clear();
    for (std::size_t i = 0; i < n.inputs.count; ++i) {
      const value_id v = g.operands[n.inputs.first + i];
      inputs.push_back(v == none ? tensor{} : image[v]);
    }
    b.default_name(n.name);
    const tensor made = rule(b, n, inputs);
    image[n.output] = made.present() ? made : detail::copy_node(b, g, n, inputs);
  }
  for (value_id v : g.inputs) result.inputs.push_back(image[v].id());
  for (value_id v : g.outputs) result.outputs.push_back(image[v].id());
  result.output_names = g.output_names;
  return static_cast<graph&&>(result);
}

}  // namespace dnnkit
