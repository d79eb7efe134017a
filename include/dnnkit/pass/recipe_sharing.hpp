// SPDX-License-Identifier: MIT
// Structural equality of recipes: steps with equal ones share one, and so one instantiation of a kernel.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dnnkit/plan/plan.hpp"

namespace dnnkit::detail {

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
    return static_cast<std::uint32_t>(p_.recipes.size() - 1);
  }

 private:
  // Are two stretches of a table equal, element by element?
  template <class T, class Slice>
  static constexpr bool same(const vector<T>& table, Slice a, Slice b, auto equal_elements) {
    if (a.count != b.count) return false;
    for (std::uint32_t i = 0; i < a.count; ++i)
      if (!equal_elements(table[a.first + i], table[b.first + i])) return false;
    return true;
  }
  constexpr bool same_extents(local_shape a, local_shape b) const {
    return same(p_.local_extents, a, b, [](local_extent x, local_extent y) { return x == y; });
  }
  constexpr bool same_attributes(slice_of a, slice_of b) const {
    return same(p_.attributes, a, b, [](std::int64_t x, std::int64_t y) { return x == y; });
  }
  constexpr bool same_refs(slice_of a, slice_of b) const {
    return same(p_.refs, a, b, [](operand_ref x, operand_ref y) { return x.from == y.from && x.index == y.index; });
  }
  constexpr bool same_axes(slice_of a, slice_of b) const {
    return same(p_.axes, a, b, [](const view_axis& x, const view_axis& y) {
      return x.of == y.of && x.size == y.size && x.stride == y.stride && x.continues == y.continues;
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
    return a.anchor.id == b.anchor.id && a.anchor_type == b.anchor_type && a.loads.count == b.loads.count &&
           a.nodes.count == b.nodes.count && same_reaches(a.reach, b.reach) && same_extents(a.space, b.space) &&
           same_attributes(a.anchor_attributes, b.anchor_attributes) && same_refs(a.anchor_inputs, b.anchor_inputs) &&
           same(p_.shapes, a.anchor_shapes, b.anchor_shapes,
                [&](local_shape x, local_shape y) { return same_extents(x, y); }) &&
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
                         x.setup == y.setup && x.whole == y.whole && x.bordered == y.bordered &&
                         x.external == y.external && x.before == y.before && x.after == y.after &&
                         x.texel_row == y.texel_row && same_axes(x.axes, y.axes) && same_reaches(x.reach, y.reach) &&
                         same(p_.movement, x.movement, y.movement, [&](const movement_step& m, const movement_step& o) {
                           return m.op.id == o.op.id && same_attributes(m.attributes, o.attributes) &&
                                  same_extents(m.in_shape, o.in_shape) && same_extents(m.out_shape, o.out_shape);
                         });
                }) &&
           same(p_.outputs, a.outputs, b.outputs, [&](const recipe_output& x, const recipe_output& y) {
             return x.value.from == y.value.from && x.value.index == y.value.index && x.operand == y.operand &&
                    x.type == y.type && x.offset == y.offset && x.texel_row == y.texel_row && same_axes(x.axes, y.axes);
           });
  }

  plan_draft& p_;
};

}  // namespace dnnkit::detail
