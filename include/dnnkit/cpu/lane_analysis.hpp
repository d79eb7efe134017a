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
// Types of 64 bits whose elements kernels keep in two vectors each.
constexpr bool is_wide(dtype t) { return t == dtype::i64 || t == dtype::f64; }
// Types whose elements kernels keep in vectors, which are loaded and stored at once where they lie next to each other.
constexpr bool has_lanes(dtype t) {
  return is_computed_in_f32(t) || t == dtype::boolean || has_integer_lanes(t) || is_wide(t);
}
// Of these, the ones that convolutions and products of bytes multiply as they are stored.
constexpr bool is_multiplied_as_stored(dtype t) { return t == dtype::f32 || has_integer_lanes(t); }
// The type that other products compute elements of type t in. Sums of integers wrap around, so that those of narrower
// ones and of the other sign are the lowest bits of these.
constexpr dtype multiplied_as(dtype t) {
  if (is_computed_in_f32(t)) return dtype::f32;
  if (!is_integral(t)) return t;
  return size_of(t) == 8 ? dtype::i64 : dtype::i32;
}

// Operators that computers have for vectors of integers of any width.
constexpr bool keeps_integers(operator_id op) {
  for (operator_id id : {id_of<op::add>, id_of<op::sub>, id_of<op::mul>, id_of<op::min>, id_of<op::max>, id_of<op::abs>,
                         id_of<op::neg>, id_of<op::equal>, id_of<op::less>, id_of<op::less_or_equal>,
                         id_of<op::greater>, id_of<op::greater_or_equal>, id_of<op::where>})
    if (op == id) return true;
  return false;
}

// Are there vectors of what a node computes of integers or of 64-bit numbers, or as such?
constexpr bool computes_such_lanes(const kernel_spec& spec, operand_ref r) {
  const plan::recipe_node& n = spec.node(r.index);
  bool integers = has_integer_lanes(n.type), wide = is_wide(n.type), in_f64 = n.type == dtype::f64;
  for (operand_ref in : spec.inputs_of(r)) {
    const dtype t = spec.type_of(in);
    integers = integers || has_integer_lanes(t);
    wide = wide || is_wide(t);
    in_f64 = in_f64 && t == dtype::f64;
  }
  if (!integers && !wide) return true;
  return n.op.id == id_of<op::cast> || keeps_integers(n.op.id) || (in_f64 && n.op.id == id_of<op::div>);
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
  return computes_such_lanes(spec, r);
}

// Do all values of a tree lie next to each other along an axis, or are the same there, as the outputs do that are
// computed of them?
constexpr bool lies_in_rows(const kernel_spec& spec, operand_ref r, std::size_t along) {
  return spec.all_in_tree(r, [&](operand_ref x) {
    if (x.from != source::load) return true;
    const recipe_load& l = spec.load(x.index);
    const lane_stride s = spec.stride_along(l.axes, along);
    return l.movement.count == 0 && s.single && (s.stride == 0 || s.stride == 1);
  });
}
constexpr bool outputs_lie_in_rows(const kernel_spec& spec, std::size_t along) {
  for (std::size_t o = 0; o < spec.outputs(); ++o) {
    const lane_stride s = spec.stride_along(spec.output(o).axes, along);
    if (!s.single || s.stride != 1 || !lies_in_rows(spec, spec.output(o).value, along)) return false;
  }
  return true;
}

// Is a tree made of operators that there are vectors of integers for, and of elements that `is_right` holds for?
constexpr bool is_of_elements(const kernel_spec& spec, operand_ref r, auto is_right) {
  return spec.all_in_tree(r, [&](operand_ref x) {
    return is_right(spec.type_of(x)) && (x.from != source::node || keeps_integers(spec.node(x.index).op.id));
  });
}

// Are the outputs computed of bytes and truth values alone, which lie in rows? Then vectors hold as many as bytes.
constexpr bool is_of_bytes(const kernel_spec& spec, operand_ref r) {
  return is_of_elements(spec, r, [](dtype t) { return is_byte(t) || t == dtype::boolean; });
}
constexpr bool maps_bytes(const kernel_spec& spec, std::size_t along) {
  if (!outputs_lie_in_rows(spec, along)) return false;
  for (std::size_t o = 0; o < spec.outputs(); ++o)
    if (!is_of_bytes(spec, spec.output(o).value)) return false;
  return true;
}
// What the families know of a target whose vectors are of bytes.
constexpr cpu_facts facts_of_bytes(cpu_facts facts) {
  facts.float_lanes *= 4;
  return facts;
}

// Would compilers make vectors of a loop over single elements of the tree? Of integers in rows they do.
constexpr bool is_left_to_compilers(const kernel_spec& spec, operand_ref r, std::size_t along) {
  return lies_in_rows(spec, r, along) &&
         is_of_elements(spec, r, [](dtype t) { return is_integral(t) || t == dtype::boolean; });
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

// Are elements (i, j) of coordinates d and d + 1 where (0, i * n + j) would be, n being the extent of d + 1?
constexpr bool adjoining(const kernel_spec& spec, const auto& view, std::size_t d) {
  const lane_stride outer = spec.stride_along(view.axes, d), inner = spec.stride_along(view.axes, d + 1);
  if (detail::moves(view) || !outer.single || !inner.single) return false;
  return (outer.stride == 0 && inner.stride == 0) || spec.continues(view.axes, d, d + 1);
}

// Is element n in row-major order, of coordinates of these extents, n places behind the first?
constexpr bool is_row_major(const kernel_spec& spec, const auto& view, std::size_t rank, auto extent_of) {
  if (detail::moves(view)) return false;
  std::size_t inner = rank;  // the coordinate that the others continue
  for (std::size_t d = rank; d-- > 0;) {
    if (extent_of(d) == 1) continue;
    const lane_stride s = spec.stride_along(view.axes, d);
    if (!s.single || (inner == rank ? s.stride != 1 : !spec.continues(view.axes, d, inner))) return false;
    inner = d;
  }
  return true;
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
