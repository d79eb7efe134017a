// SPDX-License-Identifier: MIT
// The plan: flat tables of symbols, buffers and steps, which executors, printers and code generators read and nothing
// else (design, "The plan value"). `plan_draft` is the table under construction, `plan_view` what everybody reads.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "dnnkit/core/namespaces.hpp"
#include "dnnkit/core/vector.hpp"
#include "dnnkit/plan/decision.hpp"
#include "dnnkit/plan/kernel_choice.hpp"
#include "dnnkit/plan/recipe.hpp"

namespace dnnkit::plan {

enum class storage : std::uint8_t {
  arena,     // at `offset` of the arena
  input,     // the caller's, row-major
  output,    // the caller's, row-major
  weight,    // in the weight file, row-major
  constant,  // `data` in the plan's constants
  setup,     // computed when a session is made, kept with the packed weights
  tiles,     // what a stage hands to a later one of the same kernel: a tile of it, each worker's own
  image      // in the device's image number `offset`, which others have when this one is not alive
};

// What kernels of a run hand to each other.
constexpr bool is_between_kernels(storage s) { return s == storage::arena || s == storage::image; }

// Where logical coordinates lie: dimensions in storage order, each with room for a border on both sides.
struct buffer_layout {
  static_vector<std::uint8_t, max_rank> order;          // storage order, outermost first
  static_vector<std::uint8_t, max_rank> before, after;  // border elements of each logical dimension (the halo)
  // Tile storage: the positions of each logical dimension that are stored at a time, with those beyond its ends that a
  // tile needs, 0 for all, which may have a border; else empty.
  static_vector<std::uint16_t, max_rank> part;
  // Where it lies inside another, with that one's strides and border: the other (a value, in a plan its buffer), which
  // lies in none itself, and the elements of its storage before this one's.
  std::int32_t within = none;
  std::int64_t at = 0;
  // In an image of texels of four elements (SmartMem, section 3.3): so many elements of its storage, a multiple of
  // four, are a row of the image, the next ones are the next row. 0: in memory as one line.
  std::int32_t texel_row = 0;
};

struct buffer {
  slice_of name;
  tensor_type type;
  storage where = storage::arena;
  buffer_layout layout;
  dim elements = 0;          // including the border
  std::int64_t offset = 0;   // bytes from the start of the arena, when all sizes are known; or which image
  std::int32_t port = none;  // which graph input or output
  slice_of data;
  std::int32_t first = 0, last = 0;  // steps between which it is alive
};

// Bytes of the buffer that b lies inside before it.
constexpr std::int64_t bytes_before(const buffer& b) {
  return b.layout.at * static_cast<std::int64_t>(size_of(b.type.type));
}

struct step {
  slice_of name;
  std::uint32_t kernel = 0;  // its recipe
  slice_of operands;         // buffer numbers
  slice_of extents;          // dimensions its kernel sees as run-time values: local_extent::of_step(i) is number i
  slice_of borders;          // buffers whose halo it clears before it runs
  slice_of nodes;            // node numbers of the graph it came from
  slice_of guards;           // pairs: buffer of a condition, and 1 or 0 as it must be; where one is not, it is left out
  dim flops = 0;
};

// What only a branch of an If assumes of extents: it is checked where the branch is taken.
struct guarded_assumption {
  assumption assumed;
  slice_of guards;  // as those of a step
};

// The tables: the type of a row, and the name. Members, numbers, visits and views are made from this one list.
// `inputs` and `results` are the buffers of the graph's inputs and outputs; where assumptions replace symbols in
// inputs, `declared_inputs` has the extents that each was declared with. `choices` and what follows them are the
// record: the compiler and printers read it, programs that run the plan do not, and do not hold it.
#define DNNKIT_PLAN_TABLES(TABLE)               \
  TABLE(step, setup_steps)                      \
  TABLE(step, steps)                            \
  TABLE(buffer, buffers)                        \
  TABLE(recipe, recipes)                        \
  TABLE(recipe, stages)                         \
  TABLE(tile_reach, reaches)                    \
  TABLE(recipe_node, nodes)                     \
  TABLE(recipe_load, loads)                     \
  TABLE(recipe_output, outputs)                 \
  TABLE(recipe_constant, recipe_constants)      \
  TABLE(operand_ref, refs)                      \
  TABLE(view_axis, axes)                        \
  TABLE(movement_step, movement)                \
  TABLE(local_shape, shapes)                    \
  TABLE(local_extent, local_extents)            \
  TABLE(dim, dims)                              \
  TABLE(std::int64_t, attributes)               \
  TABLE(std::int32_t, numbers)                  \
  TABLE(std::int64_t, constants)                \
  TABLE(char, characters)                       \
  TABLE(symbol, symbols)                        \
  TABLE(atom, atoms)                            \
  TABLE(polynomial, polynomials)                \
  TABLE(assumption, assumptions)                \
  TABLE(guarded_assumption, branch_assumptions) \
  TABLE(shape, declared_inputs)                 \
  TABLE(std::int32_t, inputs)                   \
  TABLE(std::int32_t, results)                  \
  TABLE(kernel_choice, choices)                 \
  TABLE(kernel_alternative, alternatives)       \
  TABLE(decision, decisions)                    \
  TABLE(compared_cost, costs)                   \
  TABLE(logged_node, log_nodes)                 \
  TABLE(logged_value, log_values)               \
  TABLE(logged_kernel, log_kernels)             \
  TABLE(logged_stage, log_stages)               \
  TABLE(graph_totals, totals)

}  // namespace dnnkit::plan

