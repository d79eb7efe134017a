// SPDX-License-Identifier: MIT
// The specification of a legal plan, checked from the outside: nothing here calls the code that makes plans.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "dnnkit/plan/plan.hpp"
#include "dnnkit/plan/plan_memory.hpp"
#include "dnnkit/plan/possible_steps.hpp"
#include "dnnkit/plan/verify_tables.hpp"

namespace dnnkit {

namespace detail {

class plan_check {
 public:
  plan_check(const plan_view& plan, std::span<const std::int64_t> values)
      : p_(plan), values_(values.begin(), values.end()), table_(table_of(plan)) {
    for (std::size_t i = values_.size(); i < plan.symbols.size(); ++i) values_.push_back(plan.symbols[i].limits.min);
  }

  text run() {
    if (text wrong = tables_error(p_); !wrong.empty()) return wrong;
    for (const buffer& b : p_.buffers) check_buffer(b);
    find_written();
    for (const buffer& b : p_.buffers)
      if (b.layout.within != none) check_inside(b);
    for (const step& s : p_.setup_steps) check_step(s, true);
    std::int32_t number = 0;
    first_.assign(p_.buffers.size(), -1);
    last_.assign(p_.buffers.size(), -1);
    const possible_steps possible(p_, table_, values_, possible_steps::negative_extents::accepted);
    for (const step& s : p_.steps) {  // those of a branch that cannot be taken with these values may have any extents
      if (possible.reason_against(static_cast<std::size_t>(number)) == none) check_step(s, false);
      note_lifetimes(s, number++);
    }
    if (p_.is_static) check_arena();
    check_images();
    for (std::int32_t b : p_.results)
      if (p_.buffers[at(b)].where != storage::output) fail("an output of the graph is not the caller's buffer");
    return error_;
  }

 private:
  static std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }
  void fail(std::string_view problem) {
    if (error_.empty()) error_ = problem;
  }
  std::int64_t value(dim d) const { return table_.evaluate(d, values_.data()); }

  void check_buffer(const buffer& b) {
    const std::size_t rank = b.type.dims.size();
    bool row_major = true, border = false;
    std::int64_t elements = 1;
    for (std::size_t i = 0; i < b.layout.order.size(); ++i) { row_major = row_major && b.layout.order[i] == i; }
    for (std::size_t d = 0; d < rank; ++d) {
      border = border || b.layout.before[d] + b.layout.after[d] > 0;
      elements *= !b.layout.part.empty() && b.layout.part[d] != 0
                      ? b.layout.part[d]
                      : value(b.type.dims[d]) + b.layout.before[d] + b.layout.after[d];
    }
    if ((b.where == storage::tiles) == b.layout.part.empty())
      return fail("tile storage that does not say what a tile has of each axis");
    if (elements != value(b.elements)) fail("a buffer's elements are not those of its dimensions and border");
    if (b.where != storage::arena && b.where != storage::tiles && (border || !row_major))
      fail("a border or a layout outside the arena");
  }

