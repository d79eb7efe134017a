// SPDX-License-Identifier: MIT
// The members of a kernel that lie behind its anchor.
#pragma once

#include <cstddef>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/graph/graph.hpp"

namespace dnnkit {

class epilogue {
 public:
  // `members`: in topological order.
  constexpr epilogue(const graph& g, const vector<node_id>& members, node_id anchor) : g_(g), anchor_(anchor) {
    if (anchor == none) return;
    for (node_id n : members)
      if (n > anchor && reads_behind_anchor(g.node_at(n))) behind_.push_back(n);
  }

  // Is v the anchor's result, or computed from it by members?
  constexpr bool has(value_id v) const {
    const node_id p = v == none ? none : g_.at(v).producer;
    if (p == none) return false;
    bool is_behind = p == anchor_;
    for (std::size_t k = 0; k < behind_.size() && !is_behind; ++k) is_behind = behind_[k] == p;
    return is_behind;
  }
  // The first input of n that lies behind the anchor, or is its result; none unless n lies there too.
  constexpr value_id input_behind(const node& n) const {
    for (std::size_t i = 0; i < n.inputs.count; ++i)
      if (const value_id v = g_.input_of(n, i); has(v)) return v;
    return none;
  }

 private:
  constexpr bool reads_behind_anchor(const node& n) const {
    for (std::size_t i = 0; i < n.inputs.count; ++i)
      if (has(g_.input_of(n, i))) return true;
    return false;
  }

  const graph& g_;
  const node_id anchor_;
  vector<node_id> behind_;
};

}  // namespace dnnkit
