// SPDX-License-Identifier: MIT
// Fusion groups turned into recipes: movement operators become views of the operands (or, where no strided view exists,
// a list of coordinate maps), element-wise operators a tree, dimensions the step's own. The groups of a kernel of
// several stages share the step's operands and dimensions.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/graph/walk.hpp"
#include "dnnkit/pass/epilogue.hpp"
#include "dnnkit/pass/fusion_plan.hpp"
#include "dnnkit/pass/tile_reaches.hpp"
#include "dnnkit/plan/plan.hpp"

namespace dnnkit::detail {

struct step_recipe {
  std::uint32_t kernel = 0;
  vector<value_id> operands;  // loads first, then outputs, in the order the recipe numbers them
  vector<dim> extents;
};

template <class T> constexpr std::uint32_t count(const vector<T>& v) { return static_cast<std::uint32_t>(v.size()); }

class recipe_builder {
 public:
  // `made`: operands and extents, which grow.
  constexpr recipe_builder(graph& g, const fusion_group& group, const vector<std::uint8_t>& stored,
                           const vector<std::uint8_t>& setup, const vector<buffer_layout>& layouts, plan_draft& p,
                           step_recipe& made)
      : g_(g), group_(group), stored_(stored), setup_(setup), layouts_(layouts), p_(p), made_(made) {}

  // Puts down all that the recipe of the group refers to.
  constexpr recipe run() {
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
      vector<operand_ref> inputs;
      vector<slice_of> shapes;
      for (std::size_t i = 0; i < anchor->inputs.count; ++i) {
        const value_id v = g_.input_of(*anchor, i);
        region_ = i + 1;
        inputs.push_back(v == none ? operand_ref{} : resolve(v, {}));
        shapes.push_back(v == none ? slice_of{} : store(g_.at(v).type.dims));
      }
      r.anchor_inputs = store(inputs);
      r.anchor_shapes = {count(p_.shapes), static_cast<std::uint32_t>(shapes.size())};
      p_.shapes.append(shapes.begin(), shapes.end());
    }
    region_ = 0;
    const value_id space = anchor != nullptr ? anchor->output : group_.outputs[0];
    r.space = store(g_.at(space).type.dims);
    vector<recipe_output> outputs;
    for (value_id o : group_.outputs) outputs.push_back(make_output(o));
    r.loads.count = count(p_.loads) - r.loads.first;
    r.nodes.count = count(p_.nodes) - r.nodes.first;
    r.constants.count = count(p_.recipe_constants) - r.constants.first;
    r.outputs = {count(p_.outputs), static_cast<std::uint32_t>(outputs.size())};
    p_.outputs.append(outputs.begin(), outputs.end());
    for (value_id v : made_.operands) r.windowed = r.windowed || layouts_[static_cast<std::size_t>(v)].window != 0;
    if (!group_.reach.empty()) r.reach = store(group_.reach);
    return r;
  }

 private:
  // A step of the way from a value's own coordinates to those it is read in.
  enum class turn : std::uint8_t { forward, backward, expand };
  struct transform {
    turn how;
    node_id n = none;    // forward, backward
    value_id to = none;  // expand: to this value's shape
    value_id from = none;
    friend constexpr bool operator==(const transform&, const transform&) = default;
  };
  using path = vector<transform>;

  constexpr bool inside(node_id n) const {
    for (node_id m : group_.nodes)
      if (m == n) return true;
    return false;
  }
  constexpr bool is_movement(node_id n) const { return n != none && g_.node_at(n).op->kind == form::movement; }

