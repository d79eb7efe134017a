// SPDX-License-Identifier: MIT
// A recipe seen from a kernel template: its tables as constants, its dimensions as constants or run-time values, and
// the addresses of its loads and outputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "dnnkit/cpu/kernel.hpp"
#include "dnnkit/cpu/micro/vec.hpp"
#include "dnnkit/operator/access.hpp"
#include "dnnkit/plan/kernel_spec.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

// E as a constant, or as the value the call binds it to.
template <local_extent E> [[gnu::always_inline]] inline constexpr auto extent_value(const kernel_call& call) {
  if constexpr (E.is_known()) return constant<E.value()>{};
  else return static_cast<index_t>(call.extents[E.of_step()]);
}

// Net: a type with a static constexpr plan_view `plan` and the plan's `choices`; R: the recipe's number, or that of an
// earlier stage (plan_view::stage_numbered), which has no choice of its own.
template <class Net, std::size_t R> struct recipe_access {
  static constexpr const plan_view& tables = Net::plan;
  static constexpr recipe self = Net::plan.stage_numbered(R);
  static constexpr kernel_choice choice = Net::choices[R];
  static constexpr kernel_spec spec{Net::plan, R};

  static constexpr std::size_t rank = self.space.count;
  static constexpr std::size_t outputs = self.outputs.count;
  static constexpr std::size_t anchor_inputs = self.anchor_inputs.count;

  template <std::size_t I> static constexpr recipe_load load = Net::plan.loads[self.loads.first + I];
  template <std::size_t I> static constexpr recipe_node node = Net::plan.nodes[self.nodes.first + I];
  template <std::size_t I> static constexpr recipe_output output = Net::plan.outputs[self.outputs.first + I];
  template <std::size_t I>
  static constexpr recipe_constant literal = Net::plan.recipe_constants[self.constants.first + I];
  static constexpr operand_ref anchor_input(std::size_t i) { return tables.refs[self.anchor_inputs.first + i]; }
  static constexpr local_shape anchor_shape(std::size_t i) { return tables.shapes[self.anchor_shapes.first + i]; }

  // Extent d of the iteration space.
  static constexpr local_extent space(std::size_t d) { return spec.space(d); }
  // Extent d of input i of the anchor.
  static constexpr local_extent input_extent(std::size_t i, std::size_t d) { return spec.extent_of(i, d); }
  // An extent given as a value rather than a template argument.
  [[gnu::always_inline]] static constexpr index_t bound(local_extent e, const kernel_call& call) {
    return e.value_in(call.extents);
  }
};

namespace detail {

// Elements of coordinate a.of that one position of axis I spans: the product of the dimension's axes behind it.
template <class Net, slice_of Axes, std::size_t I, std::size_t J = I + 1>
[[gnu::always_inline]] inline auto inner_elements(const kernel_call& call) {
  if constexpr (J >= Axes.count) {
    return constant<1>{};
  } else {
    constexpr view_axis a = Net::plan.axes[Axes.first + I], b = Net::plan.axes[Axes.first + J];
    if constexpr (a.of != b.of) return constant<1>{};
    else return index_t(extent_value<b.size>(call)) * inner_elements<Net, Axes, I, J + 1>(call);
  }
}

// What axis I adds to the position of coordinates c.
template <class Net, slice_of Axes, std::size_t I>
[[gnu::always_inline]] inline index_t axis_position(const kernel_call& call, const coordinates& c) {
  constexpr view_axis a = Net::plan.axes[Axes.first + I];
  constexpr bool has_outer = I > 0 && Net::plan.axes[Axes.first + (I > 0 ? I - 1 : 0)].of == a.of;
  constexpr bool has_inner =
      I + 1 < Axes.count && Net::plan.axes[Axes.first + (I + 1 < Axes.count ? I + 1 : 0)].of == a.of;
  index_t value = c[a.of];
  if constexpr (has_inner) value /= inner_elements<Net, Axes, I>(call);
  if constexpr (has_outer) value %= index_t(extent_value<a.size>(call));
  return value * extent_value<a.stride>(call);
}

}  // namespace detail

// The position in storage, in elements, of coordinates `c` in a view: offset + sum of coordinate * stride, a coordinate
// of several axes being taken apart. The axes of one dimension follow each other, outer to inner.
template <class Net, slice_of Axes, local_extent Offset>
[[gnu::always_inline]] inline index_t view_address(const kernel_call& call, const coordinates& c) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return (index_t(extent_value<Offset>(call)) + ... + detail::axis_position<Net, Axes, I>(call, c));
  }
  (std::make_index_sequence<Axes.count>{});
}

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
