// SPDX-License-Identifier: MIT
// Pass: an output of the graph that no node computes in a run (an input, or what depends on weights alone), or that is
// given out twice, goes through an Identity of its own. Takes any graph; guarantees that every output is the output of
// a node that depends on nothing but its inputs' values, and that no value is two outputs. Exact.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/graph/rebuild.hpp"
#include "dnnkit/op/movement.hpp"

namespace dnnkit::passes {

struct separate_outputs {
  static constexpr std::string_view name = "separate outputs";

  static constexpr graph run(const graph& g) {
    const vector<std::uint8_t> fixed = known_before_run(g);
    graph result = rebuild(g, [](builder&, const node&, const vector<tensor>&) { return tensor{}; });
    for (std::size_t i = 0; i < result.outputs.size(); ++i) {
      bool separate = fixed[static_cast<std::size_t>(g.outputs[i])] != 0;
      for (std::size_t j = 0; j < i; ++j) separate = separate || g.outputs[j] == g.outputs[i];
      if (!separate) continue;
      const text called(result.text_of(result.output_names[i]));
      result.outputs[i] = result.add_node(info_of<op::identity>, called.view(), {}, {result.outputs[i]});
    }
    return result;
  }

 private:
  // Leaves, and what depends on weights and constants alone.
  static constexpr vector<std::uint8_t> known_before_run(const graph& g) {
    vector<std::uint8_t> fixed(g.values.size(), 0);
    for (std::size_t v = 0; v < g.values.size(); ++v)
      fixed[v] = g.values[v].from == origin::weight || g.values[v].from == origin::constant;
    for (const node& n : g.nodes) {
      std::uint8_t all = 1;
      for (std::size_t i = 0; i < n.inputs.count; ++i)
        if (const value_id v = g.input_of(n, i); v != none && fixed[static_cast<std::size_t>(v)] == 0) all = 0;
      fixed[static_cast<std::size_t>(n.output)] = all;
    }
    for (value_id v : g.inputs) fixed[static_cast<std::size_t>(v)] = 1;
    return fixed;
  }
};

}  // namespace dnnkit::passes
