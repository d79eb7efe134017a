// SPDX-License-Identifier: MIT
// What families of kernels ask about a specification: which values there are vectors of, and along which axis they may
// run.
#pragma once

#include <bit>
#include <cstddef>

#include "dnnkit/cost/target.hpp"
#include "dnnkit/op/arithmetic.hpp"
#include "dnnkit/op/cast.hpp"
#include "dnnkit/op/comparison.hpp"
#include "dnnkit/plan/kernel_spec.hpp"

namespace dnnkit::cpu {

// Integers that kernels keep in vectors, a 32-bit lane each.
constexpr bool has_integer_lanes(dtype t) { return t == dtype::i32 || is_byte(t); }
// Are elements of this type 32-bit floats while they are computed with?
constexpr bool is_computed_in_f32(dtype t) { return t == dtype::f32 || is_half(t); }
// Types whose elements kernels keep in vectors, which are loaded and stored at once where they lie next to each other.
constexpr bool has_lanes(dtype t) { return is_computed_in_f32(t) || t == dtype::boolean || has_integer_lanes(t); }
// Of these, the ones that products and convolutions multiply as they are stored.
constexpr bool is_multiplied_as_stored(dtype t) { return t == dtype::f32 || has_integer_lanes(t); }

// Are there vectors of what a node computes of integers, or as such? Of floats as bytes the lowest bits of 32 are those
// of 64, which a Cast is defined by; of 32 bits they are not.
constexpr bool computes_integer_lanes(const kernel_spec& spec, operand_ref r) {
  const plan::recipe_node& n = spec.node(r.index);
  bool integers = has_integer_lanes(n.type);
  for (operand_ref in : spec.inputs_of(r)) integers = integers || has_integer_lanes(spec.type_of(in));
  if (!integers) return true;
  if (n.op.id == id_of<op::cast>)
    return n.type != dtype::i32 || !is_computed_in_f32(spec.type_of(spec.inputs_of(r)[0]));
  for (operator_id id : {id_of<op::add>, id_of<op::sub>, id_of<op::mul>, id_of<op::min>, id_of<op::max>, id_of<op::abs>,
                         id_of<op::neg>, id_of<op::equal>, id_of<op::less>, id_of<op::less_or_equal>,
                         id_of<op::greater>, id_of<op::greater_or_equal>, id_of<op::where>})
    if (n.op.id == id) return true;
  return false;
}

// Is a float cut to a range of 32-bit integers, as in min(max(x, -128), 127)? It may still be no number.
constexpr bool is_bounded(const kernel_spec& spec, operand_ref r) {
  bool below = false, above = false;
  while (r.from == source::node && !(below && above)) {
    const plan::recipe_node& n = spec.node(r.index);
    const bool least = n.op.id == id_of<op::max>, most = n.op.id == id_of<op::min>;
    const auto inputs = spec.inputs_of(r);
    if (n.type != dtype::f32 || (!least && !most) || inputs[1].from != source::constant) return false;
    const double bound = std::bit_cast<double>(spec.constant(inputs[1].index).code);
    if (!(bound > -0x1p31 && bound < 0x1p31)) return false;
    above = above || most;
    below = below || least;
    r = inputs[0];
  }
  return below && above;
}

// Is a node computed in vectors? Else its operator's definition is applied lane by lane.
constexpr bool computes_in_vectors(const kernel_spec& spec, operand_ref r) {
  if (!has_lanes(spec.type_of(r))) return false;
  for (operand_ref in : spec.inputs_of(r))
    if (!has_lanes(spec.type_of(in))) return false;
  return computes_integer_lanes(spec, r);
}

// The axis along which the first output is contiguous; the last one when there is none.
constexpr std::size_t lane_axis(const kernel_spec& spec) {
  for (std::size_t d = spec.rank(); d-- > 0;) {
    const lane_stride s = spec.stride_along(spec.output(0).axes, d);
    if (s.single && s.stride == 1 && spec.space(d) != 1) return d;
  }
  return spec.rank() == 0 ? 0 : spec.rank() - 1;
}

namespace detail {
constexpr bool moves(const recipe_load& l) { return l.movement.count != 0; }
constexpr bool moves(const recipe_output&) { return false; }
}  // namespace detail

// Elements that a load or an output finds next to each other along coordinate `d`: all of its elements, where its
// stride there is 1, else none. Unknown extents count as a typical one.
constexpr double elements_along(const kernel_spec& spec, const auto& view, std::size_t d) {
  const lane_stride s = spec.stride_along(view.axes, d);
  if (!has_lanes(view.type) || !s.single || s.stride != 1 || detail::moves(view)) return 0;
  double n = 1;
  for (const view_axis& a : spec.plan().axes_of(view.axes))
    if (a.stride != 0) n *= static_cast<double>(known_or_typical(a.size));
  return n;
}

// Are elements (i, j) of coordinates d and d + 1 where (0, i * extent + j) would be, `extent` being that of d + 1?
constexpr bool adjoining(const kernel_spec& spec, const auto& view, std::size_t d, local_extent extent) {
  const lane_stride outer = spec.stride_along(view.axes, d), inner = spec.stride_along(view.axes, d + 1);
  return !detail::moves(view) && outer.single && inner.single && outer.stride.is_known() && inner.stride.is_known() &&
         extent.is_known() && outer.stride.value() == inner.stride.value() * extent.value();
}

// Elements that are stored one by one, because the outputs do not lie next to each other along the axis of the vectors.
constexpr double scattered(const kernel_spec& spec, std::size_t along) {
  double n = 0;
  for (std::size_t o = 0; o < spec.outputs(); ++o) {
    const lane_stride s = spec.stride_along(spec.output(o).axes, along);
    if (!s.single || s.stride != 1) n += spec.elements();
  }
  return n;
}

// Vectors that hold n elements.
constexpr double vectors_of(const cpu_facts& facts, double n) {
  const double lanes = facts.float_lanes;
  const auto whole = static_cast<std::int64_t>(n / lanes);
  return static_cast<double>(whole) + (static_cast<double>(whole) * lanes < n ? 1 : 0);
}

}  // namespace dnnkit::cpu
