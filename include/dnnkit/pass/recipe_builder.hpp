// SPDX-License-Identifier: MIT
// Fusion groups turned into recipes, by the walk of operand_walk.hpp: index maps become views of the operands (or,
// where no strided view exists, a list of coordinate maps), element-wise operators a tree, dimensions the step's own.
// The groups of a kernel of several stages share the step's operands and dimensions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/graph/walk.hpp"
#include "dnnkit/op/slice.hpp"
#include "dnnkit/pass/fusion_plan.hpp"
#include "dnnkit/pass/operand_walk.hpp"
#include "dnnkit/pass/recipe_sharing.hpp"
#include "dnnkit/pass/tile_reaches.hpp"
#include "dnnkit/plan/plan.hpp"

namespace dnnkit::detail {

struct step_recipe {
  std::uint32_t kernel = 0;
  vector<value_id> operands;  // loads first, then outputs, in the order the recipe numbers them
  vector<dim> extents;
};

template <class T> constexpr std::uint32_t count(const vector<T>& v) { return static_cast<std::uint32_t>(v.size()); }

class recipe_builder : public operand_sink {
 public:
  using operand = operand_ref;

  // `made`: operands and extents, which grow.
  constexpr recipe_builder(graph& g, const fusion_group& group, const vector<std::uint8_t>& stored,
                           const vector<std::uint8_t>& setup, const vector<buffer_layout>& layouts, plan_draft& p,
                           step_recipe& made)
      : operand_sink(g), g_(g), group_(group), stored_(stored), setup_(setup), layouts_(layouts), p_(p), made_(made) {}

  // Puts down all that the recipe of the group refers to. Nothing where no kernel can be made of the group, which is
  // then the graph's error.
  constexpr std::optional<recipe> run() {
    recipe r{};
    r.loads.first = count(p_.loads);
    r.nodes.first = count(p_.nodes);
    r.constants.first = count(p_.recipe_constants);
    const node* anchor = group_.anchor == none ? nullptr : &g_.node_at(group_.anchor);
    if (anchor != nullptr) {
      r.anchor = *anchor->op;
      r.anchor_type = g_.at(anchor->output).type.type;
      r.anchor_attributes = store_attributes(*anchor);
      if (anchor->op->kind == form::row || anchor->op->kind == form::reduction)
        r.rows = anchor->op->rows(p_.attributes.items + r.anchor_attributes.first,
                                  g_.at(g_.input_of(*anchor, 0)).type.dims.size());
    }
    operand_walk(g_, group_.nodes, group_.anchor, &stored_, *this).run(group_.outputs);
    if (refused != fusion_reason::nothing) {
      refuse_group();
      return std::nullopt;
    }
    r.anchor_inputs = store(inputs_);
    r.anchor_shapes = {count(p_.shapes), count(shapes_)};
    p_.shapes.append(shapes_.begin(), shapes_.end());
    r.space = store(g_.at(anchor != nullptr ? anchor->output : group_.outputs[0]).type.dims);
    r.loads.count = count(p_.loads) - r.loads.first;
    r.nodes.count = count(p_.nodes) - r.nodes.first;
    r.constants.count = count(p_.recipe_constants) - r.constants.first;
    r.outputs = {count(p_.outputs), count(outputs_)};
    p_.outputs.append(outputs_.begin(), outputs_.end());
    if (!group_.reach.empty()) r.reach = store(group_.reach);
    return r;
  }

  // --- what the walk finds
  constexpr operand_ref constant(value_id v) {
    const value& x = g_.at(v);
    p_.recipe_constants.push_back({x.type.type, g_.constants[x.data.first]});
    return {source::constant, number_of_constants_++};
  }
  constexpr operand_ref anchor() { return {source::anchor, 0}; }

  constexpr operand_ref load(value_id v, index_map m, std::int32_t input) {
    const buffer_layout& layout = layouts_[static_cast<std::size_t>(v)];
    recipe_load l{};
    l.operand = operand_number(v);
    l.type = g_.at(v).type.type;
    l.setup = setup_[static_cast<std::size_t>(v)] != 0;
    l.external = g_.at(v).from == origin::input || is_output(g_, v);
    l.whole = m == index_maps::identity && layout.within == none;
    l.bordered = keeps_borders(m, layout);
    if (!layout.part.empty()) l.reach = store(reach_of(input));
    l.texel_row = layout.texel_row;
    for (std::size_t i = 0; i < layout.before.size(); ++i) {
      l.before[i] = layout.before[i];
      l.after[i] = layout.after[i];
    }
    view w = storage_view(v);
    const index_map rest = maps.apply(m, w);
    if (maps.has_inverse(rest)) {
      refuse(fusion_reason::no_view);
      return {};
    }
    l.rank = static_cast<std::uint8_t>(w.rank());
    l.axes = store(w, l.bordered ? &layout : nullptr);
    l.offset = local(w.offset);
    l.movement = store_movement(rest);
    p_.loads.push_back(l);
    return {source::load, number_of_loads_++};
  }

