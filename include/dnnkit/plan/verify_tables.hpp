// SPDX-License-Identifier: MIT
// What whoever reads a plan relies on before anything else: parts of tables and numbers of rows that are in range,
// lists that have an entry for each axis, recipes that find in each step that runs them the operands and extents that
// they ask for. (What a recipe's attributes say is between its operators and whoever made it.)
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "dnnkit/plan/layout_error.hpp"
#include "dnnkit/plan/plan.hpp"
#include "dnnkit/tensor/verify_symbols.hpp"

namespace dnnkit::detail {

class table_check {
 public:
  explicit table_check(const plan_view& plan) : p_(plan), symbols_(table_of(plan)) {}

  text run() {
    if (text wrong = symbols_error(symbols_); !wrong.empty()) return wrong;
    if (p_.arena_bytes < 0) fail("an arena of less than nothing");
    for (const buffer& b : p_.buffers) check_buffer(b);
    for (std::int32_t b : p_.inputs) check_buffer_number(b);
    for (std::int32_t b : p_.results) check_buffer_number(b);
    check_declared_inputs();
    for (const local_shape& s : p_.shapes) check(s);
    for (const movement_step& m : p_.movement) check_movement(m);
    for (const recipe& r : p_.recipes) check_kernel(r);
    for (const recipe& r : p_.stages)
      if (r.earlier.count != 0) fail("a stage that has stages of its own");
    if (!error_.empty()) return error_;
    for (const recipe& r : p_.recipes) needs_.push_back(needs_of(r));
    for (const step& s : p_.setup_steps) check_step(s);
    for (const step& s : p_.steps) check_step(s);
    for (const guarded_assumption& a : p_.branch_assumptions) {
      check_dim(a.assumed.left);
      check_dim(a.assumed.right);
      check_guards(a.guards);
    }
    return error_;
  }

 private:
  // What a step must have for a recipe.
  struct step_needs {
    std::size_t operands = 0, extents = 0;

    void operand(std::uint16_t i) { operands = std::max<std::size_t>(operands, i + std::size_t{1}); }
    void extent(local_extent e) {
      if (!e.is_known()) extents = std::max(extents, e.of_step() + 1);
    }
  };

  void fail(std::string_view problem) {
    if (error_.empty()) error_ = problem;
  }
  void check(slice_of s, const auto& table, std::string_view what) {
    if (s.first > table.size() || s.count > table.size() - s.first) fail(what);
  }
  void check(local_shape s) {
    check({s.first, s.count}, p_.local_extents, "a shape outside the table of extents");
    if (s.count > max_rank) fail("a shape of too many dimensions");
  }
  void check_dim(dim d) {
    if (d.is_unknown()) fail("an unknown dimension in the plan");
    else if (!is_dim_of(symbols_, d)) fail("a dimension refers to an expression that does not exist");
  }
  void check_buffer_number(std::int32_t b) {
    if (b < 0 || static_cast<std::size_t>(b) >= p_.buffers.size()) fail("a number that is no buffer's");
  }

  void check_declared_inputs() {
    if (p_.declared_inputs.empty() || !error_.empty()) return;
    if (p_.declared_inputs.size() != p_.inputs.size()) return fail("declared extents of some inputs alone");
    for (std::size_t i = 0; i < p_.inputs.size(); ++i) {
      if (p_.declared_inputs[i].size() != p_.buffers[static_cast<std::size_t>(p_.inputs[i])].type.dims.size())
        return fail("declared extents of another rank than the input");
      for (dim d : p_.declared_inputs[i]) check_dim(d);
    }
  }

  void check_buffer(const buffer& b) {
    check(b.name, p_.characters, "a buffer's name outside the characters");
    check(b.data, p_.constants, "a buffer's elements outside the constants");
    for (dim d : b.type.dims) check_dim(d);
    check_dim(b.elements);
    if (b.where == storage::arena && p_.is_static && b.offset < 0) fail("a buffer outside the arena");
    if (const text wrong = layout_error(b.layout, b.type.dims.size()); !wrong.empty()) {
      text whole("the buffer '");
      return fail(whole << (error_.empty() ? p_.text_of(b.name) : "") << "' has " << wrong);
    }
    if (b.layout.within != none) check_buffer_number(b.layout.within);
  }
  void check_movement(const movement_step& m) {
    check(m.attributes, p_.attributes, "attributes outside their table");
    check(m.in_shape);
    check(m.out_shape);
  }