  // Where a buffer that lies inside another begins, axis by axis of the other, and how much it has of each.
  struct place_inside {
    std::vector<std::int64_t> first, room;
    bool has(const place_inside& other) const {
      bool all = true;
      for (std::size_t d = 0; d < room.size(); ++d)
        all = all && first[d] <= other.first[d] && other.first[d] + other.room[d] <= first[d] + room[d];
      return all;
    }
    bool meets(const place_inside& other) const {
      bool all = true;
      for (std::size_t d = 0; d < room.size(); ++d)
        all = all && first[d] < other.first[d] + other.room[d] && other.first[d] < first[d] + room[d];
      return all;
    }
  };
  std::vector<std::int64_t> room_of(const buffer& b) const {
    std::vector<std::int64_t> room;
    for (std::size_t d = 0; d < b.type.dims.size(); ++d)
      room.push_back(value(b.type.dims[d]) + b.layout.before[d] + b.layout.after[d]);
    return room;
  }
  place_inside place_of(const buffer& b) const {
    const std::vector<std::int64_t> whole = room_of(p_.buffers[at(b.layout.within)]);
    place_inside place{std::vector<std::int64_t>(whole.size()), room_of(b)};
    std::int64_t rest = b.layout.at;
    for (std::size_t level = whole.size(); level-- > 0;) {
      const std::size_t d = b.layout.order[level];
      place.first[d] = level == 0 || whole[d] == 0 ? rest : rest % whole[d];
      rest = whole[d] == 0 ? 0 : rest / whole[d];
    }
    return place;
  }
  // Inside a buffer of the same order that lies in none itself, with its border where there is one, and apart from all
  // others there that kernels write.
  void check_inside(const buffer& b) {
    const buffer& whole = p_.buffers[at(b.layout.within)];
    if (b.where != storage::arena || whole.where != storage::arena || whole.layout.within != none ||
        b.type.type != whole.type.type || b.type.dims.size() != whole.type.dims.size())
      return fail("a buffer inside one that cannot hold it");
    if (b.layout.at < 0) return fail("a buffer before the one it lies inside");
    const place_inside all{std::vector<std::int64_t>(b.type.dims.size()), room_of(whole)};
    const place_inside here = place_of(b);
    if (!all.has(here)) return fail("a buffer that leaves the one it lies inside");
    for (std::size_t d = 0; d < b.type.dims.size(); ++d) {
      const bool same_border =
          b.layout.before[d] == whole.layout.before[d] && b.layout.after[d] == whole.layout.after[d];
      const bool has_border = whole.layout.before[d] + whole.layout.after[d] != 0;
      if (b.layout.order[d] != whole.layout.order[d] || !same_border || (has_border && here.room[d] != all.room[d]))
        return fail("a buffer of another order or border than the one it lies inside");
    }
    for (const buffer& other : p_.buffers)
      if (&other != &b && is_written(b) && is_written(other))
        if (&other == &whole || (other.layout.within == b.layout.within && here.meets(place_of(other))))
          return fail("parts of a buffer that overlap");
  }
  bool is_written(const buffer& b) const { return written_[static_cast<std::size_t>(&b - p_.buffers.data())]; }
  void find_written() {
    written_.assign(p_.buffers.size(), false);
    for (const step& s : p_.steps) for_each_written(p_, s, [&](std::int32_t n) { written_[at(n)] = true; });
  }

  void check_step(const step& s, bool setup) {
    const recipe& r = p_.recipes[s.kernel];
    const auto operands = p_.numbers_of(s.operands);
    const auto extents = p_.dims_of(s.extents);
    extents_.clear();
    for (dim d : extents) extents_.push_back(value(d));
    for (std::int32_t b : operands) {
      const storage where = p_.buffers[at(b)].where;
      if (setup && where != storage::setup && where != storage::weight && where != storage::constant)
        fail("a setup step with an operand of the run");
    }
    check_stages(r, operands, setup);
    for (std::size_t i = 0; i < p_.stages_of(r); ++i) check_stage(p_.stage_of(r, i), operands);
  }

  // Stages hand values to later ones in tile storage, which nobody else has, or, where they run once, also in memory;
  // tiles are cut along known axes.
  void check_stages(const recipe& r, std::span<const std::int32_t> operands, bool setup) {
    const std::size_t stages = p_.stages_of(r);
    std::set<std::int32_t> handed, kept;
    tile_.clear();
    if (stages > 1) {
      if (setup) fail("a setup step of several stages");
      for (std::int32_t n : p_.numbers_of(r.tile)) tile_.push_back(n);
    }
    for (std::size_t i = 0; i < stages; ++i) {
      const recipe& stage = p_.stage_of(r, i);
      for (std::uint32_t k = 0; k < stage.loads.count; ++k) {
        const recipe_load& l = p_.loads[stage.loads.first + k];
        const std::int32_t b = operands[l.operand];
        if ((p_.buffers[at(b)].where == storage::tiles) != handed.contains(b))
          return fail("tile storage that no earlier stage of the kernel has written");
        kept.erase(b);
      }
      for (std::uint32_t k = 0; k < stage.outputs.count; ++k) {
        const recipe_output& o = p_.outputs[stage.outputs.first + k];
        const std::int32_t b = operands[o.operand];
        const bool hands_over = p_.buffers[at(b)].where == storage::tiles;
        const bool keeps = !hands_over && i + 1 < stages;
        if (hands_over && i + 1 == stages) return fail("a kernel whose last stage hands over what it computes");
        if (keeps && !runs_once(stage)) return fail("a stage that hands over what is no tile storage, tile by tile");
        if (keeps) kept.insert(b);
        if (!hands_over) continue;
        handed.insert(b);
        if (!handed_over_.insert(b).second) return fail("tile storage that is handed over twice");
      }
    }
    if (!kept.empty()) fail("a stage that stores what no later stage of the kernel reads");
  }
  // Does each tile, of which there is one, need all that the stage computes?
  bool runs_once(const recipe& stage) const {
    return std::ranges::all_of(tile_, [](std::int64_t positions) { return positions == 0; }) &&
           std::ranges::all_of(p_.reaches_of(stage.reach), [](const tile_reach& r) { return r.is_whole(); });
  }

