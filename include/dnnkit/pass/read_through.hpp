// SPDX-License-Identifier: MIT
// Pass: what only chooses elements is index arithmetic (SmartMem, section 3.2.1), which the reader does, where that is
// a kernel that goes over its operand once to bring it into a form of its own, or to copy it:
//   Resize(x), each element as often as a whole number says = Reshape(Expand(Reshape(x)))     before Conv and Concat
//   Pad(x) with elements of x                               = RepeatedBorder(x)               before Conv
//   Concat(x[a : n], x[0 : a]), a roll                      = RepeatedBorder(x)[a : n + a]    before what computes
//                                                             element by element, too
// Other readers would take coordinates apart again and again, as several would; a product that brings its rows into a
// form of its own takes longer for that than the two copies do. Besides, movement that moves nothing,
// x[0 : n] = x, goes, which would keep what follows it out of the kernel before it. Takes a graph without composites;
// guarantees the same function, to the last bit. Extents that are symbols stay.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "dnnkit/graph/rebuild.hpp"
#include "dnnkit/graph/walk.hpp"
#include "dnnkit/op/assume_shape.hpp"
#include "dnnkit/op/concat.hpp"
#include "dnnkit/op/convolution.hpp"
#include "dnnkit/op/expand.hpp"
#include "dnnkit/op/movement.hpp"
#include "dnnkit/op/pad.hpp"
#include "dnnkit/op/resize.hpp"
#include "dnnkit/op/slice.hpp"
#include "dnnkit/pass/decision_log.hpp"
#include "dnnkit/pass/layout_tables.hpp"

namespace dnnkit::passes {

struct read_through {
  static constexpr std::string_view name = "read through";

  static constexpr graph run(graph g, decision_notes notes = {}) {
    bool any = has_operator<op::resize>(g) || has_operator<op::pad>(g) || has_operator<op::concat>(g);
    for (std::size_t k = 0; k < g.nodes.count && !any; ++k) any = moves_nothing(g, g.nodes.items[k]);
    if (!any) return g;
    const value_users users(g);
    return rebuild(
        g,
        [&](builder& b, const node& n, const rebuilt_inputs& inputs) {
          if (is_border(g, n) && is_read_once(g, users, n)) {
            const op::pad pad = g.as<op::pad>(n);
            return b.apply(op::repeated_border{pad.pads, pad.mode}, {inputs[0]});
          }
          if (repeats_elements(g, n) && is_read_once(g, users, n))
            return repeated(b, inputs[0], g.at(n.output).type.dims);
          if (const std::optional<roll> r = roll_of(b.value(), g, n, inputs); r && is_read_as_roll(g, users, n.output))
            return rolled(b, *r);
          if (moves_nothing(g, n)) return inputs[0];
          return tensor{};
        },
        [&](const node& n, const graph& now, std::size_t first) {
          notes.add({name, "rewritten", "it chooses elements, which its one reader finds where they lie"}, g, n, now,
                    first);
        });
  }

 private:
  // Is n a Pad whose border is made of elements that there are, whatever symbols are?
  static constexpr bool is_border(graph& g, const node& n) {
    if (!g.is<op::pad>(n)) return false;
    const op::pad pad = g.as<op::pad>(n);
    if (pad.mode == pad_mode::constant) return false;
    for (std::int64_t p : pad.pads)
      if (p < 0) return false;
    for (dim d : g.at(g.input_of(n, 0)).type.dims)
      if (!d.is_known() || d.value() == 0) return false;
    return true;
  }

  // Is n a Resize whose output has each element a whole number of times, next to each other?
  static constexpr bool repeats_elements(graph& g, const node& n) {
    if (!g.is<op::resize>(n)) return false;
    const op::resize resize = g.as<op::resize>(n);
    if (resize.mode != resize_mode::nearest || resize.most_neighbours() != 1) return false;
    const extents_of_resize c{g.at(g.input_of(n, 0)).type.dims, g.at(n.output).type.dims};
    std::size_t split = c.from.size();  // axes that there are on the way
    for (std::size_t d = 0; d < c.from.size(); ++d) {
      if (!c.from[d].is_known() || !c.to[d].is_known()) {
        if (!(c.from[d] == c.to[d] && resize.keeps(d, true))) return false;
        continue;
      }
      const std::int64_t have = c.in(0, d), make = c.out(d);
      if (have == 0 || make % have != 0 || make > most_positions) return false;
      if (make != have) ++split;
      for (std::int64_t o = 0; o < make; ++o)
        if (resize.neighbours_of(c, d, o).positions[0] != o / (make / have)) return false;
    }
    return split <= max_rank;
  }
  static constexpr std::int64_t most_positions = 1 << 20;  // that are asked for, one after the other
  // What a Resize asks to know its positions.
  struct extents_of_resize {
    const shape &from, &to;
    constexpr std::size_t rank(std::size_t) const { return from.size(); }
    constexpr std::int64_t in(std::size_t, std::size_t d) const { return from[d].value(); }
    constexpr std::int64_t out(std::size_t d) const { return to[d].value(); }
  };
  static constexpr tensor repeated(builder& b, tensor x, const shape& to) {
    shape apart, larger;
    for (std::size_t d = 0; d < to.size(); ++d) {
      const dim n = x.dims()[d];
      apart.push_back(n);
      larger.push_back(n);
      if (n == to[d]) continue;
      apart.push_back(1);
      larger.push_back(to[d].value() / n.value());
    }
    return b.apply(op::reshape{to}, {b.apply(op::expand{larger}, {b.apply(op::reshape{apart}, {x})})});
  }

