// SPDX-License-Identifier: MIT
// What a graph's nodes AssumeShape assume, and which branches must be taken for it to matter: what a branch assumes is
// checked where that is taken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dnnkit/core/namespaces.hpp"
#include "dnnkit/core/vector.hpp"
#include "dnnkit/graph/branches.hpp"
#include "dnnkit/graph/graph.hpp"
#include "dnnkit/graph/walk.hpp"
#include "dnnkit/op/assume_shape.hpp"

namespace dnnkit::plan {

struct branch_assumption {
  assumption assumed;
  vector<branch> branches;  // outer ones first; none where it always must hold
};

// What node `n`, an AssumeShape, assumes of extent `d`, which is another than that of its input.
constexpr assumption assumption_of(const graph& g, const node& n, std::size_t d) {
  const value_id of = g.input_of(n, 0);
  assumption a{g.at(of).type.dims[d], g.at(n.output).type.dims[d], relation::equal, text(g.text_of(n.name))};
  if (const std::string_view tensor = g.name_of(of); !tensor.empty()) a.needed_by << ", tensor '" << tensor << "'";
  return a;
}

// Each once, in the order of the nodes. `guards[n]`: the branches of node n, as its executor leaves them out.
constexpr vector<branch_assumption> branch_assumptions_of(const graph& g, const vector<vector<branch>>& guards) {
  vector<branch_assumption> all;
  if (!has_operator<op::assume_shape>(g)) return all;
  const vector<std::uint8_t> alive = live_nodes(g);
  for (std::size_t k = 0; k < g.nodes.count; ++k) {
    const node& n = g.nodes.items[k];
    if (alive.items[k] == 0 || !g.is<op::assume_shape>(n)) continue;
    const shape &from = g.at(g.input_of(n, 0)).type.dims, &to = g.at(n.output).type.dims;
    for (std::size_t d = 0; d < to.size(); ++d) {
      bool is_new = !(from[d] == to[d]);
      for (const branch_assumption& known : all)
        is_new =
            is_new && !(known.assumed.left == from[d] && known.assumed.right == to[d] && known.branches == guards[k]);
      if (is_new) all.push_back({assumption_of(g, n, d), guards[k]});
    }
  }
  return all;
}

}  // namespace dnnkit::plan