  // The recipe's own form of a dimension.
  constexpr dim local(dim d) {
    if (d.is_known()) return d;
    std::size_t i = 0;
    while (i < made_.extents.size() && !(made_.extents[i] == d)) ++i;
    if (i == made_.extents.size()) made_.extents.push_back(d);
    return dim::of_expression(i);
  }
  constexpr slice_of store(const shape& s) {
    const slice_of r{count(p_.dims), static_cast<std::uint32_t>(s.size())};
    for (dim d : s) p_.dims.push_back(local(d));
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
      code = detail::to_code(local(detail::from_code<dim>(code)));
    }
    return r;
  }
  // Axes of one element say nothing, unless a reader steps from them into a border: then `border` has it.
  constexpr slice_of store(const view& v, const buffer_layout* border = nullptr) {
    const std::uint32_t first = count(p_.axes);
    for (std::size_t i = 0; i < v.rank(); ++i)
      for (const axis& a : v.dims[i])
        if ((!(a.size == dim(1)) || (border != nullptr && border->before[i] + border->after[i] > 0)) &&
            !(a.stride == dim(0) && v.dims[i].size() == 1))
          p_.axes.push_back({static_cast<std::uint8_t>(i), local(a.size), local(a.stride)});
    return {first, count(p_.axes) - first};
  }
  constexpr std::uint16_t operand(value_id v) {
    for (std::size_t i = 0; i < made_.operands.size(); ++i)
      if (made_.operands[i] == v) return static_cast<std::uint16_t>(i);
    made_.operands.push_back(v);
    return static_cast<std::uint16_t>(made_.operands.size() - 1);
  }

  // The whole storage of value v as a view in its own coordinates.
  constexpr view storage_view(value_id v) {
    const buffer_layout& l = layouts_[static_cast<std::size_t>(v)];
    const shape& s = g_.at(v).type.dims;
    shape room;
    int_list order;
    for (std::size_t i = 0; i < s.size(); ++i) {
      if (!l.part.empty() && l.part[i] != 0) room.push_back(l.part[i]);
      else room.push_back(l.window != 0 && i == 2 ? dim(l.window) : g_.symbols.add(s[i], l.before[i] + l.after[i]));
      order.push_back(l.order[i]);
    }
    view r = view_algebra(g_.symbols).dense(s, order, room);
    for (std::size_t i = 0; i < s.size(); ++i)
      r.offset = g_.symbols.add(r.offset, g_.symbols.mul(r.dims[i][0].stride, l.before[i]));
    return r;
  }

  constexpr bool apply(const transform& t, view& v) {
    view_algebra algebra(g_.symbols);
    if (t.how == turn::expand) return algebra.expand(v, g_.at(t.to).type.dims);
    const node& n = g_.node_at(t.n);
    const movement m{algebra, g_.at(g_.input_of(n, 0)).type.dims, g_.at(n.output).type.dims};
    const auto function = t.how == turn::forward ? n.op->forward : n.op->backward;
    return function && function(g_.attributes_of(n), m, v);
  }

  static constexpr path in_front(const transform& t, const path& rest) {
    path r{t};
    r.append(rest.begin(), rest.end());
    return r;
  }

  // Value v, read in the coordinates at the end of the path. The movement operators that v comes through are put in
  // front of it, or taken off where it undoes them, all at once: chains of them may be long.
  constexpr operand_ref resolve(value_id v, const path& way) {
    path through;  // from v on towards where it comes from, the other way round than in a path
    std::size_t undone = 0;
    while (true) {
      const value& x = g_.at(v);
      if (x.from == origin::constant && x.data.count == 1) return constant(x.type.type, g_.constants[x.data.first]);
      if (region_ == 0 && x.producer != none && x.producer == group_.anchor) return {source::anchor, 0};
      const bool loadable =
          (x.from != origin::node || stored_[static_cast<std::size_t>(v)] != 0) && !inside(x.producer);
      if (loadable || !is_movement(x.producer)) {
        if (through.empty() && undone == 0) return loadable ? load(v, way) : tree_node(v, way);
        path longer;
        longer.reserve(through.size() + way.size() - undone);
        for (std::size_t k = through.size(); k-- > 0;) longer.push_back(through[k]);
        longer.append(way.begin() + undone, way.end());
        return loadable ? load(v, longer) : tree_node(v, longer);
      }
      if (through.empty() && undone < way.size() && way[undone].how == turn::backward && way[undone].n == x.producer)
        ++undone;
      else through.push_back({turn::forward, x.producer, none, none});
      v = g_.input_of(g_.node_at(x.producer), 0);
    }
  }

  constexpr operand_ref constant(dtype type, std::int64_t code) {
    p_.recipe_constants.push_back({type, code});
    return {source::constant, number_of_constants_++};
  }

  constexpr operand_ref tree_node(value_id v, const path& way) {
    for (const known_node& k : known_)
      if (k.v == v && k.region == region_ && k.way == way) return {source::node, k.index};
    const node& n = g_.node_at(g_.at(v).producer);
    vector<operand_ref> inputs;
    for (std::size_t i = 0; i < n.inputs.count; ++i) {
      const value_id in = g_.input_of(n, i);
      if (in == none) inputs.push_back({});
      else if (g_.at(in).type.dims == g_.at(v).type.dims) inputs.push_back(resolve(in, way));
      else inputs.push_back(resolve(in, in_front(expansion(in, v), way)));
    }
    p_.nodes.push_back({*n.op, store_attributes(n), store(inputs), g_.at(v).type.type});
    known_.push_back({v, region_, way, number_of_nodes_});
    return {source::node, number_of_nodes_++};
  }

  // One value broadcast to the shape of another: the same for equal shapes, so that equal ways are equal.
  constexpr transform expansion(value_id from, value_id to) {
    for (const transform& t : expansions_)
      if (g_.at(t.from).type.dims == g_.at(from).type.dims && g_.at(t.to).type.dims == g_.at(to).type.dims) return t;
    expansions_.push_back({turn::expand, none, to, from});
    return expansions_.back();
  }

  constexpr operand_ref load(value_id v, const path& way) {
    recipe_load l{};
    l.operand = operand(v);
    l.type = g_.at(v).type.type;
    l.setup = setup_[static_cast<std::size_t>(v)] != 0;
    l.external = g_.at(v).from == origin::input || is_output(g_, v);
    l.whole = way.empty();
    if (!layouts_[static_cast<std::size_t>(v)].part.empty()) l.reach = store(reach_here());
    const buffer_layout& layout = layouts_[static_cast<std::size_t>(v)];
    for (std::size_t i = 0; i < layout.before.size(); ++i) {
      l.before[i] = layout.before[i];
      l.after[i] = layout.after[i];
    }
    view w = storage_view(v);
    std::size_t done = 0;
    while (done < way.size() && apply(way[done], w)) ++done;
    l.rank = static_cast<std::uint8_t>(w.rank());
    l.axes = store(w, l.whole ? &layout : nullptr);
    l.offset = local(w.offset);
    vector<movement_step> steps;
    for (std::size_t k = way.size(); k-- > done;) {
      const transform& t = way[k];
      if (t.how == turn::expand) {
        steps.push_back({{}, {}, store(g_.at(t.from).type.dims), store(g_.at(t.to).type.dims)});
        continue;
      }
      if (t.how == turn::backward) throw "dnnkit: a view behind an anchor could not be pulled back";
      const node& n = g_.node_at(t.n);
      steps.push_back(
          {*n.op, store_attributes(n), store(g_.at(g_.input_of(n, 0)).type.dims), store(g_.at(n.output).type.dims)});
    }
    l.movement = {count(p_.movement), static_cast<std::uint32_t>(steps.size())};
    p_.movement.append(steps.begin(), steps.end());
    p_.loads.push_back(l);
    return {source::load, number_of_loads_++};
  }

  // What a tile needs of the coordinates that are being resolved in: those of the iteration space, or of an anchor's
  // input and of what that is computed from.
  constexpr vector<tile_reach> reach_here() {
    if (region_ == 0) return group_.reach;
    return reaches_of_input(g_, g_.node_at(group_.anchor), region_ - 1, group_.reach);
  }

  constexpr recipe_output make_output(value_id o) {
    path way;
    if (group_.anchor != none) {  // from the output up to the anchor: the movement to be undone
      const epilogue behind(g_, group_.nodes, group_.anchor);
      for (value_id v = o; g_.at(v).producer != group_.anchor;) {
        const node& n = g_.node_at(g_.at(v).producer);
        if (n.op->kind == form::movement) way.push_back({turn::backward, g_.at(v).producer, none, none});
        v = behind.input_behind(n);
      }
    }
    recipe_output r{resolve(o, way), operand(o), g_.at(o).type.type, {}, 0};
    view w = storage_view(o);
    for (const transform& t : way)
      if (!apply(t, w)) throw "dnnkit: an output's view could not be pulled back";
    r.axes = store(w);
    r.offset = local(w.offset);
    return r;
  }

  struct known_node {
    value_id v;
    std::size_t region;
    path way;
    std::uint16_t index;
  };

  graph& g_;
  const fusion_group& group_;
  const vector<std::uint8_t>&stored_, &setup_;
  const vector<buffer_layout>& layouts_;
  plan_draft& p_;
  step_recipe& made_;
  std::size_t region_ = 0;  // 0: iteration space; i + 1: coordinates of anchor input i
  vector<known_node> known_;
  vector<transform> expansions_;
  std::uint16_t number_of_loads_ = 0, number_of_nodes_ = 0, number_of_constants_ = 0;
};

