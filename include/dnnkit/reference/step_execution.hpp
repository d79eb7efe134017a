// SPDX-License-Identifier: MIT
// One step of a plan over whole tensors: loads through views and movement operators, each node and the anchor by its
// scalar definition, outputs through views. What plan_executor.hpp runs step by step.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dnnkit/op/combine.hpp"
#include "dnnkit/operator/access.hpp"
#include "dnnkit/plan/plan.hpp"
#include "dnnkit/reference/evaluator.hpp"
#include "dnnkit/reference/plan_storage.hpp"

namespace dnnkit::detail {

// The operators' definitions: those of one op_set.
struct definition_table {
  std::size_t operators;
  std::size_t (*find)(operator_id);
  const evaluation_entry* entries;

  const evaluation_entry& of(const operator_tag& op, const std::string& where) const {
    const std::size_t position = find(op.id);
    if (position == operators)
      throw error("operator is not in the operator set given to the executor", where, {}, std::string(op.name));
    return entries[position];
  }
};

// A view at run time: logical coordinates to the number of an element.
class bound_view {
 public:
  void add(std::size_t dimension, std::int64_t size, std::int64_t stride) {
    axes_[dimension].push_back({size, stride});
  }
  std::int64_t offset = 0;

  std::int64_t operator()(const coordinates& c) const {
    std::int64_t at = offset;
    for (std::size_t d = 0; d < max_rank; ++d) {
      std::int64_t rest = c[d];
      for (std::size_t k = axes_[d].size(); k-- > 0;) {  // the outermost takes what is left
        at += (k == 0 ? rest : rest % axes_[d][k].size) * axes_[d][k].stride;
        rest /= k == 0 ? 1 : axes_[d][k].size;
      }
    }
    return at;
  }

 private:
  struct axis {
    std::int64_t size, stride;
  };
  std::array<std::vector<axis>, max_rank> axes_;
};

// A tile of a kernel of several stages: the first position of each axis of the last stage's iteration space, and how
// many positions of it are a tile, 0 for all.
struct stage_tile {
  std::vector<std::int64_t> first, positions;

  // The positions [first, last) of an axis of some extent that a tile needs.
  std::pair<std::int64_t, std::int64_t> of(const tile_reach& r, std::int64_t extent) const {
    if (r.is_whole()) return {0, extent};
    const auto axis = static_cast<std::size_t>(r.of);
    const std::int64_t from = r.first(first[axis]);
    return {std::max(from, std::int64_t{0}), std::min(from + r.count(positions[axis]), extent)};
  }
};

// What the steps of one run share.
struct plan_run {
  const plan_view& plan;
  symbol_table table;
  std::vector<std::int64_t> symbols;  // their values
  definition_table definitions;

  // The value of a dimension of the plan.
  std::int64_t extent(dim d) const { return table.evaluate(d, symbols.data()); }
  std::vector<std::int64_t> extents(const shape& s) const {
    std::vector<std::int64_t> e;
    for (dim d : s) e.push_back(extent(d));
    return e;
  }
};

// visit(c, i) for all coordinates of these extents, i counting them in row-major order.
inline void for_coordinates(const std::vector<std::int64_t>& extents, auto visit) {
  if (std::ranges::find(extents, 0) != extents.end()) return;
  coordinates c{};
  std::size_t i = 0;
  do visit(c, i++);
  while (next(c, extents, extents.size()));
}

// visit(c) for the coordinates of a buffer's border, negative ones included.
inline void for_border(const buffer& b, const std::vector<std::int64_t>& interior, auto visit) {
  std::vector<std::int64_t> room = interior;
  for (std::size_t d = 0; d < room.size(); ++d) room[d] += b.layout.before[d] + b.layout.after[d];
  if (room == interior) return;
  for_coordinates(room, [&](coordinates c, std::size_t) {
    bool inside = true;
    for (std::size_t d = 0; d < room.size(); ++d) {
      c[d] -= b.layout.before[d];
      inside = inside && c[d] >= 0 && c[d] < interior[d];
    }
    if (!inside) visit(c);
  });
}

class step_execution {
 public:
  step_execution(const plan_run& run, const step& s, plan_storage& storage)
      : step_execution(run, s, run.plan.recipes[s.kernel], storage) {}
  // Of one stage of the step.
  step_execution(const plan_run& run, const step& s, const recipe& stage, plan_storage& storage)
      : run_(run),
        plan_(run.plan),
        step_(s),
        recipe_(stage),
        storage_(storage),
        operands_(plan_.numbers_of(s.operands)) {
    // In a recipe's attributes, expression i is extent i of the step: a table in which it is that number.
    for (dim d : plan_.dims_of(s.extents)) {
      const std::int64_t extent = run.extent(d);
      extents_.push_back(extent);
      polynomial constant;
      if (extent != 0) constant.push_back({extent, {}});
      extent_table_.polynomials.push_back(constant);
    }
  }

