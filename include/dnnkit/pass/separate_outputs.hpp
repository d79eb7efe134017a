// SPDX-License-Identifier: MIT
// Pass: an output of the graph that no node computes in a run (an input, or what depends on weights alone), or that is
// given out twice, goes through an Identity of its own. Takes any graph; guarantees that every output is the output of
// a node that depends on nothing but its inputs' values, and that no value is two outputs. Exact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/graph/rebuild.hpp"
#include "dnnkit/op/movement.hpp"
#include "dnnkit/pass/decision_log.hpp"

namespace dnnkit::passes {

struct separate_outputs {
  static constexpr std::string_view name = "separate outputs";
  static constexpr std::string_view needed = "each output of a plan is stored by a kernel of its own";

  static constexpr graph run(graph g, decision_notes notes = {}) {
    if (has_dead_nodes(g)) g = rebuild(g, [](builder&, const node&, const rebuilt_inputs&) { return tensor{}; });
    const vector<std::uint8_t> fixed = known_before_run(g);
    const vector<value_id> given = g.outputs;
    for (std::size_t i = 0; i < given.size(); ++i) {
      bool separate = fixed[given[i]] != 0;
      for (std::size_t j = 0; j < i; ++j) separate = separate || given[j] == given[i];
      if (!separate) continue;
      const text called(g.text_of(g.output_names[i]));
      g.outputs[i] = g.add_node(info_of<op::identity>, called.view(), {}, {given[i]});
      notes.add({name, "copied",
                 fixed[given[i]] != 0 ? "no run computes what this output gives out"
                                      : "another output gives out the same value"},
                g, g.nodes.back());
    }
    return g;
  }

 private:
  static constexpr bool has_dead_nodes(const graph& g) {
    const vector<std::uint8_t> alive = live_nodes(g);
    for (std::size_t n = 0; n < alive.count; ++n)
      if (alive.items[n] == 0) return true;
    return false;
  }

  // Leaves, and what depends on weights and constants alone.
  static constexpr vector<std::uint8_t> known_before_run(const graph& g) {
    vector<std::uint8_t> fixed = fixed_values(g, [](value_id) { return true; });
    for (value_id v : g.inputs) fixed[v] = 1;
    return fixed;
  }
};

}  // namespace dnnkit::passes