// Steps with equal recipes share one.
class recipe_sharing {
 public:
  constexpr explicit recipe_sharing(plan_draft& p) : p_(p) {}

  // The number of an equal recipe, what was put down for this one since the tables had these sizes being taken back; or
  // of this one, now kept.
  constexpr std::uint32_t shared(const recipe& r, const table_sizes& before) {
    for (std::size_t k = 0; k < p_.recipes.size(); ++k)
      if (equal(p_.recipes[k], r)) {
        std::size_t i = 0;
        for_each_table([&](auto table) { table(p_).resize(before[i++]); });
        return static_cast<std::uint32_t>(k);
      }
    p_.recipes.push_back(r);
    return count(p_.recipes) - 1;
  }

 private:
  // Are two stretches of a table equal, element by element?
  template <class T> static constexpr bool same(const vector<T>& table, slice_of a, slice_of b, auto equal_elements) {
    if (a.count != b.count) return false;
    for (std::uint32_t i = 0; i < a.count; ++i)
      if (!equal_elements(table[a.first + i], table[b.first + i])) return false;
    return true;
  }
  constexpr bool same_dims(slice_of a, slice_of b) const {
    return same(p_.dims, a, b, [](dim x, dim y) { return x == y; });
  }
  constexpr bool same_attributes(slice_of a, slice_of b) const {
    return same(p_.attributes, a, b, [](std::int64_t x, std::int64_t y) { return x == y; });
  }
  constexpr bool same_refs(slice_of a, slice_of b) const {
    return same(p_.refs, a, b, [](operand_ref x, operand_ref y) { return x.from == y.from && x.index == y.index; });
  }
  constexpr bool same_axes(slice_of a, slice_of b) const {
    return same(p_.axes, a, b, [](const view_axis& x, const view_axis& y) {
      return x.of == y.of && x.size == y.size && x.stride == y.stride;
    });
  }

