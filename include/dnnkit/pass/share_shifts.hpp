// SPDX-License-Identifier: MIT
// Pass: of several sums of one tensor with numbers known before the run, products with weights read one and the same:
//   f(x + c), (x + d) W = f(x + c), (x + c) W + (d - c) W        c, d: the same for all rows; W: known before the run
// What is left, x + c, is one shift of x, which can be the bias of the product that computes x, so that x is merged
// with products beside it. So it is in attention to relative positions (Dai et al., Transformer-XL, section 3.3), where
// queries have one bias for keys and another for positions, whose embeddings do not depend on the input.
// Takes a graph without composites; guarantees the same function where all numbers are finite, up to rounding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/graph/rebuild.hpp"
#include "dnnkit/graph/walk.hpp"
#include "dnnkit/op/elementwise.hpp"
#include "dnnkit/op/matmul.hpp"
#include "dnnkit/op/movement.hpp"
#include "dnnkit/pass/decision_log.hpp"
#include "dnnkit/pass/merge_siblings.hpp"

namespace dnnkit {

namespace detail {

class shift_sharing {
 public:
  static constexpr std::string_view name = "share shifts";

  constexpr shift_sharing(const graph& g) : g_(g), alive_(live_nodes(g)), setup_(setup_values(g)), users_(g) {
    shared_.resize(g.nodes.count, none);
    for (std::size_t k = 0; k < g.nodes.count; ++k) {
      const node& n = g.nodes.items[k];
      if (alive_.items[k] == 0 || !g.is<op::matmul>(n) || !is_setup(g.input_of(n, 1))) continue;
      if (const value_id x = g.input_of(n, 0); x != none && g.at(x).producer != none && g.at(n.output).type.type == f32)
        shared_.items[k] = other_shift_of(x);
      any_ = any_ || shared_.items[k] != none;
    }
  }
  constexpr bool empty() const { return !any_; }

  // The rule for rebuild(), of the same graph, in which what is set up comes first.
  constexpr tensor replaced(const node& n, const rebuilt_inputs& inputs) {
    const node_id k = g_.at(n.output).producer;
    if (const tensor t = sum_made(k); t.present()) return t;
    const node_id other = shared_.items[k];
    if (other == none) return {};
    const node &own = g_.node_at(g_.at(g_.input_of(n, 0)).producer), &instead = g_.node_at(other);
    tensor sum = other < k ? inputs.image_of(instead.output) : sum_made(other);
    if (!sum.present()) {  // what comes behind this product is not there yet
      sum = inputs.image_of(operand(instead)) + inputs.image_of(shift(instead));
      made_.push_back({other, sum});
    }
    tensor rest = inputs.image_of(shift(own)) - inputs.image_of(shift(instead));
    if (rest.rank() == 1) rest = unsqueeze(rest, {.axes = {0}});
    return matmul(sum, inputs[1]) + matmul(rest, inputs[1]);
  }

 private:
  struct made_sum {
    node_id of = none;
    tensor sum;
  };
  constexpr bool is_setup(value_id v) const { return v != none && setup_.items[v] != 0; }
  constexpr bool is_shift(node_id k) const {
    const node& n = g_.node_at(k);
    if (!g_.is<op::add>(n) || is_setup(operand(n)) || !is_setup(shift(n))) return false;
    return same_shape(g_.at(operand(n)).type.dims, g_.at(n.output).type.dims);
  }
  constexpr value_id operand(const node& n) const { return g_.input_of(n, is_setup(g_.input_of(n, 0)) ? 1 : 0); }
  constexpr value_id shift(const node& n) const { return g_.input_of(n, is_setup(g_.input_of(n, 0)) ? 0 : 1); }

  // Is it the same for all rows of what it is added to, and has it a number for each element of a row?
  constexpr bool is_of_columns(const node& n) const {
    const shape &s = g_.at(shift(n)).type.dims, &of = g_.at(n.output).type.dims;
    if (s.empty() || !(s.back() == of.back())) return false;
    return s.size() < 2 || s[s.size() - 2] == dim(1);
  }
  // Do products with weights alone read it, as rows?
  constexpr bool is_multiplied_alone(value_id v) const {
    if (is_output(g_, v)) return false;
    for (node_id u : users_[v])
      if (alive_.items[u] != 0 && !(g_.is<op::matmul>(g_.node_at(u)) && g_.input_of(g_.node_at(u), 0) == v &&
                                    is_setup(g_.input_of(g_.node_at(u), 1))))
        return false;
    return true;
  }
  // The sum that stands for x, which is a sum of y with a shift: another sum of y, which has only such sums, the first
  // that others read as well. Nothing where there is none.
  constexpr node_id other_shift_of(value_id x) const {
    const node_id own = g_.at(x).producer;
    if (!is_shift(own) || !is_of_columns(g_.node_at(own)) || !is_multiplied_alone(x)) return none;
    const value_id y = operand(g_.node_at(own));
    if (is_output(g_, y)) return none;
    node_id other = none;
    for (node_id u : users_[y]) {
      if (alive_.items[u] == 0) continue;
      if (!is_shift(u) || operand(g_.node_at(u)) != y || !is_of_columns(g_.node_at(u))) return none;
      if (other == none && !is_multiplied_alone(g_.node_at(u).output)) other = u;
    }
    return other == own ? none : other;
  }
  constexpr tensor sum_made(node_id of) const {
    for (const made_sum& m : made_)
      if (m.of == of) return m.sum;
    return {};
  }

  const graph& g_;
  vector<std::uint8_t> alive_, setup_;
  value_users users_;
  vector<node_id> shared_;  // of products: the sum that they read instead of their own
  vector<made_sum> made_;
  bool any_ = false;
};

}  // namespace detail

namespace passes {

struct share_shifts {
  static constexpr std::string_view name = detail::shift_sharing::name;

  static constexpr graph run(graph g, decision_notes notes = {}) {
    if (!has_operator<op::matmul>(g) || !has_operator<op::add>(g) || detail::shift_sharing(g).empty()) return g;
    g = detail::with_setup_first(static_cast<graph&&>(g));
    detail::shift_sharing sharing(g);
    return rebuild(
        g, [&](builder&, const node& n, const rebuilt_inputs& inputs) { return sharing.replaced(n, inputs); },
        [&](const node& n, const graph& now, std::size_t first) {
          if (g.is<op::matmul>(n))
            notes.add({name, "shared", "what it multiplies is shifted for others as well, by other numbers"}, g, n, now,
                      first);
        });
  }
};

}  // namespace passes

}  // namespace dnnkit
