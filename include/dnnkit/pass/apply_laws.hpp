// SPDX-License-Identifier: MIT
// Pass: what the laws of element-wise operators (operator/traits.hpp) say is computed already:
//   f(f(x)) = f(x)                              projections: Relu, Clip, Abs, Floor, Cast to one type
//   f(a, a) = a                                 idempotent ones: Min, Max, And, Or
//   f(a, f(a, b)) = f(a, b) = f(f(a, b), b)     associative besides; where they commute, with operands exchanged
// Takes a graph without composites; guarantees the same function, to the last bit.
#pragma once

#include <cstddef>
#include <string_view>

#include "dnnkit/graph/rebuild.hpp"
#include "dnnkit/pass/decision_log.hpp"

namespace dnnkit::passes {

struct apply_laws {
  static constexpr std::string_view name = "apply laws";

  static constexpr graph run(graph g, decision_notes notes = {}) {
    bool any = false;
    for (std::size_t n = 0; n < g.nodes.count; ++n) any = any || what_it_is(g, g.nodes.items[n]).value != none;
    if (!any) return g;
    return rebuild(g, [&](builder& b, const node& n, const rebuilt_inputs& inputs) {
      // Asked of the new graph, where chains have become shorter.
      node here = n;
      const graph& now = b.value();
      vector<value_id> operands;
      for (std::size_t i = 0; i < inputs.size(); ++i) operands.push_back(inputs.id(i));
      const found f = what_it_is(now, here, operands.items, operands.size(), g.attributes_of(n));
      if (f.value == none) return tensor{};
      notes.add({name, "left out", f.reason}, g, n);
      return tensor{&b, f.value};
    });
  }

 private:
  struct found {
    value_id value = none;
    std::string_view reason;
  };

  static constexpr found what_it_is(const graph& g, const node& n) {
    return what_it_is(g, n, g.operands.items + n.inputs.first, n.inputs.count, g.attributes_of(n));
  }

  // The value of `g` that operator n computes of these operands; none where no law says that there is one.
  static constexpr found what_it_is(const graph& g, const node& n, const value_id* operands, std::size_t count,
                                    const std::int64_t* attributes) {
    const algebra laws = n.op->properties.laws;
    if (has(laws, algebra::projection) && count == 1 && is_same(g, operands[0], n, attributes))
      return {operands[0], "f(f(x)) = f(x)"};
    if (!has(laws, algebra::idempotent) || count != 2) return {};
    if (operands[0] == operands[1]) return {operands[0], "f(a, a) = a"};
    if (!has(laws, algebra::associative)) return {};
    for (std::size_t side = 0; side < 2; ++side) {
      const value_id inner = operands[1 - side], outer = operands[side];
      if (!is_same(g, inner, n, attributes)) continue;
      const node& producer = g.node_at(g.at(inner).producer);
      for (std::size_t i = 0; i < 2; ++i)
        if (g.input_of(producer, i) == outer && (i == side || has(laws, algebra::commutative)))
          return {inner, "f(a, f(a, b)) = f(a, b)"};
    }
    return {};
  }

  // Is the value computed by the same operator, with the same attributes?
  static constexpr bool is_same(const graph& g, value_id v, const node& n, const std::int64_t* attributes) {
    if (v == none || g.at(v).producer == none) return false;
    const node& producer = g.node_at(g.at(v).producer);
    if (producer.op->id != n.op->id || producer.attributes.count != n.attributes.count) return false;
    const std::int64_t* theirs = g.attributes_of(producer);
    for (std::size_t i = 0; i < n.attributes.count; ++i)
      if (theirs[i] != attributes[i]) return false;
    return true;
  }
};

}  // namespace dnnkit::passes
