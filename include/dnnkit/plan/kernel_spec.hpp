// SPDX-License-Identifier: MIT
// A kernel's specification: a recipe seen through the plan that holds it. What families of kernels are asked about, in
// the compiler as at run time, and what their templates are made from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dnnkit/core/namespaces.hpp"
#include "dnnkit/cost/tuned.hpp"
#include "dnnkit/operator/attributes.hpp"
#include "dnnkit/plan/plan.hpp"

namespace dnnkit::plan {

// How a view moves when one coordinate alone grows.
struct lane_stride {
  bool single = false;  // one axis, or none: a constant stride
  local_extent stride = 0;
};
constexpr lane_stride stride_along(const plan_view& plan, slice_of axes, std::size_t d) {
  lane_stride s{true, 0};
  std::size_t n = 0;
  for (const view_axis& a : plan.axes_of(axes))
    if (a.of == d) {
      s.stride = a.stride;
      ++n;
    }
  s.single = n <= 1;
  return s;
}

// The same of a load, whose coordinates movement operators change before its view is asked: not single where a step of
// coordinate d is none of a single coordinate of the view.
constexpr lane_stride stride_along(const plan_view& plan, const recipe_load& l, std::size_t d) {
  for (std::uint32_t k = 0; k < l.movement.count; ++k) {
    const std::int8_t next = plan.movement[l.movement.first + k].follows[d];
    if (next < 0) return {};
    d = static_cast<std::size_t>(next);
  }
  return stride_along(plan, l.axes, d);
}

// Do positions of coordinate d follow those of coordinate `inner` as if both were one, whatever symbols are: is d's
// stride the extent of `inner` times that one's? False where one of them is no axis of the view.
// @pre each is one axis at the most (lane_stride::single)
constexpr bool continues(const plan_view& plan, slice_of axes, std::size_t d, std::size_t inner) {
  bool follows = false;  // behind d's axis, which continues the next one
  for (const view_axis& a : plan.axes_of(axes)) {
    if (follows) return a.of == inner;
    follows = a.of == d && a.continues;
  }
  return false;
}

// So many positions of coordinate d lie next to each other, from each multiple of that number on, where a view takes
// the coordinate apart; 1 where none do.
constexpr std::int64_t run_along(const plan_view& plan, slice_of axes, std::size_t d) {
  std::int64_t run = 1;
  for (const view_axis& a : plan.axes_of(axes))  // outer to inner
    if (a.of == d) run = a.stride == 1 && a.size.is_known() ? a.size.value() : 1;
  return run;
}

// An extent as costs and choices take it: what is empty costs as much as one element, and divides.
constexpr std::int64_t known_or_typical(local_extent e) {
  const std::int64_t n = e.is_known() ? e.value() : e.typical;
  return n > 0 ? n : 1;
}

// The plan must outlive it.
class kernel_spec {
 public:
  // number: of a recipe, or of an earlier stage (plan_view::stage_numbered).
  constexpr kernel_spec(const plan_view& plan, std::size_t number)
      : plan_(&plan), self_(&plan.stage_numbered(number)) {}
  constexpr kernel_spec(const plan_view& plan, const recipe& self) : plan_(&plan), self_(&self) {}

  // The stages of a kernel, each a specification of its own; the last is this one's.
  constexpr std::size_t stages() const { return plan_->stages_of(*self_); }
  constexpr kernel_spec stage(std::size_t i) const {
    kernel_spec one(*plan_, plan_->stage_of(*self_, i));
    one.genes_ = i + 1 < stages() ? genes_.subspan(genes_.empty() ? 0 : i) : genes_;
    one.network_weights_ = network_weights_;
    return one;
  }

  // The same kernel, of which is said what genes it is to have: one for each stage, which must outlive it.
  constexpr kernel_spec with(std::span<const kernel_genes> genes) const {
    kernel_spec asked = *this;
    asked.genes_ = genes;
    return asked;
  }
  // What is said of the genes of the last stage.
  constexpr kernel_genes genes() const { return genes_.empty() ? kernel_genes{} : genes_[stages() - 1]; }

