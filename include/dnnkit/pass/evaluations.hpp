// SPDX-License-Identifier: MIT
// The part of fusion's constraint check that concerns work done again. A kernel computes a value once for each way in
// which the coordinates of the kernel become the value's: y = transpose(a) + a computes a twice, and k times so the
// first value 2^k times. The ways are counted, as the recipe builder would find them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/graph/graph.hpp"
#include "dnnkit/pass/epilogue.hpp"

namespace dnnkit {

class evaluations {
 public:
  // `members`: in topological order.
  constexpr evaluations(const graph& g, const vector<node_id>& members, node_id anchor)
      : g_(g), members_(members), anchor_(anchor) {}

  // Is each element-wise operator computed at most `most` times for the same reader: the kernel's outputs, or one input
  // of its anchor?
  constexpr bool are_at_most(std::uint32_t most, const vector<value_id>& outputs) {
    most_ = most;
    if (anchor_ != none) {
      const node& x = g_.node_at(anchor_);
      for (std::size_t i = 0; i < x.inputs.count; ++i) {
        const value_id v = g_.input_of(x, i);
        evaluated_.clear();
        if (v != none && !read(v, none)) return false;
      }
    }
    evaluated_.clear();
    is_behind_ = true;
    const epilogue behind(g_, members_, anchor_);
    for (value_id o : outputs)
      if (!read(o, behind.has(o) ? way_of_output(o, behind) : none)) return false;
    return true;
  }

 private:
  // One operator on the way from a value's coordinates to the kernel's, and the number of the way behind it. A movement
  // operator that is undone reads its output; a broadcast is that of one value to the shape of another.
  struct passage {
    node_id moved = none;
    bool undone = false;
    value_id from = none, to = none;
    std::int32_t rest = none;
  };
  struct evaluation {
    node_id n;
    std::int32_t way;
  };

  constexpr bool is_movement(node_id n) const { return n != none && g_.node_at(n).op->kind == form::movement; }

  constexpr bool is_member(node_id n) const {
    for (node_id m : members_)
      if (m == n) return true;
    return false;
  }

  constexpr bool is_same(const passage& a, const passage& b) const {
    if (a.moved != b.moved || a.undone != b.undone || a.rest != b.rest || (a.from == none) != (b.from == none))
      return false;
    return a.from == none ||
           (g_.at(a.from).type.dims == g_.at(b.from).type.dims && g_.at(a.to).type.dims == g_.at(b.to).type.dims);
  }
  constexpr std::int32_t way_through(const passage& p) {
    for (std::size_t k = 0; k < ways_.size(); ++k)
      if (is_same(ways_[k], p)) return static_cast<std::int32_t>(k);
    ways_.push_back(p);
    return static_cast<std::int32_t>(ways_.size() - 1);
  }

  // From an output up to the anchor: the movement that is undone where the kernel stores it.
  constexpr std::int32_t way_of_output(value_id o, const epilogue& behind) {
    vector<node_id> undone;
    for (value_id v = o; g_.at(v).producer != anchor_;) {
      const node_id p = g_.at(v).producer;
      if (is_movement(p)) undone.push_back(p);
      v = behind.input_behind(g_.node_at(p));
    }
    std::int32_t way = none;
    for (std::size_t k = undone.size(); k-- > 0;) way = way_through({undone[k], true, none, none, way});
    return way;
  }

  constexpr bool read(value_id v, std::int32_t way) {
    node_id p = g_.at(v).producer;
    for (; is_movement(p); v = g_.input_of(g_.node_at(p), 0), p = g_.at(v).producer) {
      const bool is_undone = way != none && ways_[way].undone && ways_[way].moved == p;
      way = is_undone ? ways_[way].rest : way_through({p, false, none, none, way});
    }
    if (p == none || !is_member(p) || (is_behind_ && p == anchor_)) return true;
    std::uint32_t times = 1;
    for (const evaluation& e : evaluated_)
      if (e.n == p && e.way == way) return true;
      else if (e.n == p) ++times;
    if (times > most_) return false;
    evaluated_.push_back({p, way});
    const node& n = g_.node_at(p);
    for (std::size_t i = 0; i < n.inputs.count; ++i) {
      const value_id in = g_.input_of(n, i);
      if (in == none) continue;
      const bool same = g_.at(in).type.dims == g_.at(v).type.dims;
      if (!read(in, same ? way : way_through({none, false, in, v, way}))) return false;
    }
    return true;
  }

  const graph& g_;
  const vector<node_id>& members_;
  const node_id anchor_;
  std::uint32_t most_ = 0;
  bool is_behind_ = false;  // does what is read lie behind the anchor?
  vector<passage> ways_;
  vector<evaluation> evaluated_;
};

}  // namespace dnnkit
