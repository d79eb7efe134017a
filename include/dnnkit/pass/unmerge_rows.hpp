// SPDX-License-Identifier: MIT
// Pass: a normalisation over an axis that a Reshape has merged of several runs over these:
//   f(reshape(x, s), axis d of s) = reshape(f(reshape(x, atoms), the atoms of d), s)      atoms: tensor/atoms.hpp
// so that kernels find a group of channels and the pixels in axes of their own, in whatever order memory has them. What
// follows element by element, up to a Reshape that takes the merged axis apart again, is computed in that one's shape:
//   reshape(f(y, w), s) = f(reshape(y, s), w along the axes of s)                         w: weights and constants
// (PyTorch writes GroupNormalization so: Reshape, InstanceNormalization, Reshape.) Takes a graph without composites;
// guarantees the same function, up to the order of sums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/graph/rebuild.hpp"
#include "dnnkit/graph/walk.hpp"
#include "dnnkit/op/movement.hpp"
#include "dnnkit/op/normalization.hpp"
#include "dnnkit/pass/decision_log.hpp"
#include "dnnkit/pass/operand_along.hpp"
#include "dnnkit/tensor/atoms.hpp"

namespace dnnkit::passes {

struct unmerge_rows {
  static constexpr std::string_view name = "unmerge rows";

  static constexpr graph run(graph g, decision_notes notes = {}) {
    if (!has_operator<op::reshape>(g) || !(has_operator<op::standardize>(g) || has_operator<op::root_mean_square>(g)))
      return g;
    const value_users users(g);
    const auto setup = setup_values(g);
    vector<std::uint8_t> is_unmerged(g.values.size(), 0);  // values of g
    return rebuild(
        g,
        [&](builder& b, const node& n, const rebuilt_inputs& inputs) {
          tensor made;
          if (g.is<op::standardize>(n)) made = unmerged(b, n, inputs, g.as<op::standardize>(n));
          else if (g.is<op::root_mean_square>(n)) made = unmerged(b, n, inputs, g.as<op::root_mean_square>(n));
          else if (g.is<op::reshape>(n)) {
            const shape& s = g.at(n.output).type.dims;
            if (!follows(g, users, setup, is_unmerged, g.input_of(n, 0)) ||
                atoms_of(b.value().symbols, inputs[0].dims(), s).sizes.empty())
              return tensor{};
            return reshaped(b, g, setup, g.input_of(n, 0), inputs[0], s);
          }
          is_unmerged[n.output] = made.present();
          return made;
        },
        [&](const node& n, const graph& now, std::size_t first) {
          const bool is_row = n.op->kind == form::row;
          notes.add({name, is_row ? "unmerged" : "moved up",
                     is_row ? "its row is of axes that a Reshape merged"
                            : "what is computed element by element behind a normalisation has no merged axis then"},
                    g, n, now, first);
        });
  }

 private:
  static constexpr tensor input_of(builder& b, const tensor& t) {
    const graph& g = b.value();
    return {&b, g.input_of(g.node_at(g.at(t.id()).producer), 0)};
  }
  static constexpr bool is_reshape(const graph& g, value_id v) {
    return g.at(v).producer != none && g.is<op::reshape>(g.node_at(g.at(v).producer));
  }

  // tensor{} where no axis of the row was merged.
  template <class Op> static constexpr tensor unmerged(builder& b, const node&, const rebuilt_inputs& inputs, Op f) {
    if (!is_reshape(b.value(), inputs.id(0))) return {};
    const tensor x = input_of(b, inputs[0]);
    const shape s = inputs[0].dims();
    const atoms parts = atoms_of(b.value().symbols, x.dims(), s);
    const axis_set row = f.axes(s.size());
    row_axes axes;
    bool any = false;
    for (std::size_t i = 0; i < parts.sizes.size(); ++i) {
      if (!row.has(parts.to[i])) continue;
      axes.list.push_back(static_cast<std::int64_t>(i));
      any = any || parts.count_in(parts.to, parts.to[i]) > 1;
    }
    if (!any) return {};
    f.axes = axes;
    const tensor apart = b.apply(op::reshape{parts.sizes}, {x});
    return b.apply(op::reshape{s}, {b.apply(f, {apart})});
  }

  // Is v computed, by one element-wise operator or several that nobody else reads, of one that was unmerged, and of
  // weights and constants that do not make it larger?
  static constexpr bool follows(const graph& g, const value_users& users, const vector<std::uint8_t>& setup,
                                const vector<std::uint8_t>& is_unmerged, value_id v) {
    for (bool any = false;; any = true) {
      if (is_unmerged[v]) return any;
      const node_id producer = g.at(v).producer;
      if (producer == none || users[v].size() != 1 || is_output(g, v)) return false;
      const node& n = g.node_at(producer);
      if (n.op->kind != form::elementwise) return false;
      value_id next = none;
      for (std::size_t i = 0; i < n.inputs.count; ++i) {
        const value_id x = g.input_of(n, i);
        if (x == none || setup[static_cast<std::size_t>(x)] != 0) continue;
        if (next != none) return false;
        next = x;
      }
      if (next == none || !same_shape(g.at(next).type.dims, g.at(v).type.dims)) return false;
      v = next;
    }
  }

  // The tensor, which follows an unmerged one, in shape s: value v of g, which the same operators compute.
  static constexpr tensor reshaped(builder& b, const graph& g, const vector<std::uint8_t>& setup, value_id v, tensor t,
                                   const shape& s) {
    graph& now = b.value();
    if (is_reshape(now, t.id())) return b.apply(op::reshape{s}, {input_of(b, t)});
    const node& before = g.node_at(g.at(v).producer);
    node n = now.node_at(now.at(t.id()).producer);
    const tensor_type type{t.type(), s};
    vector<value_id> operands;
    for (std::size_t i = 0; i < n.inputs.count; ++i) {
      const value_id was = g.input_of(before, i);
      const tensor x{&b, now.input_of(n, i)};
      if (was == none) operands.push_back(none);
      else if (setup[static_cast<std::size_t>(was)] != 0)
        operands.push_back(detail::operand_along(b, x, t.dims(), s).id());
      else operands.push_back(reshaped(b, g, setup, was, x, s).id());
    }
    n.inputs = graph::end_of(now.operands, operands.size());
    now.operands.append(operands.begin(), operands.end());
    return {&b, now.add_node(n, type)};
  }
};

}  // namespace dnnkit::passes