  constexpr operand_ref computed(value_id v, const node& n, const vector<operand_ref>& inputs) {
    p_.nodes.push_back({*n.op, store_attributes(n), store(inputs), g_.at(v).type.type});
    return {source::node, number_of_nodes_++};
  }
  constexpr void passes(value_id, index_map) {}

  constexpr void input(value_id v, operand_ref made) {
    inputs_.push_back(made);
    shapes_.push_back(v == none ? local_shape{} : store(g_.at(v).type.dims));
  }
  constexpr void output(value_id v, index_map m, operand_ref made) {
    recipe_output r{made, operand_number(v), g_.at(v).type.type, {}, 0};
    view w = storage_view(v);
    if (maps.apply(m, w) != index_maps::identity) return refuse(fusion_reason::no_view);
    r.axes = store(w);
    r.offset = local(w.offset);
    r.texel_row = layouts_[static_cast<std::size_t>(v)].texel_row;
    outputs_.push_back(r);
  }

 private:
  constexpr void refuse_group() {
    if (!g_.error.empty()) return;
    const node_id named = group_.anchor != none ? group_.anchor : group_.nodes.back();
    g_.error << "the kernel of " << g_.label_of(g_.node_at(named))
             << " that fusion has planned cannot be made: " << words_of(refused).name << " ("
             << words_of(refused).meaning << ")";
    g_.wrong = named;
  }

  // The recipe's own form of a dimension.
  constexpr local_extent local(dim d) {
    if (d.is_known()) return d.value();
    std::size_t i = 0;
    while (i < made_.extents.size() && !(made_.extents[i] == d)) ++i;
    if (i == made_.extents.size()) made_.extents.push_back(d);
    return local_extent::of_step(i, g_.symbols.typical(d));
  }
  constexpr local_shape store(const shape& s) {
    const local_shape r{count(p_.local_extents), static_cast<std::uint32_t>(s.size())};
    for (dim d : s) p_.local_extents.push_back(local(d));
    return r;
  }
  constexpr slice_of store(const vector<operand_ref>& refs) {
    const slice_of r{count(p_.refs), static_cast<std::uint32_t>(refs.size())};
    p_.refs.append(refs.begin(), refs.end());
    return r;
  }
  constexpr slice_of store(const vector<tile_reach>& reach) {
    const slice_of r{count(p_.reaches), static_cast<std::uint32_t>(reach.size())};
    p_.reaches.append(reach.begin(), reach.end());
    return r;
  }
  constexpr slice_of store_attributes(const node& n) {
    const slice_of r{count(p_.attributes), n.attributes.count};
    const std::int64_t* codes = g_.attributes_of(n);
    p_.attributes.append(codes, codes + n.attributes.count);
    if (g_.symbols.symbols.empty()) return r;
    for (std::size_t i : n.op->symbolic_codes(codes)) {
      std::int64_t& code = p_.attributes[r.first + i];
      const auto d = detail::from_code<dim>(code);
      if (!d.is_unknown()) code = detail::to_code(local(d).as_attribute());  // no kernel asks what Reshape infers
    }
    return r;
  }
  // Axes of one element say nothing, unless a reader steps from them into a border: then `border` has it.
  constexpr slice_of store(const view& v, const buffer_layout* border = nullptr) {
    const std::uint32_t first = count(p_.axes);
    dim outer = 0;  // the stride of the axis before
    for (std::size_t i = 0; i < v.rank(); ++i)
      for (const axis& a : v.dims[i])
        if ((!(a.size == dim(1)) || (border != nullptr && border->before[i] + border->after[i] > 0)) &&
            !(a.stride == dim(0) && v.dims[i].size() == 1)) {
          if (p_.axes.size() > first) p_.axes.back().continues = outer == g_.symbols.mul(a.size, a.stride);
          p_.axes.push_back({static_cast<std::uint8_t>(i), local(a.size), local(a.stride)});
          outer = a.stride;
        }
    return {first, count(p_.axes) - first};
  }
  constexpr std::uint16_t operand_number(value_id v) {
    for (std::size_t i = 0; i < made_.operands.size(); ++i)
      if (made_.operands[i] == v) return static_cast<std::uint16_t>(i);
    made_.operands.push_back(v);
    return static_cast<std::uint16_t>(made_.operands.size() - 1);
  }

