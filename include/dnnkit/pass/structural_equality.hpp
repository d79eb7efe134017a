// SPDX-License-Identifier: MIT
// Fusion groups that compute the same on values alike, as the blocks of a network do: found by walking both at once,
// which is far cheaper than making a recipe for each and comparing those.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/graph/walk.hpp"
#include "dnnkit/pass/fusion_plan.hpp"
#include "dnnkit/plan/plan.hpp"

namespace dnnkit::detail {

class structural_equality {
 public:
  constexpr structural_equality(const graph& g, const vector<std::uint8_t>& stored, const vector<std::uint8_t>& setup,
                                const vector<buffer_layout>& layouts)
      : g_(g),
        stored_(stored),
        setup_(setup),
        layouts_(layouts),
        in_a_(g.nodes.size(), none),
        in_b_(g.nodes.size(), none) {}

  // Is everything a recipe is made of the same in both groups? Then operand v of `a` is operand counterpart(v) of `b`.
  constexpr bool are_equal(const fusion_group& a, const fusion_group& b) { return are_equal(&a, &b, 1); }
  // The same of the stages of two kernels.
  constexpr bool are_equal(const fusion_group* a, const fusion_group* b, std::size_t stages) {
    pairs_.clear();
    for (std::size_t i = 0; i < stages; ++i)
      if (!are_equal_stages(a[i], b[i])) return false;
    return true;
  }
  constexpr value_id counterpart(value_id v) const {
    std::size_t k = 0;
    while (pairs_.items[k].of_a != v) ++k;
    return pairs_.items[k].of_b;
  }

 private:
  constexpr bool are_equal_stages(const fusion_group& a, const fusion_group& b) {
    a_ = &a;
    b_ = &b;
    if (!same_operators() || !same_tiles()) return false;
    for (std::size_t k = 0; k < a.nodes.count; ++k)
      in_a_.items[a.nodes.items[k]] = in_b_.items[b.nodes.items[k]] = static_cast<std::int32_t>(k);
    const bool same = same_operands() && same_outputs();
    for (std::size_t k = 0; k < a.nodes.count; ++k)
      in_a_.items[a.nodes.items[k]] = in_b_.items[b.nodes.items[k]] = none;
    return same;
  }

  struct pair {
    value_id of_a = none, of_b = none;
  };

  constexpr bool same_operators() const {
    const std::size_t n = a_->nodes.count;
    if (b_->nodes.count != n || b_->outputs.count != a_->outputs.count) return false;
    const node_id *const of_a = a_->nodes.items, *const of_b = b_->nodes.items;
    for (std::size_t k = 0; k < n; ++k) {
      const node_id i = of_a[k], j = of_b[k];
      if ((i == a_->anchor) != (j == b_->anchor) || !same_operator(g_.nodes.items[i], g_.nodes.items[j])) return false;
    }
    return true;
  }
  constexpr bool same_tiles() const {
    if (a_->goes_on != b_->goes_on || a_->keeps != b_->keeps || a_->reach.count != b_->reach.count ||
        a_->tile.count != b_->tile.count)
      return false;
    for (std::size_t i = 0; i < a_->reach.count; ++i)
      if (!(a_->reach.items[i] == b_->reach.items[i])) return false;
    for (std::size_t i = 0; i < a_->tile.count; ++i)
      if (a_->tile.items[i] != b_->tile.items[i]) return false;
    return true;
  }
  constexpr bool same_operator(const node& x, const node& y) const {
    if (x.op->id != y.op->id || x.inputs.count != y.inputs.count || x.attributes.count != y.attributes.count)
      return false;
    for (std::uint32_t i = 0; i < x.attributes.count; ++i)
      if (g_.attributes.items[x.attributes.first + i] != g_.attributes.items[y.attributes.first + i]) return false;
    return true;
  }