  constexpr bool same_numbers(slice_of a, slice_of b) const {
    return same(p_.numbers, a, b, [](std::int32_t x, std::int32_t y) { return x == y; });
  }
  constexpr bool same_reaches(slice_of a, slice_of b) const {
    return same(p_.reaches, a, b, [](const tile_reach& x, const tile_reach& y) { return x == y; });
  }

  constexpr bool equal(const recipe& a, const recipe& b) const {
    return equal_stages(a, b) && same_numbers(a.tile, b.tile) &&
           same(p_.stages, a.earlier, b.earlier,
                [this](const recipe& x, const recipe& y) { return equal_stages(x, y); });
  }
  constexpr bool equal_stages(const recipe& a, const recipe& b) const {
    return a.anchor.id == b.anchor.id && a.windowed == b.windowed && a.anchor_type == b.anchor_type &&
           a.loads.count == b.loads.count && a.nodes.count == b.nodes.count && same_reaches(a.reach, b.reach) &&
           same_dims(a.space, b.space) && same_attributes(a.anchor_attributes, b.anchor_attributes) &&
           same_refs(a.anchor_inputs, b.anchor_inputs) &&
           same(p_.shapes, a.anchor_shapes, b.anchor_shapes, [&](slice_of x, slice_of y) { return same_dims(x, y); }) &&
           same(p_.recipe_constants, a.constants, b.constants,
                [](const recipe_constant& x, const recipe_constant& y) {
                  return x.type == y.type && x.code == y.code;
                }) &&
           same(p_.nodes, a.nodes, b.nodes,
                [&](const recipe_node& x, const recipe_node& y) {
                  return x.op.id == y.op.id && x.type == y.type && same_attributes(x.attributes, y.attributes) &&
                         same_refs(x.inputs, y.inputs);
                }) &&
           same(p_.loads, a.loads, b.loads,
                [&](const recipe_load& x, const recipe_load& y) {
                  return x.operand == y.operand && x.type == y.type && x.rank == y.rank && x.offset == y.offset &&
                         x.setup == y.setup && x.whole == y.whole && x.external == y.external && x.before == y.before &&
                         x.after == y.after && same_axes(x.axes, y.axes) && same_reaches(x.reach, y.reach) &&
                         same(p_.movement, x.movement, y.movement, [&](const movement_step& m, const movement_step& o) {
                           return m.op.id == o.op.id && same_attributes(m.attributes, o.attributes) &&
                                  same_dims(m.in_shape, o.in_shape) && same_dims(m.out_shape, o.out_shape);
                         });
                }) &&
           same(p_.outputs, a.outputs, b.outputs, [&](const recipe_output& x, const recipe_output& y) {
             return x.value.from == y.value.from && x.value.index == y.value.index && x.operand == y.operand &&
                    x.type == y.type && x.offset == y.offset && same_axes(x.axes, y.axes);
           });
  }

  plan_draft& p_;
};

// The kernel of these groups, which are one, or the stages of a kernel in their order.
constexpr step_recipe recipe_of(graph& g, const fusion_group* groups, std::size_t stages,
                                const vector<std::uint8_t>& stored, const vector<std::uint8_t>& setup,
                                const vector<buffer_layout>& layouts, plan_draft& p) {
  const table_sizes before = sizes_of(p);
  step_recipe made;
  vector<recipe> earlier;
  for (std::size_t i = 0; i + 1 < stages; ++i)
    earlier.push_back(recipe_builder(g, groups[i], stored, setup, layouts, p, made).run());
  const fusion_group& last = groups[stages - 1];
  recipe r = recipe_builder(g, last, stored, setup, layouts, p, made).run();
  if (stages > 1) {
    r.earlier = {count(p.stages), count(earlier)};
    p.stages.append(earlier.begin(), earlier.end());
    r.tile = {count(p.numbers), count(last.tile)};
    p.numbers.append(last.tile.begin(), last.tile.end());
  }
  made.kernel = recipe_sharing(p).shared(r, before);
  return made;
}

}  // namespace dnnkit::detail
