// SPDX-License-Identifier: MIT
// What a tile of a kernel's last stage needs of the values before it, axis by axis: footprints (operator/footprint.hpp)
// composed along the way from a value down to one that it is computed from. Movement operators are seen through where
// an axis that a tile cuts stays one axis.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/graph/graph.hpp"
#include "dnnkit/operator/footprint.hpp"
#include "dnnkit/pass/fusion_plan.hpp"
#include "dnnkit/plan/recipe.hpp"
#include "dnnkit/tensor/view.hpp"

namespace dnnkit::detail {

// Of an axis of an input whose footprint is `a`, where `output` says what a tile needs of the output's axes.
constexpr tile_reach composed(const axis_reach& a, const vector<tile_reach>& output) {
  constexpr std::int64_t most = 1 << 16;  // beyond, and where a symbol decides, a tile is taken to need everything
  if (a.how != reach::same && a.how != reach::window) return {};
  tile_reach r = output.items[a.of];
  if (r.is_whole() || a.how == reach::same) return r;
  if (!a.stride.is_known() || !a.extent.is_known() || !a.before.is_known()) return {};
  const std::int64_t stride = r.stride * a.stride.value(), before = r.before * a.stride.value() + a.before.value(),
                     extent = (r.extent - 1) * a.stride.value() + (a.extent.value() - 1) * a.dilation + 1;
  if (stride > most || extent > most || before > most || before < -most) return {};
  r.stride = static_cast<std::int32_t>(stride);
  r.extent = static_cast<std::int32_t>(extent);
  r.before = static_cast<std::int32_t>(before);
  return r;
}

// Of the axes of an input of node n, an operator that is no movement.
constexpr vector<tile_reach> reaches_of_input(graph& g, const node& n, std::size_t input,
                                              const vector<tile_reach>& output) {
  const footprint f = g.footprint_of(n, input);
  vector<tile_reach> r;
  for (const axis_reach& a : f.axes) r.push_back(composed(a, output));
  return r;
}

// Of the axes of a movement operator's input: nothing where an axis that a tile cuts is split, joined with another,
// shifted, or left out.
constexpr std::optional<vector<tile_reach>> reaches_through(graph& g, const node& n, const vector<tile_reach>& output) {
  const shape in = g.at(g.input_of(n, 0)).type.dims, out = g.at(n.output).type.dims;
  view_algebra algebra(g.symbols);
  const view before = algebra.row_major(in);
  view after = before;
  if (!n.op->forward || !n.op->forward(g.attributes_of(n), {algebra, in, out}, after)) return std::nullopt;
  vector<tile_reach> r(in.size(), tile_reach{});
  for (std::size_t d = 0; d < out.size(); ++d) {
    if (output.items[d].is_whole() || out[d] == dim(1)) continue;
    const axis_list& axes = after.dims[d];
    if (axes.size() != 1) return std::nullopt;
    if (axes[0].stride == dim(0)) continue;  // the same for every position
    std::size_t i = 0;
    while (i < in.size() &&
           !(in[i] == axes[0].size && before.dims[i][0].stride == axes[0].stride && !(in[i] == dim(1))))
      ++i;
    if (i == in.size() || !(after.offset == dim(0))) return std::nullopt;
    r.items[i] = output.items[d];
  }
  return r;
}

// Of each axis of a movement operator's output, the axis of its input along which a step there is a step, while nothing
// else changes; -1 where there is none: where the axis is made of several, or repeats, leaves out or turns round
// positions.
constexpr std::array<std::int8_t, max_rank> axes_followed(graph& g, const node& n) {
  std::array<std::int8_t, max_rank> r{};
  r.fill(-1);
  const shape in = g.at(g.input_of(n, 0)).type.dims, out = g.at(n.output).type.dims;
  view_algebra algebra(g.symbols);
  const view before = algebra.row_major(in);
  view after = before;
  if (n.op->forward && n.op->forward(g.attributes_of(n), {algebra, in, out}, after)) {
    const bool is_part = n.op->properties.map == mapping::one_to_one;  // else blocks of an axis begin at multiples
    const auto holds = [&](dim all, dim some) {
      return all.is_known() && some.is_known() && some.value() > 1 && some.value() <= all.value() &&
             (is_part || all.value() % some.value() == 0);
    };
    for (std::size_t d = 0; d < out.size(); ++d)
      for (std::size_t i = 0; i < in.size() && after.dims[d].size() == 1; ++i)
        if (holds(in[i], out[d]) && before.dims[i][0].stride == after.dims[d][0].stride)
          r[d] = static_cast<std::int8_t>(i);
  } else {
    const footprint f = g.footprint_of(n, 0);
    for (std::size_t i = 0; i < f.axes.size(); ++i)
      if (f.axes[i].how == reach::same) r[f.axes[i].of] = static_cast<std::int8_t>(i);
  }
  return r;
}

// Walks from values down to `target`, through members of a group and movement operators that nobody stores.
class reach_walk {
 public:
  constexpr reach_walk(graph& g, const fusion_group& group, const vector<std::uint8_t>& stored, value_id target)
      : g_(g), group_(group), stored_(stored), target_(target) {
    for (node_id n : group.nodes) {  // members come behind what they read
      bool leads = false;
      const node& x = g.node_at(n);
      for (std::size_t i = 0; i < x.inputs.count && !leads; ++i) leads = leads_to_target(g.input_of(x, i));
      leads_.push_back(leads ? 1 : 0);
    }
  }

