// SPDX-License-Identifier: MIT
// The operators of a recipe that stand before and behind its anchor, as OpenCL C at one place of a kernel
// (recipe_writer.hpp).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "dnnkit/core/text.hpp"
#include "dnnkit/core/vector.hpp"
#include "dnnkit/op/cast.hpp"
#include "dnnkit/opencl/expression.hpp"
#include "dnnkit/opencl/index.hpp"
#include "dnnkit/opencl/operators.hpp"
#include "dnnkit/opencl/recipe_writer.hpp"
#include "dnnkit/operator/access.hpp"
#include "dnnkit/plan/plan.hpp"

namespace dnnkit::opencl {

// Does a movement operator say by its at() where elements come from, whatever stands for numbers?
template <class Op, class Extents>
concept moves_indices = Op::kind == form::movement&& requires(const Op& op, const Extents& c, const indices& o,
                                                              int (*x)(const indices&)) {
  op.at(c, o, x);
};

// Coordinates of which the last takes four neighbouring values at once.
struct fours_along {
  std::size_t first = 0, last = 0;
};

// The tree of a recipe at one place of the kernel, where coordinates are known: each load and each node is
// written where it is first asked for. `anchor` is what the anchor has computed there, and what the stage before has
// handed over, whichever is asked for. Or at four neighbouring places, where the tree is one of fours
// (normalised_operand.hpp).
template <class Set> class tree_writer {
 public:
  constexpr tree_writer(recipe_writer<Set>& w, const indices& at, expression anchor = {})
      : w_(w), at_(at), anchor_(anchor), nodes_(w.self.nodes.count), is_known_(w.self.nodes.count, 0) {}
  // At coordinates PREFIX0 ...
  constexpr tree_writer(recipe_writer<Set>& w, char prefix, expression anchor = {})
      : tree_writer(w, w.named(prefix), anchor) {}
  // There and at the next three places.
  constexpr tree_writer(recipe_writer<Set>& w, char prefix, expression anchor, std::optional<fours_along> fours)
      : tree_writer(w, prefix, anchor) {
    fours_ = fours;
  }

  // The value of r, which the operator called `reader` asks for.
  constexpr expression operator()(operand_ref r, std::string_view reader) {
    switch (r.from) {
      case source::anchor:
        return anchor_;
      case source::load:
        return loaded(w_.plan.loads[w_.self.loads.first + r.index], reader);
      case source::constant:
        return literal(w_.plan.recipe_constants[w_.self.constants.first + r.index], reader);
      case source::node:
        break;
      case source::nothing:
        w_.fail(reader, "an operand is left out");
        return {};
    }
    if (is_known_[r.index] == 0) {
      nodes_[r.index] = computed(w_.plan.nodes[w_.self.nodes.first + r.index]);
      is_known_[r.index] = 1;
    }
    return nodes_[r.index];
  }

  // Writes all outputs of the recipe; the tree is that of the iteration space.
  constexpr void store_outputs() {
    for (std::uint32_t i = 0; i < w_.self.outputs.count; ++i) {
      const recipe_output& o = w_.plan.outputs[w_.self.outputs.first + i];
      const std::string_view writer = operator_behind(o.value);
      check_type(o.type, writer, "writes");
      const expression x = (*this)(o.value, writer);
      w_.store(o, at_, x);
    }
  }

 private:
  constexpr std::string_view operator_behind(operand_ref r) const {
    if (r.from == source::node) return w_.plan.nodes[w_.self.nodes.first + r.index].op.name;
    return r.from == source::anchor ? w_.self.anchor.name : "a copy";
  }
  constexpr void check_type(dtype type, std::string_view op, std::string_view does) {
    if (!stored_as(type).empty()) return;
    text problem;
    problem << does << " " << name(type)
            << ", and kernels for OpenCL load and store f32, f16, bf16, bool, i8 to i64 and u8 to u32";
    w_.fail(op, problem.view());
  }

  constexpr expression loaded(const recipe_load& l, std::string_view reader) {
    if (l.reach.count != 0) return anchor_;
    check_type(l.type, reader, "reads");
    indices at = at_;
    for (const movement_step& m : w_.plan.template part<movement_step>(w_.plan.movement, l.movement))
      if (!go_back(m, at))
        w_.fail(m.op.id == operator_id::none ? reader : m.op.name,
                "no strided view says where its elements come from, and kernels for OpenCL need one");
    const element_kind kind = fours_ && runs_along(l, *fours_) ? element_kind::fours : computed_as(l.type);
    const expression x(w_.out, 't', w_.out.new_name(), kind);
    w_.out << "const " << type_of(kind) << ' ' << x << '=';
    if (kind == element_kind::fours) w_.four_elements(l, at);
    else w_.element(l, at);
    w_.out << (kind == element_kind::truth ? "!=0;\n" : ";\n");
    return x;
  }
  constexpr bool runs_along(const recipe_load& l, const fours_along& fours) const {
    for (const view_axis& a : w_.plan.axes_of(l.axes))
      if (a.of >= fours.first && a.of < fours.last && !(a.stride == 0) && !(a.size == 1)) return true;
    return false;
  }
  // Coordinates behind movement become those in front of it; false when there is no text for that.
  constexpr bool go_back(const movement_step& m, indices& at) {
    const movement_extents context{w_, m.in_shape, m.out_shape};
    if (m.op.id == operator_id::none) {
      at = broadcast_coordinates(context, 0, at);
      return true;
    }
    return visit_operator<is_index_map>(Set{}, m.op.id, w_.plan.attributes.data() + m.attributes.first,
                                        [&](const auto& op) {
                                          const indices behind = at;
                                          op.at(context, behind, [&](const indices& in) { return at = in, 0; });
                                          return true;
                                        });
  }
  // What movement operators are told of extents.
  struct movement_extents {
    recipe_writer<Set>& w;
    local_shape from, to;
    using real = float;
    constexpr std::size_t rank(std::size_t) const { return from.count; }
    constexpr std::size_t out_rank() const { return to.count; }
    constexpr index in(std::size_t, std::size_t d) const { return {w.out, w.plan.local_extents[from.first + d]}; }
    constexpr index out(std::size_t d) const { return {w.out, w.plan.local_extents[to.first + d]}; }
    constexpr index value(dim attribute) const { return {w.out, local_extent::from_attribute(attribute)}; }
  };
  template <class Op> struct is_index_map { static constexpr bool value = moves_indices<Op, movement_extents>; };

  constexpr expression literal(const recipe_constant& c, std::string_view reader) {
    const element_kind kind = computed_as(c.type);
    check_type(c.type, reader, "reads");
    if (kind != element_kind::real) return expression::statement(kind, &w_.out, spelt(c.code));
    return expression::statement(kind, &w_.out, expression(static_cast<float>(std::bit_cast<double>(c.code))));
  }
  constexpr expression computed(const recipe_node& n) {
    check_type(n.type, n.op.name, "computes");
    vector<expression> x;
    for (operand_ref in : w_.plan.refs_of(n.inputs)) x.push_back((*this)(in, n.op.name));
    expression result;
    if (!w_.draft.error.empty()) return result;
    if (!apply(Set{}, n.op.id, w_.plan.attributes.data() + n.attributes.first, {x.data(), x.size()}, result))
      w_.fail(n.op.name, "there is no OpenCL kernel for this operator");
    w_.fail_if_refused(n.op.name);
    if (!w_.draft.error.empty()) return result;
    result = converted(result, n.type);
    return n.op.id == id_of<op::cast> ? rounded(result, n.type) : result;
  }
  // The least number has no literal of its own in C.
  static constexpr text spelt(std::int64_t code) {
    constexpr std::int64_t least = -9223372036854775807 - 1;
    return code == least ? text("(-9223372036854775807L-1)") : text() << code << "L";
  }

  recipe_writer<Set>& w_;
  indices at_;
  expression anchor_;
  std::optional<fours_along> fours_;
  vector<expression> nodes_;
  vector<std::uint8_t> is_known_;
};

}  // namespace dnnkit::opencl