  // The same kernel in a network whose weights are so many bytes; 0, as without it: they are not known.
  constexpr kernel_spec in_network_of(double weights) const {
    kernel_spec one = *this;
    one.network_weights_ = weights;
    return one;
  }
  constexpr double network_weights() const { return network_weights_; }

  // So many positions of axis d of the last stage's iteration space are a tile; 0: all.
  constexpr std::int64_t tile(std::size_t d) const {
    return d < self_->tile.count ? plan_->numbers[self_->tile.first + d] : 0;
  }

  // The innermost axis of a stage's iteration space of which tiles need some positions, not all; max_rank
  // without one.
  constexpr std::size_t cut_axis() const {
    const auto needed = plan_->reaches_of(self_->reach);
    for (std::size_t d = needed.size(); d-- > 0;)
      if (!needed[d].is_whole()) return d;
    return max_rank;
  }

  // Does it hand what it computes to a later stage of its kernel?
  constexpr bool is_earlier_stage() const { return self_->reach.count != 0 && self_->earlier.count == 0; }

  constexpr const plan_view& plan() const { return *plan_; }
  constexpr const recipe& self() const { return *self_; }
  constexpr bool has_anchor() const { return self_->anchor.id != operator_id::none; }
  constexpr dtype anchor_type() const { return self_->anchor_type; }
  template <class Op> constexpr bool is_anchor() const { return self_->anchor.id == id_of<Op>; }
  // The anchor with its attributes.
  template <class Op> constexpr Op anchor() const {
    return decode<Op>(plan_->attributes.data() + self_->anchor_attributes.first);
  }

  // --- shapes: of the iteration space, and of the anchor's inputs
  constexpr std::size_t rank() const { return self_->space.count; }
  constexpr local_extent space(std::size_t d) const {
    return d < rank() ? plan_->local_extents[self_->space.first + d] : local_extent(1);
  }
  constexpr std::size_t inputs() const { return self_->anchor_inputs.count; }
  constexpr operand_ref input(std::size_t i) const {
    return i < inputs() ? plan_->refs[self_->anchor_inputs.first + i] : operand_ref{};
  }
  constexpr std::size_t rank_of(std::size_t input) const {
    return plan_->shapes[self_->anchor_shapes.first + input].count;
  }
  constexpr local_extent extent_of(std::size_t input, std::size_t d) const {
    return plan_->local_extents[plan_->shapes[self_->anchor_shapes.first + input].first + d];
  }

  // --- loads, nodes and outputs by number
  constexpr std::size_t loads() const { return self_->loads.count; }
  constexpr const recipe_load& load(std::size_t l) const { return plan_->loads[self_->loads.first + l]; }
  constexpr std::size_t nodes() const { return self_->nodes.count; }
  constexpr const recipe_node& node(std::size_t k) const { return plan_->nodes[self_->nodes.first + k]; }
  constexpr const recipe_constant& constant(std::size_t i) const {
    return plan_->recipe_constants[self_->constants.first + i];
  }
  constexpr std::size_t outputs() const { return self_->outputs.count; }
  constexpr const recipe_output& output(std::size_t o) const { return plan_->outputs[self_->outputs.first + o]; }
  constexpr std::span<const operand_ref> inputs_of(operand_ref node_ref) const {
    return plan_->refs_of(node(node_ref.index).inputs);
  }
  constexpr lane_stride stride_along(slice_of axes, std::size_t d) const { return plan::stride_along(*plan_, axes, d); }
  constexpr bool continues(slice_of axes, std::size_t d, std::size_t inner) const {
    return plan::continues(*plan_, axes, d, inner);
  }
  constexpr std::int64_t run_along(slice_of axes, std::size_t d) const { return plan::run_along(*plan_, axes, d); }
  constexpr lane_stride stride_along(const recipe_load& l, std::size_t d) const {
    return plan::stride_along(*plan_, l, d);
  }

