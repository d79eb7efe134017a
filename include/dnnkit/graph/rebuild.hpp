// SPDX-License-Identifier: MIT
// Editing a graph by building it anew: every live node is copied, or replaced by what a rule builds for it.
#pragma once

#include <cstddef>
#include <utility>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/graph/builder.hpp"
#include "dnnkit/graph/walk.hpp"

namespace dnnkit {

// Calls rule(b, n, inputs) for each live node n of `g` in order, with its inputs as tensors of the new graph in b. The
// tensor it returns takes the place of n's output; tensor{} means: copy n. Nodes a rule builds are named after n.
template <class Rule> constexpr graph rebuild(const graph& g, Rule rule) {
  builder b;
  graph& result = b.value();
  result.symbols = g.symbols;
  result.error = g.error;
  vector<tensor> image(g.values.size());
  for (std::size_t v = 0; v < g.values.size(); ++v) {
    const value& x = g.values[v];
    if (x.from == origin::node) continue;
    value copy = x;
    copy.name = result.store(g.text_of(x.name));
    if (x.from == origin::constant) {
      copy.data.first = static_cast<std::uint32_t>(result.constants.size());
      result.constants.append(g.constants.begin() + x.data.first, g.constants.begin() + x.data.first + x.data.count);
    }
    image[v] = {&b, result.add_value(copy)};
  }
  const vector<std::uint8_t> alive = live_nodes(g);
  for (std::size_t k = 0; k < g.nodes.size(); ++k) {
    if (alive[k] == 0) continue;
    const node& n = g.nodes[k];
    vector<tensor> inputs;
    for (std::size_t i = 0; i < n.inputs.count; ++i) {
      const value_id v = g.input_of(n, i);
      inputs.push_back(v == none ? tensor{} : image[static_cast<std::size_t>(v)]);
    }
    b.default_name(g.text_of(n.name));
    tensor t = rule(b, n, inputs);
    if (!t.present()) {
      vector<value_id> ids;
      for (const tensor& x : inputs) ids.push_back(x.id());
      const std::int64_t* codes = g.attributes_of(n);
      t = {&b, result.add_node(*n.op, g.text_of(n.name), {codes, codes + n.attributes.count}, ids)};
    }
    image[static_cast<std::size_t>(n.output)] = t;
  }
  for (value_id v : g.inputs) result.inputs.push_back(image[static_cast<std::size_t>(v)].id());
  for (std::size_t i = 0; i < g.outputs.size(); ++i) {
    b.default_name("");
    b.output(g.text_of(g.output_names[i]), image[static_cast<std::size_t>(g.outputs[i])]);
  }
  return std::move(b.value());
}

}  // namespace dnnkit
