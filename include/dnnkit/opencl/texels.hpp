// SPDX-License-Identifier: MIT
// Which kernels can write an image: those whose items have four elements of it that are a texel, one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dnnkit/op/concat.hpp"
#include "dnnkit/opencl/attention_family.hpp"
#include "dnnkit/opencl/choose_family.hpp"
#include "dnnkit/opencl/row.hpp"

namespace dnnkit::opencl {

namespace detail {

// Neighbours in the iteration space, in row-major order, from multiples of so many on, are neighbours in an output;
// 0 where what an output has beside such a stretch does not lie at multiples of four.
constexpr std::int64_t stretch_of(const plan_view& plan, const recipe_output& o) {
  const auto axes = plan.axes_of(o.axes);
  if (!o.offset.is_known() || o.offset.value() % 4 != 0) return 0;
  std::int64_t stretch = 1;
  bool is_over = false;
  for (std::size_t i = axes.size(); i-- > 0;) {
    const view_axis& a = axes[i];
    if (!a.size.is_known() || !a.stride.is_known() || a.stride.value() < 0) return 0;
    if (a.size == 1) continue;
    is_over = is_over || a.stride.value() != stretch;
    if (!is_over) stretch *= a.size.value();
    else if (a.stride.value() % 4 != 0) return 0;
  }
  return stretch;
}

template <class Op> struct is_row : std::bool_constant<Op::kind == form::row> {};

// Elements that one item, or several side by side, have behind each other in rows of the iteration space, of a recipe
// that is carried out by the kernel there is for it: a multiple of four where it can write texels.
template <class Set> constexpr std::int64_t elements_side_by_side(recipe_writer<Set>& w) {
  const operator_tag& anchor = w.self.anchor;
  const std::span<const local_extent> space = w.space();
  std::int64_t all = 1;
  for (local_extent e : space) {
    if (!e.is_known()) return 0;
    all *= e.value();
  }
  if (space.empty() || all == 0) return 0;
  const std::int64_t last = space.back().value();
  if (w.self.earlier.count == 2) return last;  // attention
  if (w.self.earlier.count == 1) return product_shape<Set>(w).extents.n;
  if (anchor.id == operator_id::none || anchor.id == id_of<op::concat>) return all;
  if (anchor.kind == form::whole || anchor.kind == form::reduction) return 0;
  if (anchor.kind == form::row) {
    if (!has_known_extents(w)) return 0;
    std::int64_t length = 1;
    visit_operator<is_row>(Set{}, anchor.id, w.anchor_codes(), [&](const auto& op) {
      const axis_set row = op.axes(space.size());
      bool is_inside = true;
      for (std::size_t d = space.size(); d-- > 0;) {
        if (space[d] == 1) continue;
        if (row.has(d) && !is_inside) length = 0;
        if (row.has(d)) length *= space[d].value();
        else is_inside = false;
      }
      return true;
    });
    return length;
  }
  if (!is_written_with_reals(w.self.anchor_type)) return all;
  const family_choice choice = choose_family(w);
  switch (choice.chosen) {
    case family::elements:
      return all;
    case family::lines: {
      const product_extents x = product_shape<Set>(w).extents;
      return x.m <= few_lines ? x.n : 0;
    }
    case family::depthwise:
      return last;
    case family::depthwise_windows:
      return choice.depthwise.px % 4 == 0 ? last : 0;
    case family::windows:
      return choice.windows.px % 4 == 0 ? last : 0;
    case family::winograd: {  // windows, or tiles, are what writes an image
      const window_tile t = choose_window_tile(window_extents_of(convolution_shape<Set>(w)));
      return t.px != 0 && t.px % 4 == 0 ? last : 0;
    }
    case family::tiles:
      return anchor.id == id_of<op::matmul> ? product_shape<Set>(w).extents.n : convolution_shape<Set>(w).extents.n;
  }
  return 0;
}

}  // namespace detail

// Can the kernel of recipe number r write its output `o` as texels?
template <class Set> constexpr bool writes_texels(const plan_view& plan, std::size_t r, const recipe_output& o) {
  source_writer nowhere(nullptr, 0);
  recipe_writer<Set> w(plan, r, nowhere);
  const std::int64_t stretch = detail::stretch_of(plan, o), together = detail::elements_side_by_side(w);
  return stretch != 0 && stretch % 4 == 0 && together != 0 && together % 4 == 0;
}

}  // namespace dnnkit::opencl