  // The operands that any stage loads or stores: one more than the largest of their numbers.
  constexpr std::size_t operands() const {
    std::size_t n = 0;
    for (std::size_t i = 0; i < stages(); ++i) {
      const kernel_spec one = stage(i);
      for (std::size_t l = 0; l < one.loads(); ++l) n = one.load(l).operand < n ? n : one.load(l).operand + 1u;
      for (std::size_t o = 0; o < one.outputs(); ++o) n = one.output(o).operand < n ? n : one.output(o).operand + 1u;
    }
    return n;
  }

  // --- values
  constexpr dtype type_of(operand_ref r) const {
    switch (r.from) {
      case source::load:
        return load(r.index).type;
      case source::node:
        return node(r.index).type;
      case source::constant:
        return plan_->recipe_constants[self_->constants.first + r.index].type;
      default:
        return self_->anchor_type;
    }
  }
  // visit(x) for r and every value its tree is made of, each node once, as far as visit returns true. Returns whether
  // it always did.
  constexpr bool all_in_tree(operand_ref r, auto&& visit) const {
    if (r.from != source::node) return visit(r);
    vector<std::uint8_t> needed(nodes());
    needed.items[r.index] = 1;
    for (std::uint16_t k = r.index + 1; k-- > 0;) {  // nodes come behind what they read
      if (needed.items[k] == 0) continue;
      const operand_ref node{source::node, k};
      if (!visit(node)) return false;
      for (operand_ref in : inputs_of(node)) {
        if (in.from == source::node) needed.items[in.index] = 1;
        else if (!visit(in)) return false;
      }
    }
    return true;
  }
  // Does a load, or all loads of a tree, read what is the same in every run?
  constexpr bool is_setup(operand_ref r) const {
    return all_in_tree(r, [this](operand_ref x) { return x.from != source::load || load(x.index).setup; });
  }
  // Does the recipe run when a session is made only?
  constexpr bool is_setup() const {
    for (std::size_t l = 0; l < loads(); ++l)
      if (!load(l).setup) return false;
    return true;
  }
  // Does the tree of r, or that of any output, read load l? Loads of a prologue live in other coordinates than those
  // of an epilogue.
  constexpr bool reads(operand_ref r, std::size_t l) const {
    return !all_in_tree(r, [l](operand_ref x) { return x.from != source::load || x.index != l; });
  }
  constexpr bool outputs_read(std::size_t l) const {
    for (std::size_t o = 0; o < outputs(); ++o)
      if (reads(output(o).value, l)) return true;
    return false;
  }

  // --- sizes, for costs: extents that are not known count as typical ones
  constexpr double elements() const {
    double n = 1;
    for (std::size_t d = 0; d < rank(); ++d) n *= static_cast<double>(known_or_typical(space(d)));
    return n;
  }
  constexpr double elements_of(std::size_t input) const {
    double n = 1;
    for (std::size_t d = 0; d < rank_of(input); ++d) n *= static_cast<double>(known_or_typical(extent_of(input, d)));
    return n;
  }
  // Of all that is read and written, each element once; what stages hand to each other is neither.
  constexpr double bytes() const {
    double n = 0;
    for (std::size_t l = 0; l < loads(); ++l) {
      if (load(l).reach.count != 0) continue;
      double all = static_cast<double>(size_of(load(l).type));
      for (const view_axis& a : plan_->axes_of(load(l).axes))
        if (a.stride != 0) all *= static_cast<double>(known_or_typical(a.size));
      n += all;
    }
    if (is_earlier_stage()) return n;
    for (std::size_t o = 0; o < outputs(); ++o) n += elements() * static_cast<double>(size_of(output(o).type));
    return n;
  }

 private:
  const plan_view* plan_;
  const recipe* self_;
  std::span<const kernel_genes> genes_;
  double network_weights_ = 0;
};

}  // namespace dnnkit::plan

namespace dnnkit {
using plan::kernel_spec;
}  // namespace dnnkit
