// SPDX-License-Identifier: MIT
// Index maps (SmartMem, section 3.2): how the coordinates that a kernel reads a value in become the value's own. A map
// is a chain of steps, the one next to the value first: a movement operator, the inverse of one, or a broadcast. Chains
// that end alike share their ends, and equal maps have equal numbers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dnnkit/core/namespaces.hpp"
#include "dnnkit/core/vector.hpp"
#include "dnnkit/graph/graph.hpp"
#include "dnnkit/tensor/view.hpp"

namespace dnnkit::plan {

enum class index_change : std::uint8_t { movement, inverse, broadcast };

struct index_step {
  index_change how{};
  node_id moved = none;             // movement, inverse: by this operator
  value_id from = none, to = none;  // broadcast: from the shape of one value to that of another
};

using index_map = std::int32_t;

class index_maps {
 public:
  static constexpr index_map identity = 0;

  constexpr explicit index_maps(graph& g) : g_(g) { maps_.push_back({}); }

  // To read the output of movement operator n through m is to read its input through this.
  constexpr index_map through(node_id n, index_map m) {
    if (m != identity && step(m).how == index_change::inverse && step(m).moved == n) return rest(m);
    return joined({index_change::movement, n}, m);
  }
  // To store the input of movement operator n where its output is stored through m.
  constexpr index_map undoing(node_id n, index_map m) { return joined({index_change::inverse, n}, m); }
  // To read `from` broadcast to the shape of `to`, which is read through m.
  constexpr index_map broadcast(value_id from, value_id to, index_map m) {
    if (same_shape(g_.at(from).type.dims, g_.at(to).type.dims)) return m;
    return joined({index_change::broadcast, none, from, to}, m);
  }

  // A map that is not the identity: its first step, and the map behind that.
  constexpr const index_step& step(index_map m) const { return maps_.items[m].first; }
  constexpr index_map rest(index_map m) const { return maps_.items[m].rest; }
  // Is some step the inverse of a movement operator? Coordinates do not pass through that one by one: such a map must
  // be a strided view.
  constexpr bool has_inverse(index_map m) const { return maps_.items[m].inverse; }

  // Takes a value's view along the map's steps as far as strided views go; what is left of the map.
  constexpr index_map apply(index_map m, view& v) {
    while (m != identity && apply(step(m), v)) m = rest(m);
    return m;
  }

 private:
  struct entry {
    index_step first;
    index_map rest = identity;
    bool inverse = false;
    index_map longer = none, next = none;  // the first of the maps with one more step, and the next with this rest
  };

  constexpr index_map joined(const index_step& first, index_map rest) {
    for (index_map m = maps_.items[rest].longer; m != none; m = maps_.items[m].next)
      if (is_same(step(m), first)) return m;
    const auto made = static_cast<index_map>(maps_.count);
    entry e{first, rest};
    e.inverse = first.how == index_change::inverse || has_inverse(rest);
    e.next = maps_.items[rest].longer;
    maps_.push_back(e);
    maps_.items[rest].longer = made;
    return made;
  }
  constexpr bool is_same(const index_step& a, const index_step& b) const {
    if (a.how != b.how || a.moved != b.moved) return false;
    return a.how != index_change::broadcast || (same_shape(g_.at(a.from).type.dims, g_.at(b.from).type.dims) &&
                                                same_shape(g_.at(a.to).type.dims, g_.at(b.to).type.dims));
  }

  constexpr bool apply(const index_step& s, view& v) {
    view_algebra algebra(g_.symbols);
    if (s.how == index_change::broadcast) return algebra.expand(v, g_.at(s.to).type.dims);
    const node& n = g_.node_at(s.moved);
    const movement m{algebra, g_.at(g_.input_of(n, 0)).type.dims, g_.at(n.output).type.dims};
    const auto function = s.how == index_change::movement ? n.op->forward : n.op->backward;
    return function && function(g_.attributes_of(n), m, v);
  }

  graph& g_;
  vector<entry> maps_;  // by number
};

}  // namespace dnnkit::plan