  void check_stage(const recipe& r, std::span<const std::int32_t> operands) {
    for (std::uint32_t i = 0; i < r.outputs.count; ++i) {
      const recipe_output& o = p_.outputs[r.outputs.first + i];
      check_tree(r, o.value, r.space, operands);
      const buffer& b = p_.buffers[at(operands[o.operand])];
      if (b.where == storage::weight || b.where == storage::constant || b.where == storage::input)
        fail("a kernel writes to a buffer that is only read");
      if (o.type != b.type.type) fail("an output of another type than its buffer");
      check_view(o.axes, o.offset, r.space, b, r.reach);
    }
    for (std::uint32_t i = 0; i < r.anchor_inputs.count; ++i)
      if (const operand_ref ref = p_.refs[r.anchor_inputs.first + i]; ref.from != source::nothing)
        check_tree(r, ref, p_.shapes[r.anchor_shapes.first + i], operands);
  }

  std::int64_t value(local_extent e) const { return e.value_in(extents_.data()); }
  std::vector<std::int64_t> values_of(local_shape s) const {
    std::vector<std::int64_t> r;
    for (local_extent e : p_.extents_of(s)) r.push_back(value(e));
    return r;
  }

  // A value read in coordinates of the given shape, and what it is computed from there, each node once.
  void check_tree(const recipe& r, operand_ref root, local_shape space, std::span<const std::int32_t> operands) {
    checked_.assign(r.nodes.count, false);
    check_ref(r, root, space, operands);
  }
  void check_ref(const recipe& r, operand_ref ref, local_shape space, std::span<const std::int32_t> operands) {
    if (ref.from == source::load) {
      const recipe_load& l = p_.loads[r.loads.first + ref.index];
      const buffer& b = p_.buffers[at(operands[l.operand])];
      if (l.type != b.type.type) fail("a load of another type than its buffer");
      if ((b.where == storage::tiles) != (l.reach.count != 0) && space.count != 0)
        return fail("a load of tile storage that does not say what tiles need");
      if (l.reach.count != 0 && (l.movement.count > 0 || l.reach.count != space.count))
        return fail("a load of tile storage that is no view, or says what tiles need of other coordinates");
      if (l.movement.count > 0) {
        const auto steps = p_.part<movement_step>(p_.movement, l.movement);
        if (values_of(steps[0].out_shape) != values_of(space)) fail("movement that begins in other coordinates");
        for (std::size_t i = 0; i + 1 < steps.size(); ++i)
          if (values_of(steps[i].in_shape) != values_of(steps[i + 1].out_shape))
            fail("movement whose steps do not follow each other");
        space = steps.back().in_shape;
      }
      check_view(l.axes, l.offset, space, b, l.reach);
    } else if (ref.from == source::node) {
      if (checked_[ref.index]) return;
      checked_[ref.index] = true;
      const recipe_node& n = p_.nodes[r.nodes.first + ref.index];
      for (operand_ref in : p_.refs_of(n.inputs)) check_ref(r, in, space, operands);
    }
  }

  // Axes of one dimension together have its extent, and all positions lie in the buffer; of tile storage, those that a
  // tile needs, from the first of them on.
  void check_view(slice_of axes, local_extent offset, local_shape space, const buffer& b, slice_of reach) {
    const std::vector<std::int64_t> shape = values_of(space);
    std::vector<std::int64_t> covered(shape.size(), 1);
    std::int64_t low = value(offset), high = low;
    bool empty = false;
    view_axis outer;
    for (const view_axis& a : p_.axes_of(axes)) {
      if (a.of >= shape.size()) return fail("an axis beyond the coordinates");
      if (outer.continues && value(outer.stride) != value(a.size) * value(a.stride))
        return fail("an axis that does not continue the next one");
      outer = a;
      covered[a.of] *= value(a.size);
      std::int64_t positions = value(a.size);
      if (b.where == storage::tiles && a.of < reach.count)
        if (const tile_reach needed = p_.reaches_of(reach)[a.of]; !needed.is_whole()) {
          if (positions != shape[a.of]) return fail("a tile that cuts an axis of several parts");
          positions = std::min(positions, needed.count(tile_[static_cast<std::size_t>(needed.of)]));
        }
      const std::int64_t way = (positions - 1) * value(a.stride);
      (way < 0 ? low : high) += way;
    }
    for (std::size_t d = 0; d < shape.size(); ++d) {
      empty = empty || shape[d] == 0;
      if (covered[d] != 1 && covered[d] != shape[d]) fail("axes that do not cover their dimension");
    }
    const std::int64_t within =
        b.layout.within == none ? value(b.elements) : value(p_.buffers[at(b.layout.within)].elements) - b.layout.at;
    if (!empty && (low < 0 || high >= within)) fail("a view that leaves its buffer");
  }

