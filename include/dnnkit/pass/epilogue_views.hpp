// SPDX-License-Identifier: MIT
// The part of fusion's constraint check that concerns movement behind an anchor (SmartMem, section 3.2): it is undone
// in the views of what the kernel stores and reads there, so each of those must stay a strided view, whatever the
// layout.
#pragma once

#include <cstddef>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/graph/graph.hpp"
#include "dnnkit/pass/epilogue.hpp"
#include "dnnkit/tensor/view.hpp"

namespace dnnkit {

class epilogue_views {
 public:
  // `members`: of the kernel, in topological order. They compute none of their values in many ways (evaluations.hpp).
  constexpr epilogue_views(graph& g, node_id anchor, const vector<node_id>& members)
      : g_(g), anchor_(anchor), members_(members), behind_(g, members, anchor) {}

  // Can output `o` be stored, and everything it is computed from behind the anchor be loaded, in the anchor's
  // coordinates? Nothing to check when no movement operator lies between.
  constexpr bool exist(value_id o) {
    path way;
    for (value_id v = o; g_.at(v).producer != anchor_;) {
      const node& n = g_.node_at(g_.at(v).producer);
      if (n.op->kind == form::movement) way.push_back({turn::backward, g_.at(v).producer, none});
      v = behind_.input_behind(n);
    }
    return way.empty() || (is_view(o, way) && read(o, way));
  }

 private:
  enum class turn : std::uint8_t { forward, backward, expand };
  struct transform {
    turn how;
    node_id n;    // forward, backward
    value_id to;  // expand: to this value's shape
    friend constexpr bool operator==(const transform&, const transform&) = default;
  };
  using path = vector<transform>;

  constexpr bool read(value_id v, const path& way) {
    const node_id p = g_.at(v).producer;
    if (p == anchor_) return true;
    if (p != none && g_.node_at(p).op->kind == form::movement) {
      const value_id input = g_.input_of(g_.node_at(p), 0);
      const bool undone = !way.empty() && way[0].how == turn::backward && way[0].n == p;
      return undone ? read(input, path(way.begin() + 1, way.end()))
                    : read(input, in_front({turn::forward, p, none}, way));
    }
    if (p == none || !is_member(p)) return is_view(v, way);
    for (const reading& k : known_)
      if (k.v == v && k.way == way) return true;
    known_.push_back({v, way});
    for (std::size_t i = 0; i < g_.node_at(p).inputs.count; ++i) {
      const value_id in = g_.input_of(g_.node_at(p), i);
      if (in == none) continue;
      const bool same = g_.at(in).type.dims == g_.at(v).type.dims;
      // Not one call with a conditional argument: GCC 12 destroys such temporaries twice in constant expressions.
      if (!(same ? read(in, way) : read(in, in_front(expansion_to(v), way)))) return false;
    }
    return true;
  }

  static constexpr path in_front(const transform& t, const path& rest) {
    path r{t};
    for (const transform& x : rest) r.push_back(x);
    return r;
  }

  // v as a view of which no two axes follow each other in memory, taken along the way.
  constexpr bool is_view(value_id v, const path& way) {
    bool undoes = false;
    for (const transform& t : way) undoes = undoes || t.how == turn::backward;
    if (!undoes) return true;
    view x;
    for (dim d : g_.at(v).type.dims) x.dims.push_back({axis{d, 1}});
    for (const transform& t : way)
      if (!apply(t, x)) return false;
    return true;
  }
  constexpr bool apply(const transform& t, view& x) {
    view_algebra algebra(g_.symbols);
    if (t.how == turn::expand) return algebra.expand(x, g_.at(t.to).type.dims);
    const node& n = g_.node_at(t.n);
    const shape in = g_.at(g_.input_of(n, 0)).type.dims, out = g_.at(n.output).type.dims;
    const auto function = t.how == turn::forward ? n.op->forward : n.op->backward;
    return function && function(g_.attributes_of(n), {algebra, in, out}, x);
  }

  // The same for all values of one shape, so that equal ways are equal.
  constexpr transform expansion_to(value_id v) {
    for (value_id to : expansions_)
      if (g_.at(to).type.dims == g_.at(v).type.dims) return {turn::expand, none, to};
    expansions_.push_back(v);
    return {turn::expand, none, v};
  }
  constexpr bool is_member(node_id n) const {
    for (node_id m : members_)
      if (m == n) return true;
    return false;
  }

  struct reading {
    value_id v;
    path way;
  };

  graph& g_;
  const node_id anchor_;
  const vector<node_id>& members_;
  const epilogue behind_;
  vector<value_id> expansions_;  // to the shapes of these
  vector<reading> known_;        // what members compute, in the ways in which that has been seen to
};

}  // namespace dnnkit
