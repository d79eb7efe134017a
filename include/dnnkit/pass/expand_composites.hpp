// SPDX-License-Identifier: MIT
// Pass: replaces every composite operator by the operators it is said in (op_info::expand), until none is left.
// Takes any graph; guarantees that no node's form is composite. Exact: a composite is defined by its expansion.
#pragma once

#include <cstddef>
#include <string_view>

#include "dnnkit/graph/rebuild.hpp"
#include "dnnkit/pass/decision_log.hpp"

namespace dnnkit::passes {

struct expand_composites {
  static constexpr std::string_view name = "expand composites";
  static constexpr std::string_view needed = "no kernel is made of an operator that is said in terms of others";

  static constexpr graph run(graph g, decision_notes notes = {}) {
    while (has_composite(g))
      g = rebuild(
          g,
          [&](builder&, const node& n, const rebuilt_inputs& inputs) {
            return n.op->kind == form::composite ? n.op->expand(g.attributes_of(n), inputs.list()) : tensor{};
          },
          [&](const node& n, const graph& now, std::size_t first) {
            notes.add({name, "expanded", "it is said in terms of simpler operators"}, g, n, now, first);
          });
    return g;
  }

 private:
  static constexpr bool has_composite(const graph& g) {
    for (std::size_t n = 0; n < g.nodes.count; ++n)
      if (g.nodes.items[n].op->kind == form::composite) return true;
    return false;
  }
};

}  // namespace dnnkit::passes
