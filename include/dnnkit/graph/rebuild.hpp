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
  result.declared_inputs = g.declared_inputs;
  result.settled = g.settled;
  result.error = g.error;
  result.attributes = g.attributes;
  result.constants = g.constants;
  result.characters = g.characters;
  result.values.reserve(g.values.size());
  result.nodes.reserve(g.nodes.size());
  result.operands.reserve(g.operands.size());
}

}  // namespace detail

// The inputs of a node of the old graph, as tensors of the new one; tensor{} for one left out.
class rebuilt_inputs {
 public:
  constexpr rebuilt_inputs(builder& b, const value_id* inputs, std::size_t count, const value_id* image)
      : builder_(&b), inputs_(inputs), image_(image), count_(count) {}

  constexpr std::size_t size() const { return count_; }
  constexpr value_id id(std::size_t i) const { return inputs_[i] == none ? none : image_[inputs_[i]]; }
  constexpr tensor operator[](std::size_t i) const { return inputs_[i] == none ? tensor{} : tensor{builder_, id(i)}; }
  // What stands for value v of the old graph, which is no node's output or that of a node before this one.
  constexpr tensor image_of(value_id v) const { return v == none ? tensor{} : tensor{builder_, image_[v]}; }
  constexpr vector<tensor> list() const {
    vector<tensor> tensors;
    for (std::size_t i = 0; i < count_; ++i) tensors.push_back((*this)[i]);
    return tensors;
  }

 private:
  builder* builder_;
  const value_id *inputs_, *image_;  // in the old graph; the number in the new one of each value of the old
  std::size_t count_;
};

namespace detail {
// Appends n reading `inputs`; its output is of the same type as in the old graph.
constexpr value_id copy_node(graph& result, const graph& old, node n, const rebuilt_inputs& inputs) {
  const tensor_type& type = old.values.items[n.output].type;
  n.inputs.first = static_cast<std::uint32_t>(result.operands.count);
  for (std::uint32_t i = 0; i < n.inputs.count; ++i) result.operands.push_back(inputs.id(i));
  return result.add_node(n, type);
}
}  // namespace detail

// Calls rule(b, n, inputs) for each node n of `g` that is alive (alive[n] != 0; those read no others) in order, with
// its inputs as tensors of the new graph in b. The tensor it returns, of the type of n's output, takes the place of
// that output; tensor{} means: copy n. Nodes a rule builds are named after n. Then calls replaced(n, the new graph,
// how many nodes that had before), when there was one.
template <class Rule>
constexpr graph rebuild(const graph& g, const vector<std::uint8_t>& alive, Rule rule, auto replaced) {
  builder b;
  graph& result = b.value();
  detail::begin_rebuilt(result, g);
  vector<value_id> image(g.values.size(), none);
  for (std::size_t v = 0; v < g.values.count; ++v)
    if (g.values.items[v].from != origin::node) image.items[v] = result.add_value(g.values.items[v]);
  for (std::size_t k = 0; k < g.nodes.count; ++k) {
    if (alive.items[k] == 0) continue;
    const node& n = g.nodes.items[k];
    const rebuilt_inputs inputs(b, g.operands.items + n.inputs.first, n.inputs.count, image.items);
    const builder::name_scope name(b, n.name);
    const std::size_t nodes_before = result.nodes.count;
    const tensor made = rule(b, n, inputs);
    if (made.present()) replaced(n, result, nodes_before);
    image.items[n.output] = made.present() ? made.id() : detail::copy_node(result, g, n, inputs);
  }
  for (value_id v : g.inputs) result.inputs.push_back(image[v]);
  for (value_id v : g.outputs) result.outputs.push_back(image[v]);
  result.output_names = g.output_names;
  return static_cast<graph&&>(result);
}
template <class Rule> constexpr graph rebuild(const graph& g, Rule rule, auto replaced) {
  return rebuild(g, live_nodes(g), rule, replaced);
}
template <class Rule> constexpr graph rebuild(const graph& g, Rule rule) {
  return rebuild(g, rule, [](const node&, const graph&, std::size_t) {});
}

}  // namespace dnnkit
