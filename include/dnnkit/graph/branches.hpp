// SPDX-License-Identifier: MIT
// Which nodes only one branch of a Combine needs, so that they run only when it is taken (SoD2, section 4.1: <Switch,
// Combine>, without a Switch: what a branch consists of follows from who reads what).
#pragma once

#include <cstddef>
#include <cstdint>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/graph/graph.hpp"
#include "dnnkit/op/combine.hpp"

namespace dnnkit {

// The branch that Combine node `at` takes when its condition is `when`.
struct branch {
  node_id at = none;
  bool when = false;
  friend constexpr bool operator==(const branch&, const branch&) = default;
};

// branches_of(g)[n]: the branches that must all be taken for node n to be needed; none when it always is.
constexpr vector<vector<branch>> branches_of(const graph& g) {
  vector<vector<branch>> guards(g.nodes.size());
  vector<std::uint8_t> used(g.nodes.size(), 0);  // by a node seen so far
  bool any = false;
  for (const node& n : g.nodes) any = any || g.is<op::combine>(n);
  if (!any) return guards;
  // A further user: what its own guards and those so far have in common remains.
  const auto add_use = [&](value_id v, const vector<branch>& of_user) {
    const node_id p = g.at(v).producer;
    if (p == none) return;
    if (used[p] == 0) {
      used[p] = 1;
      guards[p] = of_user;
      return;
    }
    vector<branch> common;
    for (const branch& x : guards[p])
      for (const branch& y : of_user)
        if (x == y) common.push_back(x);
    guards[p] = common;
  };
  for (value_id v : g.outputs) add_use(v, {});
  for (std::size_t k = g.nodes.size(); k-- > 0;) {
    const node& n = g.nodes[k];
    for (std::size_t i = 0; i < n.inputs.count; ++i) {
      const value_id v = g.input_of(n, i);
      if (v == none) continue;
      vector<branch> mine = guards[k];
      if (g.is<op::combine>(n) && i > 0) mine.push_back({static_cast<node_id>(k), i == 1});
      add_use(v, mine);
    }
  }
  return guards;
}

}  // namespace dnnkit
