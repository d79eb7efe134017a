// SPDX-License-Identifier: MIT
// Pass: refuses graphs whose extents depend on elements (SoD2's class edo): a plan's buffers need extents that follow
// from the inputs'. Changes nothing.
#pragma once

#include <cstddef>
#include <string_view>

#include "dnnkit/pass/schedule.hpp"

namespace dnnkit::passes {

struct check_extents {
  static constexpr std::string_view name = "check extents";
  static constexpr std::string_view needed = "a plan has no room for extents that elements decide";

  static constexpr void run(schedule& s) {
    graph& g = s.g;
    for (std::size_t k = 0; k < g.nodes.count; ++k) {
      const node& n = g.nodes.items[k];
      if (!has_unknown(g.values.items[n.output].type.dims)) continue;
      g.error << g.label_of(n)
              << ": the extents of its output depend on the elements of its inputs; a compiled network has no room "
                 "for that, the interpreter does";
      return;
    }
  }
};

}  // namespace dnnkit::passes
