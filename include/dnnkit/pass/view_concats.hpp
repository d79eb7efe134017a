// SPDX-License-Identifier: MIT
// Pass: a Concat of parts that are one tensor's elements in another order, each once, is a view of it (SmartMem,
// section 3.2.1): what a Swin transformer merges patches by, and YOLOv5's focus,
//   Concat(x[0::2, 0::2], x[1::2, 0::2], x[0::2, 1::2], x[1::2, 1::2]) = Reshape(Transpose(Reshape(x)))
// where one operator reads it that computes along rows, or element by element; what follows it may be movement. Others
// would take coordinates apart again and again.
// Takes a graph without composites; guarantees the same function, to the last bit. Extents that are symbols stay.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/graph/rebuild.hpp"
#include "dnnkit/graph/walk.hpp"
#include "dnnkit/op/concat.hpp"
#include "dnnkit/op/movement.hpp"
#include "dnnkit/pass/decision_log.hpp"
#include "dnnkit/tensor/view.hpp"

namespace dnnkit::passes {

struct view_concats {
  static constexpr std::string_view name = "view concats";

  static constexpr graph run(graph g, decision_notes notes = {}) {
    if (!has_operator<op::concat>(g)) return g;
    const value_users users(g);
    const vector<std::uint8_t> alive = live_nodes(g);
    vector<found> all;
    for (std::size_t k = 0; k < g.nodes.count; ++k)
      if (const node& n = g.nodes.items[k]; alive.items[k] != 0 && g.is<op::concat>(n))
        if (std::size_t readers = 0; is_read_in_rows(g, users, alive, n.output, readers) && readers == 1)
          if (const std::optional<found> f = rearranged(g, n)) all.push_back(*f);
    if (all.empty()) return g;
    return rebuild(
        g,
        [&](builder& b, const node& n, const rebuilt_inputs& inputs) {
          for (const found& f : all)
            if (f.y == n.output) return seen(b, inputs.image_of(f.x), f, g.at(f.y).type.dims);
          return tensor{};
        },
        [&](const node& n, const graph& now, std::size_t first) {
          notes.add({name, "rewritten", "it joins what is one tensor's in another order: a view"}, g, n, now, first);
        });
  }

 private:
  // y is x as `sizes`, in another order of these axes.
  struct found {
    value_id x = none, y = none;
    shape sizes;
    int_list order;
  };
  struct step {
    std::int64_t size = 1, stride = 0;
  };
  using steps = static_vector<step, 16>;

  static constexpr bool is_read_in_rows(const graph& g, const value_users& users, const vector<std::uint8_t>& alive,
                                        value_id v, std::size_t& readers) {
    if (is_output(g, v)) return false;
    for (node_id u : users[v]) {
      if (alive.items[u] == 0) continue;
      const node& reader = g.node_at(u);
      if (reader.op->kind == form::movement) {
        if (!is_read_in_rows(g, users, alive, reader.output, readers)) return false;
      } else if (reader.op->kind == form::row || reader.op->kind == form::elementwise) {
        ++readers;
      } else {
        return false;
      }
    }
    return true;
  }

  // What v is a view of, and which.
  struct seen_value {
    value_id x = none;
    view elements;
  };
  static constexpr std::optional<seen_value> seen_through(graph& g, value_id v) {
    view_algebra algebra(g.symbols);
    for (dim d : g.at(v).type.dims)
      if (!d.is_known()) return {};
    const node_id p = g.at(v).producer;
    if (p == none || g.node_at(p).op->kind != form::movement || !g.node_at(p).op->forward)
      return seen_value{v, algebra.row_major(g.at(v).type.dims)};
    const node& n = g.node_at(p);
    const value_id before = g.input_of(n, 0);
    std::optional<seen_value> s = seen_through(g, before);
    if (!s || !n.op->forward(g.attributes_of(n), {algebra, g.at(before).type.dims, g.at(v).type.dims}, s->elements))
      return {};
    return s;
  }

