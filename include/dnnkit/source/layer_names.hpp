// SPDX-License-Identifier: MIT
// What operators are called: layers by their modules, where their names are paths, as exporters write them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "dnnkit/graph/builder.hpp"
#include "dnnkit/graph/graph.hpp"

namespace dnnkit {

// The module that a node of this name belongs to, as PyTorch calls it: "layer3.0.conv2" for
// "/layer3/layer3.0/conv2/Conv", whose last part is the operator; "attention.MatMul_1" where a module has several of
// them. Other names are as they are.
inline std::string layer_name(std::string_view node_name) {
  if (!node_name.starts_with('/')) return std::string(node_name);
  const std::string_view whole = node_name;
  std::string name;
  std::string_view before;
  while (node_name.starts_with('/')) {
    node_name.remove_prefix(1);
    const std::string_view part = node_name.substr(0, node_name.find('/'));
    node_name.remove_prefix(part.size());
    if (part.empty()) return std::string(whole);
    const bool is_operator = node_name.empty(), is_numbered = part.find('_') != part.npos;
    if (is_operator && !is_numbered && !name.empty()) break;
    // Modules in a sequence repeat its name: layer3, layer3.0
    if (!before.empty() && part.starts_with(before) && part.substr(before.size()).starts_with('.'))
      name += part.substr(before.size());
    else (name += name.empty() ? "" : ".") += part;
    before = part;
  }
  return name;
}

// An imported graph whose layers, its operators with weights of their own, have these names, and whose other operators
// are called what they are ("Relu"): the names that what is generated from the graph gives them.
inline dnnkit::graph with_names_of_layers(dnnkit::graph g) {
  for (std::size_t n = 0; n < g.nodes.size(); ++n) {
    const dnnkit::node& x = g.nodes[n];
    if (g.is<op::assume_shape>(x)) continue;  // the name says what needs it
    const std::string_view given = g.text_of(x.name);
    const std::string name = layer_weight(g, x) == none ? std::string(x.op->name) : layer_name(given);
    if (name != given) g.rename(static_cast<node_id>(n), g.store(name));
  }
  return g;
}

// The same, with the names for all others that the file has for them, or for what they compute: for logs, which tell
// operators apart by their names.
inline dnnkit::graph with_names_for_logs(dnnkit::graph g) {
  for (std::size_t n = 0; n < g.nodes.size(); ++n) {
    const dnnkit::node& x = g.nodes[n];
    if (layer_weight(g, x) == none) continue;
    const std::string_view given = g.text_of(x.name);
    const std::string name = layer_name(given);
    if (name != given) g.rename(static_cast<node_id>(n), g.store(name));
  }
  return g;
}

}  // namespace dnnkit
