// SPDX-License-Identifier: MIT
// Whether two graphs are the same but for the numbering of values and the names of nodes: operators, attributes,
// operands, weights by name, constants by content.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "dnnkit/graph/walk.hpp"

namespace dnnkit::tests {

// The attributes, without lists that say what is so anyway: strides and dilations of 1, pads of 0, the kernel_shape
// that a convolution's weight has, steps of 1, the ends of slices (the output's shape says them).
inline std::string said_by(std::string_view op, std::string_view attributes) {
  std::string kept;
  while (!attributes.empty()) {
    const std::size_t equals = attributes.find('='), closed = attributes.find(']'), space = attributes.find(' ');
    const bool list = attributes.substr(equals + 1).starts_with("[");
    const std::size_t end = std::min(list ? closed + 1 : space, attributes.size());
    const std::string_view name = attributes.substr(0, equals), value = attributes.substr(equals + 1, end - equals - 1);
    const auto only = [&](const char* digits) { return value.find_first_not_of(digits) == value.npos; };
    const bool implied = ((name == "strides" || name == "dilations" || name == "steps") && only("[1, ]")) ||
                         (name == "pads" && only("[0, ]") && op != "Pad") || (name == "kernel_shape" && op == "Conv") ||
                         (name == "ends" && op == "Slice");
    if (!implied) kept += " " + std::string(attributes.substr(0, end));
    attributes.remove_prefix(std::min(end + 1, attributes.size()));
  }
  return kept;
}

// One line a live node, operands by what they are. Windows are said in full and slices up to the end of their axis, so
// that graphs which say the same in other words compare equal.
inline std::vector<std::string> canonical_lines(const graph& g) {
  std::vector<std::string> lines;
  std::map<value_id, std::string> names;
  const auto name_of = [&](value_id v) -> std::string {
    if (v == none) return "absent";
    const value& x = g.at(v);
    const std::string type = std::string(name(x.type.type)) + print(g.symbols, x.type.dims).str();
    if (x.from == origin::weight) return "weight " + std::string(g.text_of(x.name)) + " " + type;
    if (x.from == origin::constant) {
      std::string s = "constant " + type;
      for (std::uint32_t i = 0; i < x.data.count; ++i) s += " " + std::to_string(g.constants[x.data.first + i]);
      return s;
    }
    return names.at(v);
  };
  const auto alive = live_nodes(g);
  for (std::size_t i = 0; i < g.inputs.size(); ++i) {
    const value& x = g.at(g.inputs[i]);
    names[g.inputs[i]] = "input " + std::to_string(i);
    lines.push_back(names[g.inputs[i]] + " " + std::string(g.text_of(x.name)) + " " + std::string(name(x.type.type)) +
                    print(g.symbols, x.type.dims).str());
  }
  for (std::size_t k = 0; k < g.nodes.size(); ++k) {
    if (alive[k] == 0) continue;
    const node& n = g.nodes[k];
    std::string s(n.op->name);
    for (std::size_t i = 0; i < n.inputs.count; ++i) s += " (" + name_of(g.input_of(n, i)) + ")";
    text attributes;
    n.op->print(g.attributes_of(n), g.symbols, attributes);
    s += said_by(n.op->name, attributes.view());
    s += " -> " + print(g.symbols, g.at(n.output).type.dims).str();
    names[n.output] = "node " + std::to_string(names.size());
    lines.push_back(names[n.output] + ": " + s);
  }
  for (std::size_t i = 0; i < g.outputs.size(); ++i)
    lines.push_back("output " + std::string(g.text_of(g.output_names[i])) + " " + name_of(g.outputs[i]));
  return lines;
}

// The first line in which they differ; empty when they do not.
inline std::string first_difference(const graph& a, const graph& b) {
  const auto x = canonical_lines(a), y = canonical_lines(b);
  for (std::size_t i = 0; i < x.size() || i < y.size(); ++i) {
    const std::string left = i < x.size() ? x[i] : "nothing", right = i < y.size() ? y[i] : "nothing";
    if (left != right) return left + "\n" + right;
  }
  return {};
}

}  // namespace dnnkit::tests
