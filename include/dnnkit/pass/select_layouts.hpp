// SPDX-License-Identifier: MIT
// Pass: where the coordinates of each stored value lie (SmartMem, section 3.3: a producer writes contiguously what its
// reader reduces over). Values that convolutions and pools read or write are channels last; what has the same rank and
// is computed from such a value element by element follows. A value that a convolution reads as it is carries a halo as
// wide as the padding. Inputs and outputs of the graph stay row-major. One layout a value; the first reader wins.
#pragma once

#include <algorithm>
#include <cstddef>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/op/convolution.hpp"
#include "dnnkit/pass/fusion_plan.hpp"
#include "dnnkit/plan/plan.hpp"

namespace dnnkit::passes {

struct select_layouts {
  static constexpr std::string_view name = "select layouts";

  // One layout for each value of the graph; those of values that are not stored mean nothing.
  static constexpr vector<buffer_layout> run(const graph& g, const fusion_plan& fusion) {
    vector<buffer_layout> layouts;
    for (const value& v : g.values) layouts.push_back(row_major(v.type.dims.size()));
    vector<std::uint8_t> last(g.values.size(), 0);  // stored channels last
    auto index = [](std::int32_t i) { return static_cast<std::size_t>(i); };
    for (const fusion_group& group : fusion.groups)
      if (!group.setup && group.anchor != none && wants_channels_last(g, g.node_at(group.anchor))) {
        mark(g, g.input_of(g.node_at(group.anchor), 0), last);
        for (value_id o : group.outputs) mark(g, o, last);
      }
    for (const fusion_group& group : fusion.groups) {
      if (group.setup) continue;
      bool follows = false;
      for (node_id n : group.nodes)
        for (std::size_t i = 0; i < g.node_at(n).inputs.count; ++i)
          if (const value_id v = g.input_of(g.node_at(n), i); v != none && last[index(v)] != 0)
            follows = follows || g.at(v).type.dims == g.at(group.outputs[0]).type.dims;
      if (follows)
        for (value_id o : group.outputs) mark(g, o, last);
    }
    for (std::size_t v = 0; v < g.values.size(); ++v)
      if (last[v] != 0) layouts[v] = channels_last(g.values[v].type.dims.size());
    for (const fusion_group& group : fusion.groups)
      if (group.anchor != none && !group.setup) add_halo(g, g.node_at(group.anchor), layouts, last);
    return layouts;
  }

 private:
  static constexpr bool wants_channels_last(const graph& g, const node& anchor) {
    const std::size_t rank = g.at(anchor.output).type.dims.size();
    return anchor.op->properties.contiguous_axis == 1 && rank >= 3 && rank <= 5;
  }
  static constexpr void mark(const graph& g, value_id v, vector<std::uint8_t>& last) {
    if (g.at(v).from == origin::node && g.at(v).type.dims.size() >= 3 && !is_output(g, v))
      last[static_cast<std::size_t>(v)] = 1;
  }
  static constexpr buffer_layout row_major(std::size_t rank) {
    buffer_layout l;
    for (std::size_t i = 0; i < rank; ++i) {
      l.order.push_back(static_cast<std::uint8_t>(i));
      l.before.push_back(0);
      l.after.push_back(0);
    }
    return l;
  }
  static constexpr buffer_layout channels_last(std::size_t rank) {
    buffer_layout l = row_major(rank);
    l.order.erase(1);
    l.order.push_back(1);
    return l;
  }
  static constexpr void add_halo(const graph& g, const node& anchor, vector<buffer_layout>& layouts,
                                 const vector<std::uint8_t>& last) {
    const value_id x = g.input_of(anchor, 0);
    if (!g.is<op::conv>(anchor) || last[static_cast<std::size_t>(x)] == 0) return;
    const shape& weight = g.at(g.input_of(anchor, 1)).type.dims;
    const window w = g.as<op::conv>(anchor).over([&](std::size_t i) { return weight[i].value(); }, weight.size() - 2);
    buffer_layout& l = layouts[static_cast<std::size_t>(x)];
    for (std::size_t i = 0; i + 2 < weight.size(); ++i) {
      l.before[i + 2] = std::max(l.before[i + 2], static_cast<std::uint8_t>(w.pad_begin(i)));
      l.after[i + 2] = std::max(l.after[i + 2], static_cast<std::uint8_t>(w.pad_end(i)));
    }
  }
};

}  // namespace dnnkit::passes
