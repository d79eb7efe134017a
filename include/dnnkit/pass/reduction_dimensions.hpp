// SPDX-License-Identifier: MIT
// Reduction dimensions (SmartMem, section 3.2.2): along which dimensions of the values that a kernel reads its anchor
// folds elements, and along which of what it stores it computes them best. Said of stored values: what lies between
// them and the anchor is seen through.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/graph/graph.hpp"
#include "dnnkit/op/movement.hpp"
#include "dnnkit/operator/footprint.hpp"
#include "dnnkit/operator/statistics.hpp"
#include "dnnkit/pass/epilogue.hpp"
#include "dnnkit/pass/fusion_plan.hpp"
#include "dnnkit/pass/group_loads.hpp"
#include "dnnkit/tensor/view.hpp"

namespace dnnkit::detail {

class reduction_dimensions {
 public:
  constexpr reduction_dimensions(graph& g, const vector<std::uint8_t>& stored) : g_(g), stored_(stored) {}

  // Those of input `i` of an anchor: of which all positions are needed, and which are more than one. None where that is
  // so of every dimension: then any order will do.
  constexpr axis_set of_input(const node& anchor, std::size_t i) const {
    const footprint f = g_.footprint_of(anchor, i);
    const shape& s = g_.at(g_.input_of(anchor, i)).type.dims;
    axis_set whole;
    bool all = true;
    for (std::size_t d = 0; d < f.axes.size(); ++d) {
      if (s[d] == dim(1)) continue;
      if (f.axes[d] == needs::whole) whole.add(d);
      else all = false;
    }
    return all ? axis_set{} : whole;
  }

  // visit(v, dims): the stored values that value u of a kernel is computed from, without its anchor, and what `dims` of
  // u are in theirs. Nothing of those that no view leads to.
  constexpr void in_loads(const fusion_group& group, value_id u, axis_set dims, auto&& visit) const {
    const value& x = g_.at(u);
    const bool member = x.producer != none && contains(group, x.producer);
    if (x.from != origin::node || (!member && stored_.items[u] != 0)) {
      if (dims.bits != 0) visit(u, dims);
      return;
    }
    if (x.producer == group.anchor) return;
    const node& n = g_.node_at(x.producer);
    if (n.op->kind == form::movement) return in_loads(group, g_.input_of(n, 0), through(n, dims), visit);
    for (std::size_t i = 0; i < n.inputs.count; ++i)
      if (const value_id in = g_.input_of(n, i); in != none) in_loads(group, in, aligned(in, u, dims), visit);
  }

  // What dimension `d` of the anchor's result is in value o, which the kernel stores.
  constexpr axis_set in_output(const fusion_group& group, value_id o, std::size_t d) const {
    axis_set found;
    const value_id result = g_.node_at(group.anchor).output;
    if (o == result) {
      found.add(d);
      return found;
    }
    const epilogue behind(g_, group.nodes, group.anchor);
    for (std::size_t i = 0; i < g_.at(o).type.dims.size(); ++i) {
      axis_set dims;
      dims.add(i);
      value_id v = o;
      while (v != result && behind.has(v)) {
        const node& n = g_.node_at(g_.at(v).producer);
        const value_id in = behind.input_behind(n);
        dims = n.op->kind == form::movement ? through(n, dims) : aligned(in, v, dims);
        v = in;
      }
      if (v == result && dims.has(d) && !(g_.at(o).type.dims[i] == dim(1))) found.add(i);
    }
    return found;
  }

 private:
  // Of an operand that is broadcast to the shape of u.
  constexpr axis_set aligned(value_id operand, value_id u, axis_set dims) const {
    const shape &in = g_.at(operand).type.dims, &out = g_.at(u).type.dims;
    axis_set found;
    for (std::size_t d = 0; d < in.size(); ++d)
      if (const std::size_t o = d + out.size() - in.size(); dims.has(o) && in[d] == out[o]) found.add(d);
    return found;
  }
  // Of the input of a movement operator, what `dims` of its output are.
  constexpr axis_set through(const node& n, axis_set dims) const {
    axis_set found;
    if (dims.bits == 0) return found;
    const shape in = g_.at(g_.input_of(n, 0)).type.dims, out = g_.at(n.output).type.dims;
    if (g_.is<op::transpose>(n)) {
      const int_list order = g_.as<op::transpose>(n).order(in.size());
      for (std::size_t d = 0; d < out.size(); ++d)
        if (dims.has(d)) found.add(static_cast<std::size_t>(order[d]));
      return found;
    }
    view_algebra algebra(g_.symbols);
    const view before = algebra.row_major(in);
    view after = before;
    if (!n.op->forward || !n.op->forward(g_.attributes_of(n), {algebra, in, out}, after)) return found;
    for (std::size_t d = 0; d < out.size(); ++d)
      if (dims.has(d))
        for (const axis& a : after.dims[d]) add_stepped(found, in, before, a);
    return found;
  }
  // The dimensions of a row-major view that an axis of another view of the same elements steps along: those that it is
  // a part of, one that is a part of it, or the same.
  static constexpr void add_stepped(axis_set& found, const shape& in, const view& before, const axis& a) {
    if (a.stride == dim(0) || a.size == dim(1)) return;
    for (std::size_t i = 0; i < in.size(); ++i) {
      if (in[i] == dim(1)) continue;
      const dim stride = before.dims[i][0].stride;
      const bool known = stride.is_known() && a.stride.is_known() && in[i].is_known() && a.size.is_known();
      if (stride == a.stride || (known && stride.value() < a.stride.value() * a.size.value() &&
                                 a.stride.value() < stride.value() * in[i].value()))
        found.add(i);
    }
  }

  graph& g_;
  const vector<std::uint8_t>& stored_;
};

}  // namespace dnnkit::detail