namespace dnnkit::detail {
#define DNNKIT_TABLE(row, name) name,
enum class table_number : std::size_t { DNNKIT_PLAN_TABLES(DNNKIT_TABLE) count };
#undef DNNKIT_TABLE
}  // namespace dnnkit::detail

namespace dnnkit::plan {
inline constexpr auto table_count = static_cast<std::size_t>(detail::table_number::count);
inline constexpr auto first_of_record = static_cast<std::size_t>(detail::table_number::choices);

// Calls visit(table) for every table; table(p) is that of a plan-like object p.
template <class Visit> constexpr void for_each_table(Visit visit) {
#define DNNKIT_TABLE(row, name) visit([](auto& p) -> auto& { return p.name; });
  DNNKIT_PLAN_TABLES(DNNKIT_TABLE)
#undef DNNKIT_TABLE
}

// A table, or a part of one, that somebody else holds. What std::span asks of iterators takes the compiler longer, for
// as many tables, than all else that a plan is made of; and in constant expressions each step of its iterators is calls
// of functions, which those of a pointer are not.
template <class T> struct table_view {
  using value_type = T;
  const T* items = nullptr;
  std::size_t count = 0;

  constexpr const T* data() const { return items; }
  constexpr std::size_t size() const { return count; }
  constexpr bool empty() const { return count == 0; }
  constexpr const T& operator[](std::integral auto i) const { return items[i]; }
  constexpr const T* begin() const { return items; }
  constexpr const T* end() const { return items + count; }
  constexpr const T& front() const { return items[0]; }
  constexpr const T& back() const { return items[count - 1]; }
  constexpr table_view first(std::size_t n) const { return {items, n}; }
  constexpr table_view subspan(std::size_t from) const { return {items + from, count - from}; }
};

// The tables, held in containers made by Container<row, number of the table>.
template <template <class, std::size_t> class Container> struct plan_tables {
#define DNNKIT_TABLE(row, name) Container<row, static_cast<std::size_t>(detail::table_number::name)> name;
  DNNKIT_PLAN_TABLES(DNNKIT_TABLE)
#undef DNNKIT_TABLE
  std::int64_t arena_bytes = 0;  // when all sizes are known, else 0
  bool is_static = true;         // no symbols
  text error;                    // why there is no plan; empty when there is one

  template <class T> static constexpr table_view<T> part(const auto& table, slice_of s) {
    return {table.data() + s.first, s.count};
  }
  constexpr std::string_view text_of(slice_of s) const { return {characters.data() + s.first, s.count}; }
  constexpr table_view<dim> dims_of(slice_of s) const { return part<dim>(dims, s); }
  constexpr table_view<local_extent> extents_of(local_shape s) const {
    return part<local_extent>(local_extents, {s.first, s.count});
  }
  constexpr table_view<operand_ref> refs_of(slice_of s) const { return part<operand_ref>(refs, s); }
  constexpr table_view<std::int32_t> numbers_of(slice_of s) const { return part<std::int32_t>(numbers, s); }
  constexpr table_view<view_axis> axes_of(slice_of s) const { return part<view_axis>(axes, s); }
  constexpr table_view<tile_reach> reaches_of(slice_of s) const { return part<tile_reach>(reaches, s); }
  // The extents of input number `i` that tell symbols their values.
  constexpr const shape& declared_input(std::size_t i) const {
    return declared_inputs.empty() ? buffers[static_cast<std::size_t>(inputs[i])].type.dims : declared_inputs[i];
  }
  // The stages of a recipe: how many, and number i of them.
  static constexpr std::size_t stages_of(const recipe& r) { return std::size_t{r.earlier.count} + 1; }
  constexpr const recipe& stage_of(const recipe& r, std::size_t i) const {
    return i < r.earlier.count ? stages[r.earlier.first + i] : r;
  }
  // The numbers of all stages: a recipe's own is that of its last one, those before it come behind all recipes.
  constexpr std::size_t number_of_stage(std::size_t r, std::size_t i) const {
    return i < recipes[r].earlier.count ? recipes.size() + recipes[r].earlier.first + i : r;
  }
  constexpr const recipe& stage_numbered(std::size_t n) const {
    return n < recipes.size() ? recipes[n] : stages[n - recipes.size()];
  }
};

}  // namespace dnnkit::plan

