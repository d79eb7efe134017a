// SPDX-License-Identifier: MIT
// Pass: what is reduced twice alike is reduced once, and what is computed of single elements alike behind it, too: the
// range of a tensor, which DynamicQuantizeLinear has in its scale, its zero point and its elements.
// Takes a graph without composites; guarantees the same function, to the last bit.
#pragma once

#include <cstddef>
#include <string_view>

#include "dnnkit/graph/rebuild.hpp"
#include "dnnkit/graph/walk.hpp"
#include "dnnkit/pass/decision_log.hpp"

namespace dnnkit::passes {

struct share_reductions {
  static constexpr std::string_view name = "share reductions";

  static constexpr graph run(graph g, decision_notes notes = {}) {
    if (!any_twice(g)) return g;
    vector<node_id> made;  // nodes of the new graph that may be shared
    return rebuild(g, [&](builder& b, const node& n, const rebuilt_inputs& inputs) {
      const graph& now = b.value();
      if (!may_be_shared(g, n)) return tensor{};
      for (const node_id m : made)
        if (const node& other = now.node_at(m); is_same(now, other, n, g.attributes_of(n), inputs)) {
          notes.add({name, "shared", "it is computed already"}, g, n, now, other);
          return tensor{&b, other.output};
        }
      made.push_back(static_cast<node_id>(now.nodes.count));  // which it becomes
      return tensor{};
    });
  }

 private:
  static constexpr bool any_twice(const graph& g) {
    vector<node_id> reductions;
    for (std::size_t k = 0; k < g.nodes.count; ++k) {
      const node& n = g.nodes.items[k];
      if (n.op->kind != form::reduction) continue;
      for (const node_id m : reductions) {
        const node& other = g.node_at(m);
        if (has_codes_of(g, other, n, g.attributes_of(n)) && g.input_of(other, 0) == g.input_of(n, 0)) return true;
      }
      reductions.push_back(static_cast<node_id>(k));
    }
    return false;
  }
  static constexpr bool may_be_shared(const graph& g, const node& n) {
    if (n.op->kind == form::reduction) return true;
    if (n.op->kind != form::elementwise && n.op->kind != form::movement) return false;
    for (const dim d : g.at(n.output).type.dims)
      if (!(d == dim(1))) return false;
    return true;
  }
  static constexpr bool has_codes_of(const graph& g, const node& a, const node& b, const std::int64_t* codes) {
    if (a.op->id != b.op->id || a.attributes.count != b.attributes.count || a.inputs.count != b.inputs.count)
      return false;
    const std::int64_t* const own = g.attributes_of(a);
    for (std::uint32_t i = 0; i < a.attributes.count; ++i)
      if (own[i] != codes[i]) return false;
    return true;
  }
  static constexpr bool is_same(const graph& now, const node& a, const node& b, const std::int64_t* codes,
                                const rebuilt_inputs& inputs) {
    if (!has_codes_of(now, a, b, codes)) return false;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (!is_same_value(now, now.input_of(a, i), inputs.id(i))) return false;
    return true;
  }
};

}  // namespace dnnkit::passes