  constexpr bool same_operands() {
    for (std::size_t k = 0; k < a_->nodes.count; ++k) {
      const node &x = g_.nodes.items[a_->nodes.items[k]], &y = g_.nodes.items[b_->nodes.items[k]];
      if (!(g_.values.items[x.output].type == g_.values.items[y.output].type)) return false;
      for (std::uint32_t i = 0; i < x.inputs.count; ++i)
        if (!alike(g_.operands.items[x.inputs.first + i], g_.operands.items[y.inputs.first + i])) return false;
    }
    return true;
  }
  constexpr bool same_outputs() {
    for (std::size_t k = 0; k < a_->outputs.count; ++k) {
      const value_id v = a_->outputs.items[k], w = b_->outputs.items[k];
      if (in_a_.items[g_.values.items[v].producer] != in_b_.items[g_.values.items[w].producer] ||
          !same_layout(layouts_.items[v], layouts_.items[w]) || !associate(v, w))
        return false;
    }
    return true;
  }

  // Do v, which a member of a reads, and w, which the same member of b reads, come about in the same way? Members are
  // compared in their turn; movement operators between the group and what is stored are looked through.
  constexpr bool alike(value_id v, value_id w) {
    if (v == none || w == none) return v == w;
    const value &x = g_.values.items[v], &y = g_.values.items[w];
    const std::int32_t inside = x.producer == none ? none : in_a_.items[x.producer];
    if (inside != (y.producer == none ? none : in_b_.items[y.producer])) return false;
    if (inside != none) return true;
    if (x.from != y.from || x.data.count != y.data.count || !(x.type == y.type)) return false;
    if (x.from == origin::constant && x.data.count == 1)
      return g_.constants.items[x.data.first] == g_.constants.items[y.data.first];
    if (stored_.items[v] != stored_.items[w] || setup_.items[v] != setup_.items[w]) return false;
    if (x.from == origin::node && stored_.items[v] != 0 && is_output(g_, v) != is_output(g_, w)) return false;
    if (x.from != origin::node || stored_.items[v] != 0)
      return same_layout(layouts_.items[v], layouts_.items[w]) && associate(v, w);
    const node &m = g_.nodes.items[x.producer], &n = g_.nodes.items[y.producer];
    return m.op->kind == form::movement && same_operator(m, n) && alike(g_.input_of(m, 0), g_.input_of(n, 0));
  }

  // Of values that have equal extents: what lies inside others has the strides of those.
  constexpr bool same_layout(const buffer_layout& a, const buffer_layout& b) const {
    if (a.order.count != b.order.count || a.part.count != b.part.count) return false;
    if ((a.within == none) != (b.within == none) || a.texel_row != b.texel_row) return false;
    if (a.within != none && !(g_.values.items[a.within].type.dims == g_.values.items[b.within].type.dims)) return false;
    for (std::size_t i = 0; i < a.part.count; ++i)
      if (a.part.items[i] != b.part.items[i]) return false;
    for (std::size_t i = 0; i < a.order.count; ++i)
      if (a.order.items[i] != b.order.items[i] || a.before.items[i] != b.before.items[i] ||
          a.after.items[i] != b.after.items[i])
        return false;
    return true;
  }

  // Notes that w stands where v stood; false when either stands for another already.
  constexpr bool associate(value_id v, value_id w) {
    for (std::size_t k = 0; k < pairs_.count; ++k)
      if (const pair p = pairs_.items[k]; p.of_a == v || p.of_b == w) return p.of_a == v && p.of_b == w;
    pairs_.push_back({v, w});
    return true;
  }

  const graph& g_;
  const vector<std::uint8_t>&stored_, &setup_;
  const vector<buffer_layout>& layouts_;
  const fusion_group *a_ = nullptr, *b_ = nullptr;
  vector<std::int32_t> in_a_, in_b_;  // positions of nodes in the two groups
  vector<pair> pairs_;
};

}  // namespace dnnkit::detail