namespace dnnkit::detail {
template <class T, std::size_t> using vector_table = vector<T>;
template <class T, std::size_t> using viewed_table = table_view<T>;
}  // namespace dnnkit::detail

namespace dnnkit::plan {

using plan_draft = plan_tables<detail::vector_table>;
using plan_view = plan_tables<detail::viewed_table>;

using table_sizes = std::array<std::size_t, table_count>;

template <class Tables> constexpr table_sizes sizes_of(const Tables& p) {
#define DNNKIT_TABLE(row, name) p.name.size(),
  return {DNNKIT_PLAN_TABLES(DNNKIT_TABLE)};
#undef DNNKIT_TABLE
}

// A plan_view of any plan-like object that outlives it.
template <class Tables> constexpr plan_view view_of(const Tables& p) {
  plan_view v;
#define DNNKIT_TABLE(row, name) v.name = {p.name.data(), p.name.size()};
  DNNKIT_PLAN_TABLES(DNNKIT_TABLE)
#undef DNNKIT_TABLE
  v.arena_bytes = p.arena_bytes;
  v.is_static = p.is_static;
  v.error = p.error;
  return v;
}

#undef DNNKIT_PLAN_TABLES

// visit(b) for the number of every buffer that a step writes, but for tile storage.
constexpr void for_each_written(const plan_view& plan, const step& s, auto visit) {
  const recipe& last = plan.recipes[s.kernel];
  for (std::size_t i = 0; i < plan_view::stages_of(last); ++i)
    for (const recipe_output& o : plan_view::part<recipe_output>(plan.outputs, plan.stage_of(last, i).outputs))
      if (const std::int32_t b = plan.numbers_of(s.operands)[o.operand];
          plan.buffers[static_cast<std::size_t>(b)].where != storage::tiles)
        visit(b);
}

// The table that a plan's dimensions refer to.
inline symbol_table table_of(const plan_view& plan) {
  symbol_table t;
  t.symbols.append(plan.symbols.begin(), plan.symbols.end());
  t.atoms.append(plan.atoms.begin(), plan.atoms.end());
  t.polynomials.append(plan.polynomials.begin(), plan.polynomials.end());
  t.assumptions.append(plan.assumptions.begin(), plan.assumptions.end());
  return t;
}

}  // namespace dnnkit::plan

namespace dnnkit {
using plan::plan_view;
}  // namespace dnnkit
