// SPDX-License-Identifier: MIT
// Pass: a Pad whose border no view behind it reads, and the movement operators that make that view, become a view of
// what is padded (SmartMem, section 3.2.1: index comprehension). The relative shift of Transformer-XL (Dai et al.,
// section 3.3 and appendix B) is one: what is padded by a column, and regarded as rows that are longer by one, is
//   Slice(Reshape(Slice(Reshape(Pad(x, a column)), a row)))[i, j] = x[i, L - 1 - i + j]
// and that lies at offset + i (W - 1) + j in the rows of W elements of x. Only the last axis may be padded, with
// extents known; the view that comes of it is, behind leading axes, rows at a stride shorter than those of x:
//   y[..., i, j] = flat(x)[..., offset + i S + j], j < S = Slice(Reshape(Slice(flat(x), offset to offset + I S)))
// Takes a graph without composites; guarantees the same function, to the last bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/graph/rebuild.hpp"
#include "dnnkit/graph/walk.hpp"
#include "dnnkit/op/movement.hpp"
#include "dnnkit/op/pad.hpp"
#include "dnnkit/op/slice.hpp"
#include "dnnkit/pass/decision_log.hpp"
#include "dnnkit/tensor/view.hpp"

namespace dnnkit::passes {

struct unpad_views {
  static constexpr std::string_view name = "unpad views";

  static constexpr graph run(graph g, decision_notes notes = {}) {
    if (!has_operator<op::pad>(g)) return g;
    const value_users users(g);
    const vector<std::uint8_t> alive = live_nodes(g);
    vector<found> all;
    for (std::size_t k = 0; k < g.nodes.count; ++k)
      if (alive.items[k] != 0 && g.is<op::pad>(g.nodes.items[k])) find(g, users, alive, g.nodes.items[k], all);
    if (all.empty()) return g;
    return rebuild(
        g,
        [&](builder& b, const node& n, const rebuilt_inputs& inputs) {
          for (const found& f : all)
            if (f.y == n.output) return shifted(b, inputs.image_of(f.x), f, g.at(f.y).type.dims);
          return tensor{};
        },
        [&](const node& n, const graph& now, std::size_t first) {
          notes.add({name, "rewritten", "what is padded is never read: a view of the rest"}, g, n, now, first);
        });
  }

 private:
  // y[b, i, j] = flat(x)[b, offset + i stride + j], flat having `count` x `each` elements, and y rows x columns of each
  // of the first.
  struct found {
    value_id x = none, y = none;
    std::int64_t count = 1, each = 0, offset = 0, rows = 1, stride = 0, columns = 1;
  };
  // One axis of a view: so many positions, and from one to the next.
  struct step {
    std::int64_t size = 1, stride = 0;
  };
  using steps = static_vector<step, 12>;

  // Follows movement operators behind the Pad, each the only one to read what it reads.
  static constexpr void find(graph& g, const value_users& users, const vector<std::uint8_t>& alive, const node& pad,
                             vector<found>& all) {
    const std::optional<border> along = border_of(g, pad);
    if (!along) return;
    view_algebra algebra(g.symbols);
    view padded = algebra.row_major(g.at(pad.output).type.dims);
    found best;
    for (value_id v = pad.output;;) {
      const node* reader = nullptr;
      std::size_t readers = is_output(g, v) ? 2 : 0;
      for (node_id u : users[v])
        if (alive.items[u] != 0) {
          ++readers;
          reader = &g.node_at(u);
        }
      if (readers != 1 || reader->op->kind != form::movement || !reader->op->forward) break;
      const shape &in = g.at(v).type.dims, &out = g.at(reader->output).type.dims;
      if (!reader->op->forward(g.attributes_of(*reader), {algebra, in, out}, padded)) break;
      v = reader->output;
      if (const std::optional<found> f = without(*along, padded)) {
        best = *f;
        best.x = g.input_of(pad, 0);
        best.y = v;
      }
    }
    if (best.y != none) all.push_back(best);
  }