  void note_lifetimes(const step& s, std::int32_t now) {
    for (std::int32_t b : p_.numbers_of(s.operands))
      for (std::int32_t one : {b, p_.buffers[at(b)].layout.within}) {
        if (one == none) continue;
        if (first_[at(one)] < 0) first_[at(one)] = now;
        last_[at(one)] = now;
      }
    const auto guards = p_.numbers_of(s.guards);
    for (std::size_t k = 0; k < guards.size(); k += 2) {
      const std::int32_t b = guards[k];
      const buffer& x = p_.buffers[at(b)];
      if (x.type.type != dtype::boolean || value(x.elements) != 1) fail("a guard that is not one boolean");
      if (is_between_kernels(x.where) && (first_[at(b)] < 0 || first_[at(b)] >= now))
        fail("a guard that is not known yet");
      last_[at(b)] = now;
    }
  }
  // Of those alive at a time each has an image, of the whole of its elements.
  void check_images() {
    for (std::size_t i = 0; i < p_.buffers.size(); ++i) {
      const buffer& a = p_.buffers[i];
      const std::int64_t row = a.layout.texel_row;
      if (row != 0 && (row < 0 || row % 4 != 0 || !a.elements.is_known() || value(a.elements) % row != 0 ||
                       a.layout.within != none || !a.layout.part.empty()))
        fail("an image whose rows are no texels of all its elements");
      if ((a.where == storage::image) != (row != 0 && is_between_kernels(a.where)))
        fail("an image without rows, or rows of what is no image");
      if (a.where != storage::image) continue;
      if (first_[i] < 0) fail("a buffer that no step uses");
      for (std::size_t j = 0; j < i; ++j)
        if (const buffer& b = p_.buffers[j];
            b.where == storage::image && a.offset == b.offset &&
            (a.type.type != b.type.type || (last_[i] >= first_[j] && last_[j] >= first_[i])))
          fail("values in one image at a time");
    }
  }
  void check_arena() {
    const auto bytes = [&](const buffer& b) {
      return value(b.elements) * static_cast<std::int64_t>(size_of(b.type.type));
    };
    for (std::size_t i = 0; i < p_.buffers.size(); ++i) {
      const buffer& a = p_.buffers[i];
      if (a.where != storage::arena) continue;
      if (const std::int32_t within = a.layout.within; within != none) {
        if (a.offset != p_.buffers[at(within)].offset + bytes_before(a))
          fail("a buffer outside the one it lies inside");
        continue;
      }
      if (first_[i] < 0) fail("a buffer that no step uses");
      if (a.offset < 0 || a.offset % 64 != 0 || a.offset + bytes(a) > p_.arena_bytes)
        fail("a buffer outside the arena");
      for (std::size_t j = 0; j < i; ++j) {
        const buffer& b = p_.buffers[j];
        if (b.where != storage::arena || b.layout.within != none || last_[i] < first_[j] || last_[j] < first_[i])
          continue;
        if (a.offset < b.offset + bytes(b) && b.offset < a.offset + bytes(a)) fail("live buffers that overlap");
      }
    }
  }

  const plan_view& p_;
  std::vector<std::int64_t> values_;
  symbol_table table_;
  std::vector<std::int64_t> extents_;
  std::vector<std::int32_t> first_, last_;
  std::vector<bool> written_;           // by steps of the run
  std::vector<std::int64_t> tile_;      // of the step that is being checked
  std::vector<bool> checked_;           // nodes of its recipe, read where the tree that is being checked is read
  std::set<std::int32_t> handed_over_;  // by any kernel
  text error_;
};

}  // namespace detail

// Empty when, with these values of the symbols (or the least ones of those that are not given), layouts are
// permutations, the caller's buffers are row-major without border, operands and tables are in range, no view leaves its
// buffer, and buffers that live at the same time do not overlap in the arena; else what is wrong.
[[nodiscard]] inline text verify(const plan_view& plan, std::span<const std::int64_t> symbols = {}) {
  return plan.error.empty() ? detail::plan_check(plan, symbols).run() : plan.error;
}

}  // namespace dnnkit
