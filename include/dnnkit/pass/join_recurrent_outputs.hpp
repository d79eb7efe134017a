// SPDX-License-Identifier: MIT
// Pass: recurrent layers that differ in which output they give - all states, the last one, the last cell - and in
// nothing else become one layer that gives all of them, and slices of it, so that its steps are computed once. Takes
// any graph; guarantees the same function, to the last bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include "dnnkit/graph/rebuild.hpp"
#include "dnnkit/graph/walk.hpp"
#include "dnnkit/op/movement.hpp"
#include "dnnkit/op/quantized_recurrent.hpp"
#include "dnnkit/op/recurrent.hpp"
#include "dnnkit/op/slice.hpp"
#include "dnnkit/pass/decision_log.hpp"

namespace dnnkit::detail {

constexpr bool is_recurrent(const node& n) {
  return n.op->id == id_of<op::lstm> || n.op->id == id_of<op::gru> || n.op->id == id_of<op::rnn> ||
         n.op->id == id_of<op::dynamic_quantize_lstm>;
}

// Output number layer.output, of these extents, of the layer `all` that gives all outputs; makes that layer first if
// there is none yet.
template <class Layer>
constexpr tensor part_of_layer(builder& b, Layer layer, const rebuilt_inputs& inputs, value_id& all,
                               const shape& dims) {
  const std::int64_t output = layer.output, behind = Layer::cell_type::outputs - 1, end = output - behind;
  layer.output = -1;
  if (all == none) all = b.apply(layer, inputs.list()).id();
  const op::slice steps{.starts = {output == 0 ? 0 : end - 1},
                        .ends = {end == 0 ? std::numeric_limits<std::int32_t>::max() : end},
                        .axes = {layer.layout == 0 ? 0 : 1}};
  const tensor some = b.apply(steps, {tensor{&b, all}});
  return output == 0 ? some : b.apply(op::reshape{dims}, {some});
}

}  // namespace dnnkit::detail

namespace dnnkit::passes {

struct join_recurrent_outputs {
  static constexpr std::string_view name = "join recurrent outputs";

  static constexpr graph run(graph g, decision_notes notes = {}) {
    const vector<std::int32_t> first = joined(g);
    if (first.empty()) return g;
    vector<value_id> made(g.nodes.size(), none);  // of the new graph: the layer that node number i became
    return rebuild(
        g,
        [&](builder& b, const node& n, const rebuilt_inputs& inputs) {
          const std::int32_t leader = first[static_cast<std::size_t>(&n - g.nodes.items)];
          if (leader == none) return tensor{};
          value_id& all = made[leader];
          const shape& dims = g.at(n.output).type.dims;
          if (g.is<op::lstm>(n)) return detail::part_of_layer(b, g.as<op::lstm>(n), inputs, all, dims);
          if (g.is<op::dynamic_quantize_lstm>(n))
            return detail::part_of_layer(b, g.as<op::dynamic_quantize_lstm>(n), inputs, all, dims);
          if (g.is<op::gru>(n)) return detail::part_of_layer(b, g.as<op::gru>(n), inputs, all, dims);
          return detail::part_of_layer(b, g.as<op::rnn>(n), inputs, all, dims);
        },
        [&](const node& n, const graph& now, std::size_t before) {
          notes.add({name, "joined", "one layer gives all outputs that are read"}, g, n, now, before);
        });
  }

 private:
  // For each node that differs from another live one in its output at the most, the number of the first such node;
  // none for others. Empty without any.
  static constexpr vector<std::int32_t> joined(const graph& g) {
    vector<std::int32_t> first;
    const auto count = static_cast<std::int32_t>(g.nodes.count);
    bool any = false;
    for (std::int32_t i = 0; i < count; ++i) any = any || detail::is_recurrent(g.nodes.items[i]);
    if (!any) return first;
    const vector<std::uint8_t> alive = live_nodes(g);
    const auto may_join = [&](std::int32_t i) {
      const node& n = g.nodes.items[i];
      return alive[i] != 0 && detail::is_recurrent(n) && output_of(g, n) >= 0;
    };
    for (std::int32_t i = 0; i < count; ++i) {
      if (!may_join(i) || (!first.empty() && first[i] != none)) continue;
      for (std::int32_t j = i + 1; j < count; ++j) {
        if (!may_join(j) || !is_same(g, g.nodes.items[i], g.nodes.items[j])) continue;
        if (first.empty()) first = vector<std::int32_t>(g.nodes.size(), none);
        first[i] = first[j] = i;
      }
    }
    return first;
  }
  // Which output a layer gives is the last of its attributes.
  static constexpr std::int64_t output_of(const graph& g, const node& n) {
    return g.attributes_of(n)[n.attributes.count - 1];
  }
  // Are two layers the same but for that?
  static constexpr bool is_same(const graph& g, const node& a, const node& b) {
    if (a.op->id != b.op->id || a.inputs.count != b.inputs.count || a.attributes.count != b.attributes.count)
      return false;
    for (std::size_t i = 0; i < a.inputs.count; ++i)
      if (g.input_of(a, i) != g.input_of(b, i)) return false;
    for (std::size_t i = 0; i + 1 < a.attributes.count; ++i)
      if (g.attributes_of(a)[i] != g.attributes_of(b)[i]) return false;
    return true;
  }
};

}  // namespace dnnkit::passes
