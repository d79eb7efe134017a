// SPDX-License-Identifier: MIT
// Pass: replaces every composite operator by the operators it is said in (op_info::expand), until none is left.
// Takes any graph; guarantees that no node's form is composite. Exact: a composite is defined by its expansion.
#pragma once

#include "dnnkit/graph/rebuild.hpp"

namespace dnnkit::passes {

struct expand_composites {
  static constexpr std::string_view name = "expand composites";

  static constexpr graph run(graph g) {
    while (has_composite(g))
      g = rebuild(g, [&](builder&, const node& n, const vector<tensor>& inputs) {
        return n.op->expand ? n.op->expand(g.attributes_of(n), inputs) : tensor{};
      });
    return g;
  }

 private:
  static constexpr bool has_composite(const graph& g) {
    for (const node& n : g.nodes)
      if (n.op->expand) return true;
    return false;
  }
};

}  // namespace dnnkit::passes
