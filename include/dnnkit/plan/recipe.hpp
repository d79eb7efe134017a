// SPDX-License-Identifier: MIT
// Recipes: what a kernel computes, without saying on which tensors. Steps with equal recipes share one instantiation.
//
// A recipe is a small data-flow tree (DNNFusion, section 3.4.4): loads, element-wise nodes and at most one anchor.
// Coordinates: everything between the anchor and the outputs lives in the iteration space (the anchor's output shape,
// or the first output's when there is no anchor); the tree above anchor input k lives in the coordinates of that input.
// Extents in a recipe are known or numbers of the step's own list of them (local_extent).
#pragma once

#include <array>
#include <cstdint>

#include "dnnkit/core/dtype.hpp"
#include "dnnkit/core/namespaces.hpp"
#include "dnnkit/graph/graph.hpp"
#include "dnnkit/plan/local_extent.hpp"

namespace dnnkit::plan {

enum class source : std::uint8_t { nothing, load, node, anchor, constant };

// A value inside a recipe: load i, node i, the anchor's result, or constant i (an element known to the compiler).
struct operand_ref {
  source from = source::nothing;
  std::uint16_t index = 0;
};

// One axis of a view: logical dimension `of` is made of its axes, outer to inner. It continues the next axis of the
// view where, whatever symbols are, its stride is the size of that one times its stride.
struct view_axis {
  std::uint8_t of = 0;
  local_extent size, stride;
  bool continues = false;
};

// Which operator type a kernel is compiled for: all that it needs of op_info. By value, because a plan that pointed to
// op_info would bring all that builds and prints graphs into every program.
struct operator_tag {
  operator_id id = operator_id::none;
  form kind{};
  std::string_view name;

  constexpr operator_tag() = default;
  constexpr operator_tag(const op_info& info) : id(info.id), kind(info.kind), name(info.name) {}
};

// A movement operator evaluated by its at(), for loads that no strided view can express; coordinates pass through the
// list from the first to the last and then through the view.
struct movement_step {
  operator_tag op;
  slice_of attributes;
  local_shape in_shape, out_shape;
  // Of each axis of the output, the axis of the input along which a step there is a step, while nothing else changes;
  // -1 where there is none.
  std::array<std::int8_t, max_rank> follows{-1, -1, -1, -1, -1, -1, -1, -1};
};
static_assert(max_rank == 8);

// The positions of an axis that a tile of the last stage needs (see recipe::tile). Tiles from position t of axis `of`
// of the last stage's iteration space on, n positions wide, need those from t * stride - before on, (n - 1) * stride +
// extent of them, as far as the axis has them. Without `of`: all positions.
struct tile_reach {
  std::int8_t of = -1;
  std::int32_t stride = 1, extent = 1, before = 0;

  constexpr bool is_whole() const { return of < 0; }
  // Of n positions from t on: the first and how many.
  constexpr std::int64_t first(std::int64_t t) const { return t * stride - before; }
  constexpr std::int64_t count(std::int64_t n) const { return (n - 1) * stride + extent; }

  friend constexpr bool operator==(const tile_reach&, const tile_reach&) = default;
};

struct recipe_load {
  std::uint16_t operand = 0;  // position among the step's operands
  dtype type = dtype::f32;
  std::uint8_t rank = 0;  // of the view
  slice_of axes;          // the view, in the step's coordinates, or in those behind the last movement step
  local_extent offset = 0;
  slice_of movement;
  bool setup = false;     // a weight, a constant or computed from such: the same in every run
  bool external = false;  // the caller's memory
  bool whole = false;     // the buffer in its own coordinates, untransformed
  bool bordered = false;  // that, or some of the elements along axes that have no border
  // the buffer's border in each of its dimensions
  std::array<std::uint8_t, max_rank> before{}, after{};
  // Of what an earlier stage has put into tile storage: which positions of the coordinates it is read in a tile needs,
  // one entry an axis. Such a load is a strided view.
  slice_of reach;
  std::int32_t texel_row = 0;  // of the buffer's layout: elements of a row of the image that it is, 0 for none
};

struct recipe_constant {
  dtype type = dtype::f32;
  std::int64_t code = 0;  // an integer, or the bits of a double for floating types
};

struct recipe_node {
  operator_tag op;
  slice_of attributes, inputs;
  dtype type = dtype::f32;
};

struct recipe_output {
  operand_ref value;
  std::uint16_t operand = 0;
  dtype type = dtype::f32;
  slice_of axes;  // the view to store through, in the iteration space
  local_extent offset = 0;
  std::int32_t texel_row = 0;  // as that of a load
};

struct recipe {
  operator_tag anchor;
  slice_of anchor_attributes, anchor_inputs;
  slice_of anchor_shapes;  // pool `shapes`: one for each anchor input
  dtype anchor_type = dtype::f32;
  row_walk rows;      // of an anchor that works in passes over rows of its first input
  local_shape space;  // the iteration space
  slice_of loads, nodes, outputs, constants;
  // A kernel of several stages: this recipe is the last of them, and the plan's `stages` have those before it, in their
  // order. They run in turn, tile by tile: a tile is so many positions of each axis of the last stage's iteration space
  // (`tile`, among the plan's numbers; 0: all), and each stage computes what `reach` says of its own iteration space.
  // Stages share the step's operands and extents.
  slice_of earlier, tile, reach;
};

}  // namespace dnnkit::plan