  // --- recipes
  void check_kernel(const recipe& r) {
    check(r.earlier, p_.stages, "stages outside their table");
    check(r.tile, p_.numbers, "a tile outside the numbers");
    if (!error_.empty()) return;
    const std::size_t stages = p_.stages_of(r);
    if (stages > 1 && r.tile.count != r.space.count) fail("tiles that do not say how much they are of each axis");
    for (std::int32_t n : p_.numbers_of(r.tile))
      if (n < 0) fail("a tile of less than nothing");
    for (std::size_t i = 0; i < stages; ++i) {
      const recipe& stage = p_.stage_of(r, i);
      check_recipe(stage, r.space.count);
      if (stage.reach.count != (stages > 1 ? stage.space.count : 0))
        fail("a stage that does not say of each axis what tiles need");
    }
  }
  // tile_rank: of the iteration space that tiles are of.
  void check_recipe(const recipe& r, std::size_t tile_rank) {
    check(r.space);
    check(r.anchor_attributes, p_.attributes, "attributes outside their table");
    check(r.anchor_inputs, p_.refs, "operands outside their table");
    check(r.anchor_shapes, p_.shapes, "shapes outside their table");
    if (r.anchor_shapes.count != r.anchor_inputs.count) fail("an anchor's input without a shape");
    check(r.loads, p_.loads, "loads outside their table");
    check(r.nodes, p_.nodes, "nodes outside their table");
    check(r.outputs, p_.outputs, "outputs outside their table");
    check(r.constants, p_.recipe_constants, "constants outside their table");
    check_reaches(r.reach, tile_rank);
    if (!error_.empty()) return;
    for (const operand_ref& ref : p_.refs_of(r.anchor_inputs)) check_ref(r, ref, r.nodes.count, true);
    for (std::uint32_t i = 0; i < r.loads.count; ++i) {
      const recipe_load& l = p_.loads[r.loads.first + i];
      check_axes(l.axes);
      check(l.movement, p_.movement, "movement outside its table");
      check_reaches(l.reach, tile_rank);
    }
    for (std::uint32_t i = 0; i < r.nodes.count; ++i) {
      const recipe_node& n = p_.nodes[r.nodes.first + i];
      check(n.attributes, p_.attributes, "attributes outside their table");
      check(n.inputs, p_.refs, "operands outside their table");
      if (!error_.empty()) return;
      for (const operand_ref& ref : p_.refs_of(n.inputs)) check_ref(r, ref, i, true);
    }
    for (std::uint32_t i = 0; i < r.outputs.count; ++i) {
      const recipe_output& o = p_.outputs[r.outputs.first + i];
      check_axes(o.axes);
      check_ref(r, o.value, r.nodes.count, false);
    }
  }
  // A value that is read where the first `nodes` nodes of the recipe are known.
  void check_ref(const recipe& r, operand_ref ref, std::size_t nodes, bool may_be_left_out) {
    switch (ref.from) {
      case source::load:
        if (ref.index >= r.loads.count) fail("a load out of range");
        break;
      case source::node:
        if (ref.index >= nodes) fail(ref.index < r.nodes.count ? "nodes that are not in order" : "a node out of range");
        break;
      case source::constant:
        if (ref.index >= r.constants.count) fail("a constant out of range");
        break;
      case source::anchor:
        if (r.anchor.id == operator_id::none) fail("a result of an anchor that is not there");
        break;
      case source::nothing:
        if (!may_be_left_out) fail("an operand that is left out");
    }
  }
  void check_axes(slice_of axes) {
    check(axes, p_.axes, "axes outside their table");
    if (!error_.empty()) return;
    for (const view_axis& a : p_.axes_of(axes))
      if (a.of >= max_rank) fail("an axis beyond the coordinates");
  }
  void check_reaches(slice_of reaches, std::size_t tile_rank) {
    check(reaches, p_.reaches, "what tiles need outside its table");
    if (!error_.empty()) return;
    for (const tile_reach& r : p_.reaches_of(reaches))
      if (r.of >= static_cast<std::int64_t>(tile_rank)) fail("a tile of an axis that is not there");
  }

  // --- what recipes and steps have to do with each other
  step_needs needs_of(const recipe& r) {
    step_needs needs;
    const auto of_shape = [&](local_shape s) {
      for (local_extent e : p_.extents_of(s)) needs.extent(e);
    };
    const auto of_axes = [&](slice_of axes) {
      for (const view_axis& a : p_.axes_of(axes)) {
        needs.extent(a.size);
        needs.extent(a.stride);
      }
    };
    for (std::size_t k = 0; k < p_.stages_of(r); ++k) {
      const recipe& stage = p_.stage_of(r, k);
      of_shape(stage.space);
      for (local_shape s : p_.part<local_shape>(p_.shapes, stage.anchor_shapes)) of_shape(s);
      for (const recipe_load& l : p_.part<recipe_load>(p_.loads, stage.loads)) {
        needs.operand(l.operand);
        needs.extent(l.offset);
        of_axes(l.axes);
        for (const movement_step& m : p_.part<movement_step>(p_.movement, l.movement)) {
          of_shape(m.in_shape);
          of_shape(m.out_shape);
        }
      }
      for (const recipe_output& o : p_.part<recipe_output>(p_.outputs, stage.outputs)) {
        needs.operand(o.operand);
        needs.extent(o.offset);
        of_axes(o.axes);
      }
    }
    return needs;
  }
  void check_guards(slice_of guards) {
    check(guards, p_.numbers, "guards outside the numbers");
    if (guards.count % 2 != 0) fail("a guard without a value");
    if (!error_.empty()) return;
    for (std::size_t k = 0; k < guards.count; k += 2) check_buffer_number(p_.numbers_of(guards)[k]);
  }
  void check_step(const step& s) {
    check(s.name, p_.characters, "a step's name outside the characters");
    if (s.kernel >= p_.recipes.size()) return fail("a step without a recipe");
    check(s.operands, p_.numbers, "operands outside the numbers");
    check(s.borders, p_.numbers, "borders outside the numbers");
    check_guards(s.guards);
    check(s.extents, p_.dims, "extents outside the dimensions");
    if (!error_.empty()) return;
    for (std::int32_t b : p_.numbers_of(s.operands)) check_buffer_number(b);
    for (std::int32_t b : p_.numbers_of(s.borders)) check_buffer_number(b);
    for (dim d : p_.dims_of(s.extents)) check_dim(d);
    if (needs_[s.kernel].operands > s.operands.count) fail("a recipe's operand that its step does not have");
    if (needs_[s.kernel].extents > s.extents.count) fail("a recipe's extent that is none of its step's");
  }

  const plan_view& p_;
  const symbol_table symbols_;
  std::vector<step_needs> needs_;  // of each recipe
  text error_;
};

// Empty when the plan's tables refer to each other as they should; else what is wrong.
[[nodiscard]] inline text tables_error(const plan_view& plan) { return table_check(plan).run(); }

}  // namespace dnnkit::detail