  // The last axis of what is padded.
  struct border {
    std::int64_t before = 0, width = 0, after = 0, rows = 1;
    constexpr std::int64_t padded() const { return before + width + after; }
  };
  static constexpr std::optional<border> border_of(const graph& g, const node& n) {
    const op::pad pad = g.as<op::pad>(n);
    const shape& dims = g.at(g.input_of(n, 0)).type.dims;
    if (pad.mode != pad_mode::constant || dims.empty()) return {};
    border b;
    for (std::size_t d = 0; d < dims.size(); ++d) {
      const std::int64_t before = pad.pads[d], after = pad.pads[d + dims.size()];
      const bool last = d + 1 == dims.size();
      if (!dims[d].is_known() || before < 0 || after < 0 || (!last && before + after != 0)) return {};
      if (last) b = {before, dims[d].value(), after, b.rows};
      else b.rows *= dims[d].value();
    }
    if (b.width == 0 || b.rows == 0 || b.before + b.after == 0) return {};
    return b;
  }

  // The view of what is padded that has the elements of one of the whole; nothing where that reads the border, or is
  // made in another way.
  static constexpr std::optional<found> without(const border& along, const view& of_whole) {
    steps axes;
    if (!of_whole.offset.is_known()) return {};
    for (const axis_list& list : of_whole.dims)
      for (const axis& a : list) {
        if (!a.size.is_known() || !a.stride.is_known() || a.size == dim(0)) return {};
        if (a.size == dim(1)) continue;
        if (axes.size() == axes.capacity()) return {};
        axes.push_back({a.size.value(), a.stride.value()});
      }
    // Each stride is so many rows and so many columns, of which there are two ways to say it: down to the column, or up
    // to it from the next row.
    for (std::uint32_t ways = 0; ways >> axes.size() == 0; ++ways) {
      steps of_part;
      const std::int64_t row = of_whole.offset.value() / along.padded(),
                         column = of_whole.offset.value() % along.padded();
      std::int64_t least = column, most = column;
      for (std::size_t k = 0; k < axes.size(); ++k) {
        std::int64_t down = axes[k].stride / along.padded(), over = axes[k].stride % along.padded();
        if ((ways >> k & 1) != 0) ++down, over -= along.padded();
        (over < 0 ? least : most) += over * (axes[k].size - 1);
        of_part.push_back({axes[k].size, down * along.width + over});
      }
      if (least < along.before || most >= along.before + along.width) continue;
      return in_rows(along, of_part, row * along.width + column - along.before);
    }
    return {};
  }
  // Such a view as rows of a flat tensor, behind leading axes that are whole.
  static constexpr std::optional<found> in_rows(const border& along, steps axes, std::int64_t offset) {
    found f{.offset = offset};
    if (!axes.empty() && axes.back().stride == 1) {
      f.columns = axes.back().size;
      axes.pop_back();
    }
    const std::int64_t all = along.rows * along.width;
    std::int64_t inner = 0;  // elements that leading axes step over
    std::size_t leading = 0;
    while (leading < axes.size()) {
      std::int64_t expected = all;
      std::size_t k = 0;
      for (; k <= leading && axes[k].stride > 0; expected = axes[k++].stride)
        if (axes[k].stride * axes[k].size != expected) break;
      if (k <= leading) break;
      inner = axes[leading++].stride;
    }
    if (axes.size() > leading + 1) return {};
    f.each = leading == 0 ? all : inner;
    f.count = all / f.each;
    f.stride = f.columns;
    if (axes.size() == leading + 1) {
      f.rows = axes[leading].size;
      f.stride = axes[leading].stride;
    }
    if (f.stride < f.columns || f.offset < 0 || f.offset + f.rows * f.stride > f.each) return {};
    return f;
  }

  static constexpr tensor shifted(builder& b, tensor x, const found& f, const shape& to) {
    op::slice part{.starts = {f.offset}, .ends = {f.offset + f.rows * f.stride}, .axes = {1}},
        columns{.starts = {0}, .ends = {f.columns}, .axes = {2}};
    tensor y = b.apply(op::reshape{{f.count, f.each}}, {x});
    y = b.apply(op::reshape{{f.count, f.rows, f.stride}}, {b.apply(part, {y})});
    return b.apply(op::reshape{to}, {b.apply(columns, {y})});
  }
};

}  // namespace dnnkit::passes