  // Computes all outputs and stores them.
  void run() { compute(); }
  // The same of a stage: what a tile needs of it.
  void run(const stage_tile& current) {
    tile_ = &current;
    compute();
  }
  // The extents of the iteration space.
  std::vector<std::int64_t> space() const { return extents_of(recipe_.space); }

  std::string where() const { return "step '" + std::string(plan_.text_of(step_.name)) + "'"; }

 private:
  using extent_list = std::vector<std::int64_t>;

  void compute() {
    nodes_.assign(recipe_.nodes.count, {});
    space_ = extents_of(recipe_.space);
    anchor_.reset();
    if (recipe_.anchor.id != operator_id::none) run_anchor();
    for (std::uint32_t i = 0; i < recipe_.outputs.count; ++i) store(plan_.outputs[recipe_.outputs.first + i]);
  }

  std::int64_t bound(local_extent e) const { return e.value_in(extents_.data()); }
  extent_list extents_of(local_shape shape) const {
    extent_list e;
    for (local_extent x : plan_.extents_of(shape)) e.push_back(bound(x));
    return e;
  }
  // Of coordinates of these extents.
  bound_view view_of(slice_of axes, local_extent offset, const extent_list& extents) const {
    bound_view v;
    coordinates covered;
    covered.fill(1);
    for (const view_axis& a : plan_.axes_of(axes)) {
      v.add(a.of, bound(a.size), bound(a.stride));
      covered[a.of] *= bound(a.size);
    }
    for (std::size_t d = 0; d < max_rank; ++d)
      if (covered[d] != 1 && (d >= extents.size() || covered[d] != extents[d]))
        throw error("a view's axes do not cover their dimension", where());
    v.offset = bound(offset);
    return v;
  }
  std::size_t operand(std::uint16_t position) const { return static_cast<std::size_t>(operands_[position]); }
  const std::int64_t* codes_at(slice_of attributes) const { return plan_.attributes.data() + attributes.first; }