  // From value v, of whose axes a tile needs `needed`; through no anchor. False where the way says nothing, or
  // something else than another.
  constexpr bool from(value_id v, const vector<tile_reach>& needed) {
    if (v == none) return true;
    if (v == target_) {
      if (!found_) found_ = needed;
      return same(*found_, needed);
    }
    const node_id p = g_.at(v).producer;
    if (p == none || p == group_.anchor) return true;
    const node& n = g_.node_at(p);
    const bool member = position_of(p) < leads_.count;
    if (!member && (stored_[static_cast<std::size_t>(v)] != 0 || n.op->kind != form::movement)) return true;
    for (const reading& k : known_)
      if (k.v == v && same(k.needed, needed)) return true;
    known_.push_back({v, needed});
    if (n.op->kind == form::movement) {
      if (!leads_to_target(g_.input_of(n, 0))) return true;
      const std::optional<vector<tile_reach>> input = reaches_through(g_, n, needed);
      return input && from(g_.input_of(n, 0), *input);
    }
    for (std::size_t i = 0; i < n.inputs.count; ++i)
      if (const value_id in = g_.input_of(n, i); in != none && leads_to_target(in))
        if (!from(in, reaches_of_input(g_, n, i, needed))) return false;
    return true;
  }
  // What has been found of the target's axes.
  constexpr const std::optional<vector<tile_reach>>& found() const { return found_; }

  // Is v the target or computed from it, without the anchor?
  constexpr bool leads_to_target(value_id v) const {
    while (v != none && v != target_) {
      const node_id p = g_.at(v).producer;
      if (p == none || p == group_.anchor) return false;
      if (const std::size_t k = position_of(p); k < leads_.count) return leads_.items[k] != 0;
      if (stored_[static_cast<std::size_t>(v)] != 0 || g_.node_at(p).op->kind != form::movement) return false;
      v = g_.input_of(g_.node_at(p), 0);
    }
    return v == target_;
  }

 private:
  struct reading {
    value_id v;
    vector<tile_reach> needed;
  };

  static constexpr bool same(const vector<tile_reach>& a, const vector<tile_reach>& b) {
    if (a.count != b.count) return false;
    for (std::size_t i = 0; i < a.count; ++i)
      if (!(a.items[i] == b.items[i])) return false;
    return true;
  }
  // Among the members; their number when n is none of them.
  constexpr std::size_t position_of(node_id n) const {
    std::size_t k = 0;
    while (k < group_.nodes.count && group_.nodes.items[k] != n) ++k;
    return k;
  }

  graph& g_;
  const fusion_group& group_;
  const vector<std::uint8_t>& stored_;
  const value_id target_;
  vector<std::uint8_t> leads_;  // of members: is it computed from the target, without the anchor?
  std::optional<vector<tile_reach>> found_;
  vector<reading> known_;
};

// From the last stage to the first, what positions of all axes of the last one's iteration space need: of the stages,
// and of the values `between` them, which are `stored`. False where that cannot be said.
constexpr bool find_reaches(graph& g, const vector<std::uint8_t>& stored, vector<fusion_group>& stages,
                            const vector<value_id>& between, vector<vector<tile_reach>>& handed) {
  handed.resize(between.count);
  for (std::size_t i = stages.count - 1; i > 0; --i) {
    const fusion_group &reader = stages.items[i], &writer = stages.items[i - 1];
    const value_id v = between.items[i - 1];
    const node& anchor = g.node_at(reader.anchor);
    reach_walk to_value(g, reader, stored, v);
    for (value_id o : reader.outputs)  // read behind the anchor
      if (to_value.leads_to_target(o)) return false;
    for (std::size_t input = 0; input < anchor.inputs.count; ++input)
      if (const value_id in = g.input_of(anchor, input); in != none && to_value.leads_to_target(in))
        if (!to_value.from(in, reaches_of_input(g, anchor, input, reader.reach))) return false;
    if (!to_value.found()) return false;
    handed.items[i - 1] = *to_value.found();
    reach_walk to_space(g, writer, stored, g.node_at(writer.anchor).output);
    if (!to_space.from(v, handed.items[i - 1]) || !to_space.found()) return false;
    stages.items[i - 1].reach = *to_space.found();
  }
  return true;
}
// Has everything between the stages positions of axis d?
constexpr bool is_followed(const vector<vector<tile_reach>>& handed, std::size_t d) {
  for (const vector<tile_reach>& reaches : handed) {
    bool follows = false;
    for (const tile_reach& r : reaches) follows = follows || r.of == static_cast<std::int8_t>(d);
    if (!follows) return false;
  }
  return true;
}
// Do positions of axis d of the last stage decide which of some of the `axes` of another are needed?
constexpr bool decides(std::size_t d, const vector<tile_reach>& needed, axis_set axes) {
  for (std::size_t a = 0; a < needed.count; ++a)
    if (axes.has(a) && needed.items[a].of == static_cast<std::int8_t>(d)) return true;
  return false;
}
constexpr void keep_cut(vector<tile_reach>& reaches, const vector<std::int32_t>& positions) {
  for (tile_reach& r : reaches)
    if (!r.is_whole() && positions.items[r.of] == 0) r = {};
}

}  // namespace dnnkit::detail
