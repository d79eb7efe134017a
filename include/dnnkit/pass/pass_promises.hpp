// SPDX-License-Identifier: MIT
// What passes promise that are not the library's own, looked at behind each of them (pass/pipeline.hpp): inputs and
// outputs of the network stay what they are, and layouts are such that kernels can store values so. What a broken
// promise would lead to is otherwise seen by who runs the network alone. The library's passes are tested for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dnnkit/core/text.hpp"
#include "dnnkit/core/vector.hpp"
#include "dnnkit/graph/graph.hpp"
#include "dnnkit/graph/walk.hpp"
#include "dnnkit/pass/schedule.hpp"
#include "dnnkit/plan/layout_error.hpp"
#include "dnnkit/tensor/print_dim.hpp"

namespace dnnkit {

namespace detail {

// What a value is called: an input or a weight by its name, what an operator computes by that operator.
constexpr text label_of_value(const graph& g, value_id v) {
  const value& x = g.at(v);
  if (x.producer != none) return text("the result of ") << g.label_of(g.node_at(x.producer));
  return text("'") << g.text_of(x.name) << "'";
}

// Why kernels cannot store values in these layouts; empty where they can.
constexpr text layouts_error(const graph& g, const plan::fusion_plan& fusion,
                             const vector<plan::buffer_layout>& layouts) {
  if (layouts.empty()) return {};
  if (layouts.count != g.values.count)
    return text("there are ") << layouts.count << " layouts of " << g.values.count << " values";
  for (std::size_t k = 0; k < layouts.count; ++k) {
    const auto v = static_cast<value_id>(k);
    const plan::buffer_layout& l = layouts.items[k];
    const std::size_t rank = g.at(v).type.dims.count;
    if (!plan::is_layout_of(l, rank)) return label_of_value(g, v) << " has " << plan::layout_error(l, rank);
  }
  const auto moved = [&](value_id v, std::string_view memory) {
    return label_of_value(g, v) << " has the order " << plan::order_text(layouts.items[v]) << ", but " << memory
                                << " is row-major";
  };
  const auto is_moved = [&](value_id v) { return !plan::is_row_major(layouts.items[v]); };
  for (std::size_t k = 0; k < g.values.count; ++k)
    if (const auto v = static_cast<value_id>(k); g.at(v).from != origin::node && is_moved(v))
      return moved(v, "what kernels are given");
  for (value_id v : g.outputs)
    if (is_moved(v)) return moved(v, "the caller's memory");
  for (const plan::fusion_group& group : fusion.groups)
    for (value_id v : group.outputs)
      if (group.setup && is_moved(v)) return moved(v, "what is computed once, at setup,");
  return {};
}

// Is what was `before` now something else, for certain? Nothing is, of symbols that a new table has.
constexpr bool differs(const graph& before, dim was, graph& now, dim is) {
  if (was.is_unknown() || is.is_unknown()) return false;
  was = now.symbols.settled(was);
  if (was.is_known() || is.is_known()) return !(was == is);
  const bool same_table = now.symbols.polynomials.count >= before.symbols.polynomials.count &&
                          now.symbols.atoms.count >= before.symbols.atoms.count;
  return same_table && !(was == is);
}
constexpr bool differs(const graph& before, const tensor_type& was, graph& now, const tensor_type& is) {
  if (was.type != is.type || was.dims.count != is.dims.count) return true;
  for (std::size_t d = 0; d < was.dims.count; ++d)
    if (differs(before, was.dims[d], now, is.dims[d])) return true;
  return false;
}

// What a pass has made of the inputs, or outputs, of a graph: empty when they are what they were.
constexpr text ports_error(const graph& before, graph& now, bool inputs) {
  const std::string_view kind = inputs ? "input" : "output";
  const vector<value_id>&were = inputs ? before.inputs : before.outputs, &are = inputs ? now.inputs : now.outputs;
  text wrong;
  if (were.count != are.count || (!inputs && now.output_names.count != are.count))
    return wrong << "leaves " << are.count << " " << kind << (are.count == 1 ? "" : "s") << " of a network that has "
                 << were.count;
  for (std::size_t i = 0; i < were.count; ++i) {
    const std::string_view was = inputs ? before.name_of(were.items[i]) : before.text_of(before.output_names.items[i]);
    const std::string_view is = inputs ? now.name_of(are.items[i]) : now.text_of(now.output_names.items[i]);
    if (was != is) return wrong << "gives " << kind << " '" << was << "' the name '" << is << "'";
    const tensor_type &had = before.at(were.items[i]).type, &has = now.at(are.items[i]).type;
    if (differs(before, had, now, has))
      return wrong << "changes " << kind << " '" << was << "' from " << dnnkit::name(had.type) << " "
                   << print(before.symbols, had.dims) << " to " << dnnkit::name(has.type) << " "
                   << print(now.symbols, has.dims);
  }
  return wrong;
}

// Notes what the pass has done that it must not, to a schedule whose graph was `before`.
constexpr void check_promises(std::string_view pass, const graph& before, schedule& s) {
  if (!s.is_right()) return;
  text wrong;
  for (const bool inputs : {true, false})
    if (wrong.length == 0) wrong = ports_error(before, s.g, inputs);
  text because;
  if (wrong.length == 0) {
    because = layouts_error(s.g, s.fusion, s.layouts);
    if (because.length == 0) return;
    wrong << "stores values as no kernel can: " << because;
  }
  s.g.error << "the pass '" << pass << "' " << wrong;
}

}  // namespace detail

}  // namespace dnnkit