  host_tensor computed(const operator_tag& op, slice_of attributes, dtype type, const extent_list& dims,
                       const std::vector<const host_tensor*>& inputs) const {
    const evaluation_entry& definition = run_.definitions.of(op, where());
    const symbol_values symbols(extent_table_);
    const vector<std::int64_t> known = definition.attributes(codes_at(attributes), symbols);
    symbol_table no_symbols;
    inference c(no_symbols);
    std::vector<tensor_type> types(inputs.size());
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i]) c.add_input(types[i] = type_of(*inputs[i]));
      else c.add_absent_input();
    definition.infer(known, c);
    const std::string culprit = where() + ", " + std::string(op.name);
    if (!c.output()) throw error("the operator refuses its operands", culprit, {}, c.error().str());
    host_tensor result(type, dims);
    // Operators without extents of their own compute constants in any coordinates.
    if (c.output()->type != type || !broadcasts_to(c.output()->dims, type_of(result).dims, op.kind))
      throw error("the operator does not compute what the plan says", culprit);
    try {
      definition.evaluate(known, {inputs, &result, &symbols});
    } catch (const error& e) { throw error(e.problem(), culprit, e.expected(), e.found()); }
    return result;
  }
  static tensor_type type_of(const host_tensor& t) {
    tensor_type type{t.type, {}};
    for (std::int64_t d : t.dims) type.dims.push_back(d);
    return type;
  }
  static bool broadcasts_to(const shape& from, const shape& to, form kind) {
    if (kind != form::elementwise) return from == to;
    if (from.size() > to.size()) return false;
    for (std::size_t d = 0; d < from.size(); ++d)
      if (const dim n = from[d]; !(n == dim(1)) && !(n == to[d + to.size() - from.size()])) return false;
    return true;
  }

  void run_anchor() {
    std::vector<host_tensor> inputs;
    std::vector<bool> present;
    const auto shapes = plan_.part<local_shape>(plan_.shapes, recipe_.anchor_shapes);
    const auto refs = plan_.refs_of(recipe_.anchor_inputs);
    for (std::size_t i = 0; i < refs.size(); ++i) {
      present.push_back(refs[i].from != source::nothing);
      inputs.push_back(present[i] ? filled(value(refs[i], extents_of(shapes[i])), extents_of(shapes[i]))
                                  : host_tensor{});
    }
    std::vector<const host_tensor*> given;
    for (std::size_t i = 0; i < inputs.size(); ++i) given.push_back(present[i] ? &inputs[i] : nullptr);
    anchor_ = computed(recipe_.anchor, recipe_.anchor_attributes, recipe_.anchor_type, space_, given);
  }

  // The value of a reference over a region: the iteration space, or the shape of an anchor's input. A constant is a
  // tensor of rank 0.
  host_tensor value(operand_ref r, const extent_list& region) {
    switch (r.from) {
      case source::load:
        return loaded(plan_.loads[recipe_.loads.first + r.index], region);
      case source::anchor:
        if (!anchor_) throw error("an anchor's result is read before it is computed", where());
        return *anchor_;
      case source::constant:
        return literal(plan_.recipe_constants[recipe_.constants.first + r.index]);
      default:
        break;
    }
    std::optional<host_tensor>& known = nodes_[r.index];
    if (!known) known = node_value(plan_.nodes[recipe_.nodes.first + r.index], region);
    return *known;
  }
  host_tensor node_value(const recipe_node& n, const extent_list& region) {
    const auto refs = plan_.refs_of(n.inputs);
    if (n.op.id == id_of<op::combine>) {  // the branch that is not taken was not computed
      const host_tensor condition = value(refs[0], region);
      if (condition.type != dtype::boolean || (condition.count() == 0 && host_tensor(n.type, region).count() != 0))
        throw error("branches are chosen by what is no truth value", where());
      if (condition.count() == 0) return host_tensor(n.type, region);
      return filled(value(refs[condition.get<bool>(0) ? 1 : 2], region), region);
    }
    std::vector<host_tensor> inputs;
    for (operand_ref r : refs) inputs.push_back(r.from == source::nothing ? host_tensor{} : value(r, region));
    std::vector<const host_tensor*> given;
    for (std::size_t i = 0; i < refs.size(); ++i)
      given.push_back(refs[i].from == source::nothing ? nullptr : &inputs[i]);
    return computed(n.op, n.attributes, n.type, region, given);
  }

  static host_tensor literal(const recipe_constant& c) {
    host_tensor t(c.type, {});
    if (t.floating()) t.reals[0] = round_to(c.type, std::bit_cast<double>(c.code));
    else t.integers[0] = wrap_to(c.type, c.code);
    return t;
  }

  // A tensor of these extents: x, or its one element everywhere.
  host_tensor filled(host_tensor x, const extent_list& extents) const {
    if (x.dims == extents) return x;
    if (x.count() != 1) throw error("a value of other coordinates", where());
    host_tensor t(x.type, extents);
    copy_each(
        t, [](const coordinates&) { return std::size_t{0}; }, x);
    return t;
  }
  // Element c of `to` becomes the element of `from` at the position that `at(c)` says.
  static void copy_each(host_tensor& to, auto at, const host_tensor& from) {
    for_coordinates(to.dims, [&](const coordinates& c, std::size_t i) {
      if (to.floating()) to.reals[i] = from.reals[at(c)];
      else to.integers[i] = from.integers[at(c)];
    });
  }
  // --- loads: through the view, then through the movement operators from the buffer's end of the way
  host_tensor loaded(const recipe_load& l, const extent_list& region) {
    const auto steps = plan_.part<movement_step>(plan_.movement, l.movement);
    host_tensor t(l.type, steps.empty() ? region : extents_of(steps.back().in_shape));
    const bound_view view = view_of(l.axes, l.offset, t.dims);
    if (l.reach.count != 0 && (tile_ == nullptr || l.reach.count != t.dims.size()))
      throw error("a load says what tiles need of other coordinates", where());
    const box needed = l.reach.count != 0 ? box_of(l.reach, t.dims, view) : box{};
    for_coordinates(t.dims, [&](const coordinates& c, std::size_t i) {
      if (!needed.has(c)) {  // of another tile: whoever reads it all the same is found out by what comes of it
        if (t.floating()) t.reals[i] = std::numeric_limits<double>::quiet_NaN();
        return;
      }
      storage_.read(operand(l.operand), view(c) + needed.shift, t, i);
    });
    if (l.whole && l.reach.count == 0) check_border(l, view);
    for (std::size_t k = steps.size(); k-- > 0;) t = moved(steps[k], t);
    if (t.dims != region) throw error("movement that ends in other coordinates", where());
    return t;
  }
  host_tensor moved(const movement_step& m, const host_tensor& t) const {
    const extent_list out = extents_of(m.out_shape);
    if (t.dims != extents_of(m.in_shape)) throw error("movement whose steps do not follow each other", where());
    if (m.op.id != operator_id::none) return computed(m.op, m.attributes, t.type, out, {&t});
    host_tensor r(t.type, out);  // an expansion: axes of extent 1 again and again
    const coordinates stride = elements_of<double>::row_major(t);
    if (!broadcasts_to(type_of(t).dims, type_of(r).dims, form::elementwise))
      throw error("movement to other coordinates", where());
    const std::size_t lead = out.size() - t.dims.size();
    copy_each(
        r,
        [&](const coordinates& c) {
          std::int64_t at = 0;
          for (std::size_t d = 0; d < t.dims.size(); ++d) at += t.dims[d] == 1 ? 0 : c[d + lead] * stride[d];
          return static_cast<std::size_t>(at);
        },
        t);
    return r;
  }
  // A kernel may read the border of a buffer that it sees in its own coordinates: it must hold zeros. (That of tile
  // storage is the kernel's own to clear.)
  void check_border(const recipe_load& l, const bound_view& view) {
    const buffer& b = plan_.buffers[operand(l.operand)];
    host_tensor one(l.type, {1});
    for_border(b, run_.extents(b.type.dims), [&](const coordinates& c) {
      storage_.read(operand(l.operand), view(c), one, 0);
      if (one.get<double>(0) != 0)
        throw error("the border is not clear", where() + ", " + storage_.name_of(operand(l.operand)));
    });
  }

  // --- outputs
  void store(const recipe_output& o) {
    const host_tensor x = filled(value(o.value, space_), space_);
    const bound_view view = view_of(o.axes, o.offset, space_);
    const bool handed_over = plan_.buffers[operand(o.operand)].where == storage::tiles;
    const box needed = tile_ != nullptr ? box_of(recipe_.reach, space_, view) : box{};
    const std::int64_t shift = handed_over ? needed.shift : 0;
    host_tensor one(o.type, {1});
    for_coordinates(space_, [&](const coordinates& c, std::size_t i) {
      if (!needed.has(c)) return;
      if (x.floating()) one.set(0, x.reals[i]);
      else one.set(0, x.integers[i]);
      storage_.write(operand(o.operand), view(c) + shift, one, 0);
    });
  }

  // --- tiles
  // The coordinates that a tile needs, and what brings the first of them to the beginning of tile storage.
  struct box {
    std::vector<std::pair<std::int64_t, std::int64_t>> ranges;  // without any: all coordinates
    std::int64_t shift = 0;

    bool has(const coordinates& c) const {
      for (std::size_t d = 0; d < ranges.size(); ++d)
        if (c[d] < ranges[d].first || c[d] >= ranges[d].second) return false;
      return true;
    }
  };
  box box_of(slice_of reach, const extent_list& extents, const bound_view& view) const {
    box b;
    const auto reaches = plan_.reaches_of(reach);
    for (std::size_t d = 0; d < extents.size(); ++d) {
      b.ranges.push_back(tile_->of(reaches[d], extents[d]));
      if (reaches[d].is_whole()) continue;
      coordinates one{};
      one[d] = 1;
      b.shift -= reaches[d].first(tile_->first[static_cast<std::size_t>(reaches[d].of)]) * (view(one) - view.offset);
    }
    return b;
  }

  const plan_run& run_;
  const plan_view& plan_;
  const step& step_;
  const recipe& recipe_;
  plan_storage& storage_;
  std::span<const std::int32_t> operands_;
  extent_list extents_, space_;
  symbol_table extent_table_;
  std::vector<std::optional<host_tensor>> nodes_;
  std::optional<host_tensor> anchor_;
  const stage_tile* tile_ = nullptr;
};

}  // namespace dnnkit::detail
