// SPDX-License-Identifier: MIT
// Pass: a Gather of positions that are known and lie evenly is a Slice, which is no kernel but a view (SmartMem,
// section 3.2.1: selection by constant indices is index arithmetic).
//   Gather(x, 5) = Squeeze(Slice(x, 5 to 6))    Gather(x, [1, 3, 5]) = Slice(x, 1 to 6 by 2)
// Takes a graph without composites; guarantees the same function, to the last bit. A position that an extent which is a
// symbol may not have stays a Gather's, which says so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "dnnkit/graph/rebuild.hpp"
#include "dnnkit/op/gather.hpp"
#include "dnnkit/op/movement.hpp"
#include "dnnkit/op/slice.hpp"
#include "dnnkit/pass/decision_log.hpp"

namespace dnnkit::passes {

struct slice_gathers {
  static constexpr std::string_view name = "slice gathers";

  static constexpr graph run(graph g, decision_notes notes = {}) {
    bool any = false;
    for (std::size_t k = 0; k < g.nodes.count; ++k) any = any || slice_of_gather(g, g.nodes.items[k]).has_value();
    if (!any) return g;
    return rebuild(
        g,
        [&](builder& b, const node& n, const rebuilt_inputs& inputs) {
          const std::optional<op::slice> part = slice_of_gather(g, n);
          if (!part) return tensor{};
          const tensor y = b.apply(*part, {inputs[0]});
          return g.at(g.input_of(n, 1)).type.dims.empty() ? squeeze(y, {.axes = {part->axes[0]}}) : y;
        },
        [&](const node& n, const graph& now, std::size_t first) {
          notes.add({name, "rewritten", "its positions are known and lie evenly: a view"}, g, n, now, first);
        });
  }

 private:
  // The part that n takes, if it is a Gather of one position or of a row of them.
  static constexpr std::optional<op::slice> slice_of_gather(graph& g, const node& n) {
    if (!g.is<op::gather>(n)) return {};
    const value& positions = g.at(g.input_of(n, 1));
    if (positions.from != origin::constant || positions.type.dims.size() > 1) return {};
    const auto count = static_cast<std::int64_t>(positions.data.count);
    if (count == 0 || !(element_count(g.symbols, positions.type.dims) == dim(count))) return {};
    const shape& data = g.at(g.input_of(n, 0)).type.dims;
    const std::size_t axis = g.as<op::gather>(n).along(data.size());
    const dim extent = data[axis];
    const std::int64_t least = g.symbols.range(extent).min;  // so many elements there are whatever symbols are
    std::int64_t first = 0, last = 0, step = 1;
    for (std::int64_t i = 0; i < count; last = position_of(g, positions, i++, extent)) {
      const std::int64_t p = position_of(g, positions, i, extent);
      if (p < 0 ? extent.is_known() || p < -least : p >= least) return {};
      if (i == 0) first = p;
      if (i > 0 && ((p < 0) != (first < 0) || p <= last || (i > 1 && p - last != step))) return {};
      if (i == 1) step = p - last;
    }
    constexpr std::int64_t beyond = std::numeric_limits<std::int64_t>::max();  // 0 would be the first element
    const op::slice part{.starts = {first},
                         .ends = {last == -1 ? beyond : last + 1},
                         .axes = {static_cast<std::int64_t>(axis)},
                         .steps = {step}};
    if (!(part.range_of(g.symbols, 0, extent).count == dim(count))) return {};
    return part;
  }
  // As it counts from the beginning of an axis whose extent is known.
  static constexpr std::int64_t position_of(const graph& g, const value& positions, std::int64_t i, dim extent) {
    const std::int64_t p = g.constants[positions.data.first + static_cast<std::size_t>(i)];
    return p < 0 && extent.is_known() ? p + extent.value() : p;
  }
};

}  // namespace dnnkit::passes