  // The storage of value v as a view in its own coordinates.
  constexpr view storage_view(value_id v) {
    const buffer_layout& l = layouts_[static_cast<std::size_t>(v)];
    const shape &s = g_.at(v).type.dims, &whole = g_.at(l.within == none ? v : l.within).type.dims;
    shape room;
    int_list order;
    for (std::size_t i = 0; i < s.size(); ++i) {
      if (!l.part.empty() && l.part[i] != 0) room.push_back(l.part[i]);
      else room.push_back(g_.symbols.add(whole[i], l.before[i] + l.after[i]));
      order.push_back(l.order[i]);
    }
    view r = view_algebra(g_.symbols).dense(s, order, room);
    for (std::size_t i = 0; i < s.size(); ++i)
      r.offset = g_.symbols.add(r.offset, g_.symbols.mul(r.dims[i][0].stride, l.before[i]));
    return r;
  }

  // Does the map leave the coordinates of axes with a border as they are, and only pick of the others? (One that turns
  // an axis around is no strided view.)
  constexpr bool keeps_borders(index_map m, const buffer_layout& l) {
    for (; m != index_maps::identity; m = maps.rest(m)) {
      const index_step& s = maps.step(m);
      if (s.how != index_change::movement || !g_.is<op::slice>(g_.node_at(s.moved))) return false;
      const node& n = g_.node_at(s.moved);
      const shape &in = g_.at(g_.input_of(n, 0)).type.dims, &out = g_.at(n.output).type.dims;
      for (std::size_t d = 0; d < in.size(); ++d)
        if (l.before[d] + l.after[d] != 0 && !(in[d] == out[d])) return false;
    }
    return true;
  }

  // What strided views cannot express of an index map: from the coordinates that are read in to those of the view.
  constexpr slice_of store_movement(index_map m) {
    vector<movement_step> steps;  // the last first
    for (; m != index_maps::identity; m = maps.rest(m)) {
      const index_step& s = maps.step(m);
      if (s.how == index_change::broadcast) {
        const shape &from = g_.at(s.from).type.dims, &to = g_.at(s.to).type.dims;
        steps.push_back({{}, {}, store(from), store(to)});
        for (std::size_t d = 0; d < from.size(); ++d)
          if (const std::size_t o = d + to.size() - from.size(); from[d] == to[o])
            steps.back().follows[o] = static_cast<std::int8_t>(d);
        continue;
      }
      const node& n = g_.node_at(s.moved);
      steps.push_back({*n.op, store_attributes(n), store(g_.at(g_.input_of(n, 0)).type.dims),
                       store(g_.at(n.output).type.dims), axes_followed(g_, n)});
    }
    const slice_of r{count(p_.movement), count(steps)};
    for (; !steps.empty(); steps.pop_back()) p_.movement.push_back(steps.back());
    return r;
  }

  // What a tile needs of the coordinates of an input of the anchor, or of those of the iteration space.
  constexpr vector<tile_reach> reach_of(std::int32_t input) {
    if (input == none) return group_.reach;
    return reaches_of_input(g_, g_.node_at(group_.anchor), static_cast<std::size_t>(input), group_.reach);
  }

  graph& g_;
  const fusion_group& group_;
  const vector<std::uint8_t>&stored_, &setup_;
  const vector<buffer_layout>& layouts_;
  plan_draft& p_;
  step_recipe& made_;
  vector<operand_ref> inputs_;  // of the anchor
  vector<local_shape> shapes_;  // their shapes
  vector<recipe_output> outputs_;
  std::uint16_t number_of_loads_ = 0, number_of_nodes_ = 0, number_of_constants_ = 0;
};

// The kernel of these groups, which are one, or the stages of a kernel in their order. Nothing where there can be none,
// which is then the graph's error.
constexpr std::optional<step_recipe> recipe_of(graph& g, const fusion_group* groups, std::size_t stages,
                                               const vector<std::uint8_t>& stored, const vector<std::uint8_t>& setup,
                                               const vector<buffer_layout>& layouts, plan_draft& p) {
  const table_sizes before = sizes_of(p);
  step_recipe made;
  vector<recipe> all;
  for (std::size_t i = 0; i < stages; ++i) {
    const std::optional<recipe> stage = recipe_builder(g, groups[i], stored, setup, layouts, p, made).run();
    if (!stage) return std::nullopt;
    all.push_back(*stage);
  }
  recipe& r = all.back();
  if (stages > 1) {
    const vector<std::int32_t>& tile = groups[stages - 1].tile;
    r.earlier = {count(p.stages), count(all) - 1};
    p.stages.append(all.begin(), all.end() - 1);
    r.tile = {count(p.numbers), count(tile)};
    p.numbers.append(tile.begin(), tile.end());
  }
  made.kernel = recipe_sharing(p).shared(r, before);
  return made;
}

}  // namespace dnnkit::detail
