// SPDX-License-Identifier: MIT
// How a kernel that stages an operand in local memory reads it: along which of two coordinates its elements lie side by
// side, and whether four of them can be read at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "dnnkit/opencl/recipe_writer.hpp"

namespace dnnkit::opencl {

namespace detail {

// Are all numbers of the recipe known, so that divisions of work can be chosen for them?
template <class Set> constexpr bool has_known_extents(const recipe_writer<Set>& w) {
  const auto known = [&](std::span<const local_extent> list) {
    for (local_extent e : list)
      if (!e.is_known()) return false;
    return true;
  };
  const auto view_is_known = [&](slice_of axes, local_extent offset) {
    for (const view_axis& a : w.plan.axes_of(axes))
      if (!a.size.is_known() || !a.stride.is_known()) return false;
    return offset.is_known();
  };
  if (!known(w.space())) return false;
  for (std::size_t i = 0; i < w.self.anchor_inputs.count; ++i)
    if (!known(w.input_shape(i))) return false;
  for (std::uint32_t i = 0; i < w.self.loads.count; ++i) {
    const recipe_load& l = w.plan.loads[w.self.loads.first + i];
    if (!view_is_known(l.axes, l.offset)) return false;
  }
  for (std::uint32_t i = 0; i < w.self.outputs.count; ++i) {
    const recipe_output& o = w.plan.outputs[w.self.outputs.first + i];
    if (!view_is_known(o.axes, o.offset)) return false;
  }
  return true;
}

// The load behind r that has the most axes to walk along, be it under a prologue; nothing when there is none. (A load
// itself: g++ compares no address in a plan that is a constant with null under its sanitizers.)
template <class Set> constexpr std::optional<recipe_load> main_load(const recipe_writer<Set>& w, operand_ref r) {
  if (r.from == source::load) return w.plan.loads[w.self.loads.first + r.index];
  if (r.from != source::node) return {};
  const auto walked = [&](const recipe_load& l) {
    std::size_t n = 0;
    for (const view_axis& a : w.plan.axes_of(l.axes)) n += a.stride == 0 ? 0 : 1;
    return n;
  };
  std::optional<recipe_load> best;
  for (operand_ref in : w.plan.refs_of(w.plan.nodes[w.self.nodes.first + r.index].inputs)) {
    const std::optional<recipe_load> l = main_load(w, in);
    if (l && (!best || walked(*l) > walked(*best))) best = l;
  }
  return best;
}

// Do elements along coordinates first ... last - 1 of a shape, the last of them fastest, lie side by side? Then also
// how many of them do before there may be a gap, and whether all other steps are multiples of four. Of a coordinate
// that the view has no axis of, all elements are the same one.
struct run_of_load {
  bool is_dense = false, others_by_four = false;
  std::int64_t length = 0;
};
template <class Set>
constexpr run_of_load run_along(const recipe_writer<Set>& w, const recipe_load& l, std::span<const local_extent> shape,
                                std::size_t first, std::size_t last) {
  run_of_load run{.is_dense = false, .others_by_four = l.offset.value() % 4 == 0, .length = 1};
  const auto axes = w.plan.axes_of(l.axes);
  for (const view_axis& a : axes)
    if (a.of < first || a.of >= last) run.others_by_four = run.others_by_four && a.stride.value() % 4 == 0;
  bool is_broken = false;
  for (std::size_t d = last; d-- > first;) {
    bool has_axis = false;
    for (std::size_t i = axes.size(); i-- > 0;) {
      const view_axis& a = axes[i];
      if (a.of != d) continue;
      has_axis = true;
      if (!is_broken && a.stride.value() == run.length) {
        run.is_dense = true;
        run.length *= a.size.value();
      } else if (a.size.value() != 1) {
        is_broken = true;
        run.others_by_four = run.others_by_four && a.stride.value() % 4 == 0;
      }
    }
    is_broken = is_broken || (!has_axis && !(shape[d] == 1));
  }
  return run;
}

// Are elements of r those of its load, in a type that fours are read of?
template <class Set> constexpr bool is_read_as_stored(const recipe_writer<Set>& w, operand_ref r) {
  const std::optional<recipe_load> l = main_load(w, r);
  return r.from == source::load && (l->type == dtype::f32 || l->type == dtype::f16) && l->movement.count == 0;
}

}  // namespace detail

// How an operand is staged: items take neighbours along its row or column, or along K; four at once or one.
struct staged_walk {
  bool along_k = true, by_four = false;

  constexpr std::int64_t width() const { return by_four ? 4 : 1; }
};

// How an item has what it has read in registers, before it goes to local memory: numbers of 16 bits as they are stored,
// so that nothing waits for them before they are there.
struct staged_registers {
  std::optional<recipe_load> bits;  // of 16-bit floats
  bool by_four = false;

  template <class Set> static constexpr staged_registers of(const recipe_writer<Set>& w, operand_ref r, bool by_four) {
    const std::optional<recipe_load> l = detail::main_load(w, r);
    const bool has_bits = l && l->type == dtype::f16 && l->texel_row == 0 && detail::is_read_as_stored(w, r);
    return {has_bits ? l : std::nullopt, by_four};
  }

  constexpr std::string_view type() const {
    constexpr std::string_view types[] = {"float", "float4", "ushort", "ushort4"};
    return types[(bits ? 2 : 0) + (by_four ? 1 : 0)];
  }
  // What the number in a register is: "fa[q]", "dnnkit_floats(fa[q])".
  constexpr text value(std::string_view in_register) const {
    if (!bits) return text(in_register);
    return text() << (by_four ? "dnnkit_floats(" : "dnnkit_float(") << in_register << ")";
  }
};

// Of the anchor's input number i, whose coordinates k_first ... k_last - 1 run over K and l_first ... l_last - 1 over
// rows or columns.
template <class Set>
constexpr staged_walk walk_of(const recipe_writer<Set>& w, std::size_t i, std::size_t k_first, std::size_t k_last,
                              std::size_t l_first, std::size_t l_last) {
  const operand_ref r = w.input(i);
  const std::optional<recipe_load> l = detail::main_load(w, r);
  if (!l) return {};
  const std::span<const local_extent> shape = w.input_shape(i);
  const auto along_k = detail::run_along(w, *l, shape, k_first, k_last);
  const auto along_l = detail::run_along(w, *l, shape, l_first, l_last);
  const bool by_k = along_k.is_dense && !(along_l.is_dense && along_l.length > along_k.length);
  const auto& run = by_k ? along_k : along_l;
  return {by_k, detail::is_read_as_stored(w, r) && run.is_dense && run.others_by_four && run.length % 4 == 0};
}

}  // namespace dnnkit::opencl
