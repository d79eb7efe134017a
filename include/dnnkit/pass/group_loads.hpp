// SPDX-License-Identifier: MIT
// The stored values that a kernel reads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/graph/graph.hpp"
#include "dnnkit/pass/fusion_plan.hpp"

namespace dnnkit::detail {

// The stored values that a group reads, each once; movement operators are looked through.
constexpr void find_loads(const graph& g, const fusion_group& group, const vector<std::uint8_t>& stored,
                          vector<value_id>& loads) {
  for (node_id n : group.nodes)
    for (std::size_t i = 0; i < g.node_at(n).inputs.count; ++i) {
      value_id v = g.input_of(g.node_at(n), i);
      while (v != none && stored.items[v] == 0 && g.at(v).producer != none && !contains(group, g.at(v).producer))
        v = g.input_of(g.node_at(g.at(v).producer), 0);
      if (v == none || stored.items[v] == 0 || contains(group, g.at(v).producer)) continue;
      bool known = false;
      for (value_id other : loads) known = known || other == v;
      if (!known) loads.push_back(v);
    }
}

}  // namespace dnnkit::detail