  // Has the output of n, a movement operator, the elements of its input at the same places?
  static constexpr bool moves_nothing(graph& g, const node& n) {
    if (n.op->kind != form::movement || n.op->id == id_of<op::assume_shape> || !n.op->forward) return false;
    const shape &in = g.at(g.input_of(n, 0)).type.dims, &out = g.at(n.output).type.dims;
    if (!same_shape(in, out)) return false;
    view_algebra algebra(g.symbols);
    const view before = algebra.row_major(in);
    view after = before;
    if (!n.op->forward(g.attributes_of(n), {algebra, in, out}, after)) return false;
    if (!(after.offset == before.offset)) return false;
    for (std::size_t d = 0; d < in.size(); ++d)
      if (!(in[d] == dim(1)) && (after.dims[d].size() != 1 || !(after.dims[d][0].stride == before.dims[d][0].stride)))
        return false;
    return true;
  }

  // The elements of x along an axis from the one at `by` on, and then those before it.
  struct roll {
    value_id x = none;
    std::size_t axis = 0;
    std::int64_t by = 0;
  };
  // A part of x along one axis.
  struct part {
    value_id x = none;
    std::int64_t begin = 0, count = 0;
  };
  static constexpr std::optional<part> part_of(graph& g, value_id v, std::size_t axis) {
    if (v == none || g.at(v).producer == none) return {};
    const node& n = g.node_at(g.at(v).producer);
    const value_id x = n.inputs.count == 0 ? none : g.input_of(n, 0);
    if (g.is<op::split>(n)) {
      const op::split s = g.as<op::split>(n);
      if (s.along(g.at(x).type.dims.size()) != axis || !s.begin.is_known() || !s.size.is_known()) return {};
      return part{x, s.begin.value(), s.size.value()};
    }
    if (!g.is<op::slice>(n)) return {};
    const op::slice s = g.as<op::slice>(n);
    const shape& dims = g.at(x).type.dims;
    if (s.starts.size() != 1 || s.axis(0, dims.size()) != axis) return {};
    const op::slice::range r = s.range_of(g.symbols, 0, dims[axis]);
    if (r.step != 1 || !r.start.is_known() || !r.count.is_known()) return {};
    return part{x, r.start.value(), r.count.value()};
  }
  // What n, a node of g, joins again in another order, in the new graph.
  static constexpr std::optional<roll> roll_of(graph& now, graph& g, const node& n, const rebuilt_inputs& inputs) {
    if (!g.is<op::concat>(n) || inputs.size() != 2) return {};
    const shape& dims = g.at(n.output).type.dims;
    for (dim d : dims)
      if (!d.is_known()) return {};
    const std::size_t axis = g.as<op::concat>(n).along(dims.size());
    const std::optional<part> first = part_of(now, inputs.id(0), axis), second = part_of(now, inputs.id(1), axis);
    if (!first || !second || first->x != second->x || second->begin != 0 || first->begin != second->count ||
        second->count == 0 || first->count == 0 || !same_shape(now.at(first->x).type.dims, dims))
      return {};
    return roll{first->x, axis, second->count};
  }
  static constexpr tensor rolled(builder& b, const roll& r) {
    const tensor x{&b, r.x};
    const std::size_t rank = x.dims().size();
    op::repeated_border border{{}, pad_mode::wrap};
    for (std::size_t d = 0; d < 2 * rank; ++d) border.pads.push_back(d == rank + r.axis ? r.by : 0);
    return b.apply(op::split{static_cast<std::int64_t>(r.axis), r.by, x.dims()[r.axis]}, {b.apply(border, {x})});
  }
  // Do all that read v, perhaps behind movement, or behind another roll, go over it once? One of them, that is, or
  // operators that compute element by element and are one kernel then.
  static constexpr bool is_read_as_roll(graph& g, const value_users& users, value_id v) {
    if (is_output(g, v)) return false;
    std::size_t readers = 0;
    for (node_id u : users[v]) {
      const node& reader = g.node_at(u);
      if (!is_eliminated_before(g.node_at(g.at(v).producer), reader)) return false;
      if (reader.op->kind == form::movement) {
        if (!is_read_as_roll(g, users, reader.output)) return false;
        continue;  // the halves that are joined again
      }
      if (reader.op->kind != form::elementwise && !g.is<op::conv>(reader) && !g.is<op::concat>(reader)) return false;
      ++readers;
    }
    return readers <= 1;
  }

  // Does SmartMem's Table 5 eliminate n where `reader` reads it?
  static constexpr bool is_eliminated_before(const node& n, const node& reader) {
    const auto first = plan::layout_class_of(*n.op), second = plan::layout_class_of(*reader.op);
    return first && second && plan::is_eliminated_before(*first, *second);
  }

  // Has n one reader, one of those that go over their operand once, perhaps behind a border that is read through?
  static constexpr bool is_read_once(graph& g, const value_users& users, const node& n) {
    if (users[n.output].size() != 1 || is_output(g, n.output)) return false;
    const node& reader = g.node_at(*users[n.output].begin());
    if (!is_eliminated_before(n, reader)) return false;
    if (g.is<op::conv>(reader)) return g.input_of(reader, 0) == n.output && g.input_of(reader, 1) != n.output;
    if (g.is<op::pad>(n)) return false;
    return g.is<op::concat>(reader) || (is_border(g, reader) && is_read_once(g, users, reader));
  }
};

}  // namespace dnnkit::passes
