// SPDX-License-Identifier: MIT
// Pass: a run of movement operators becomes one view, and what later passes do with it takes as many steps, and as much
// of the stack, as it has operators. Where it has too many of them, which only a generated model can have, the elements
// are stored on the way: by a Cast to the type they have. Takes any graph; guarantees that no more than `most`
// movement operators follow each other. Exact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/graph/rebuild.hpp"
#include "dnnkit/op/cast.hpp"
#include "dnnkit/pass/decision_log.hpp"

namespace dnnkit::passes {

struct break_long_views {
  static constexpr std::string_view name = "break long views";
  static constexpr std::uint8_t most = 64;

  static constexpr graph run(graph g, decision_notes notes = {}) {
    // movement operators on the way to a value since it was last stored
    vector<std::uint8_t> length(g.values.size(), 0);
    bool too_long = false;
    for (const node& n : g.nodes) {
      if (n.op->kind != form::movement) continue;
      std::uint8_t& steps = length[n.output];
      steps = length[g.input_of(n, 0)];
      if (++steps < most) continue;
      steps = 0;
      too_long = true;
    }
    if (!too_long) return g;
    return rebuild(g, [&](builder& b, const node& n, const rebuilt_inputs& inputs) {
      if (n.op->kind != form::movement || length[n.output] != 0) return tensor{};
      const tensor moved(&b, detail::copy_node(b.value(), g, n, inputs));
      notes.add({name, "stored", "a longer run of movement operators would be one view"}, g, n);
      return b.apply(op::cast{moved.type()}, {moved});
    });
  }
};

}  // namespace dnnkit::passes