  static constexpr std::optional<found> rearranged(graph& g, const node& n) {
    const shape dims = g.at(n.output).type.dims;
    const std::size_t axis = g.as<op::concat>(n).along(dims.size());
    vector<std::int64_t> offsets;
    std::optional<seen_value> first;
    for (std::size_t i = 0; i < n.inputs.count; ++i) {
      const std::optional<seen_value> s = seen_through(g, g.input_of(n, i));
      if (!s || !s->elements.offset.is_known()) return {};
      offsets.push_back(s->elements.offset.value());
      if (!first) first = s;
      if (s->x != first->x || !(s->elements.dims == first->elements.dims)) return {};
    }
    if (!first || first->x == g.input_of(n, 0) || offsets.items[0] != 0) return {};
    steps axes;  // of the whole, in its order
    for (std::size_t d = 0; d < dims.size(); ++d) {
      if (d == axis && !add_parts(offsets, axes)) return {};
      for (const auto& a : first->elements.dims[d]) {
        if (!a.size.is_known() || !a.stride.is_known()) return {};
        if (a.size != dim(1) && !add(axes, {a.size.value(), a.stride.value()})) return {};
      }
    }
    return in_order(axes, {first->x, n.output, {}, {}}, element_count(g.symbols, g.at(first->x).type.dims));
  }
  static constexpr bool add(steps& axes, step s) {
    if (axes.size() == axes.capacity()) return false;
    axes.push_back(s);
    return true;
  }
  // The parts as axes of their own: from one part to the next of the innermost one is always as far.
  static constexpr bool add_parts(const vector<std::int64_t>& offsets, steps& axes) {
    steps inner_first;
    for (std::size_t count = 1; count < offsets.count;) {
      const std::int64_t stride = offsets.items[count];
      std::size_t n = 1;
      for (bool same = true; same && (n + 1) * count <= offsets.count;) {
        for (std::size_t k = 0; k < count; ++k)
          same = same && offsets.items[n * count + k] == static_cast<std::int64_t>(n) * stride + offsets.items[k];
        if (same) ++n;
      }
      if (n == 1 || offsets.count % (n * count) != 0 || !add(inner_first, {static_cast<std::int64_t>(n), stride}))
        return false;
      count *= n;
    }
    for (std::size_t k = inner_first.size(); k-- > 0;)
      if (!add(axes, inner_first[k])) return false;
    return true;
  }
  // These axes as those of x, where x has each of its elements once.
  static constexpr std::optional<found> in_order(const steps& axes, found f, dim elements) {
    if (axes.size() > max_rank) return {};
    static_vector<std::size_t, max_rank> outer_first;
    for (std::size_t k = 0; k < axes.size(); ++k) {
      outer_first.push_back(k);
      for (std::size_t i = k; i > 0 && axes[outer_first[i]].stride > axes[outer_first[i - 1]].stride; --i) {
        const std::size_t larger = outer_first[i];
        outer_first[i] = outer_first[i - 1];
        outer_first[i - 1] = larger;
      }
    }
    std::int64_t expected = 1;
    for (std::size_t i = outer_first.size(); i-- > 0; expected *= axes[outer_first[i]].size)
      if (axes[outer_first[i]].stride != expected) return {};
    if (!(elements == dim(expected))) return {};
    f.order.resize(axes.size());
    for (std::size_t i = 0; i < outer_first.size(); ++i) {
      f.sizes.push_back(axes[outer_first[i]].size);
      f.order[outer_first[i]] = static_cast<std::int64_t>(i);
    }
    return f;
  }

  static constexpr tensor seen(builder& b, tensor x, const found& f, const shape& to) {
    const tensor apart = b.apply(op::reshape{f.sizes}, {x});
    return b.apply(op::reshape{to}, {b.apply(op::transpose{f.order}, {apart})});
  }
};

}  // namespace dnnkit::passes
