// SPDX-License-Identifier: MIT
// Element-wise ONNX operators that are not one dnnkit operator with the same attributes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "dnnkit/onnx/import/convert_attributes.hpp"
#include "dnnkit/onnx/import/narrow_values.hpp"
#include "dnnkit/op/builtin.hpp"

namespace dnnkit::onnx::detail {

// Up to opset 6 `broadcast` and `axis` said where the second operand lies in the first.
inline tensor broadcast_operand(node_context& c, std::size_t i) {
  const tensor t = c.in(i);
  if (c.opset >= 7 || !c.flag("broadcast", false)) return t;
  const auto rank = static_cast<std::int64_t>(c.rank(0)), mine = static_cast<std::int64_t>(c.rank(i));
  const std::int64_t axis = c.integer("axis", rank - mine);
  const std::int64_t first = axis < 0 ? axis + rank : axis;
  node_context::require(first >= 0 && first + mine <= rank, "attribute 'axis' is outside the first operand");
  op::unsqueeze u;
  for (std::int64_t d = first + mine; d < rank; ++d) u.axes.push_back(d - first);
  return u.axes.empty() ? t : c.apply(u, {t});
}

template <class Op> void convert_binary(node_context& c) {
  c.ignore("consumed_inputs");
  node_context::require(c.inputs() == 2 && c.has(0) && c.has(1), "takes two inputs");
  const tensor a = c.in(0), b = broadcast_operand(c, 1);
  c.out(0, c.apply(attributes_from<Op>(c), {a, b}));
}

// Any number of inputs, joined two by two.
template <class Op> void convert_chain(node_context& c) {
  c.ignore("consumed_inputs");
  node_context::require(c.inputs() > 0, "has no input");
  tensor sum = c.in(0);
  if (c.inputs() == 1) return c.alias(0, c.reference(0));
  for (std::size_t i = 1; i < c.inputs(); ++i) sum = c.apply(Op{}, {sum, c.in(i)});
  c.out(0, sum);
}
inline void convert_mean(node_context& c) {
  tensor sum = c.in(0);
  for (std::size_t i = 1; i < c.inputs(); ++i) sum = c.apply(op::add{}, {sum, c.in(i)});
  c.out(0, c.apply(op::div{}, {sum, c.graph().scalar(static_cast<double>(c.inputs()), sum.type())}));
}

inline void convert_identity(node_context& c) { c.alias(0, c.reference(0)); }

inline void cast_input(node_context& c, dtype to, const narrow_type* narrow) {
  for (const char* name : {"saturate", "round_mode"}) c.ignore(name);  // of types of 8 bits and fewer
  const narrow_type* const from = c.value(0).narrow;
  if (c.type(0) == to && from == narrow) return c.alias(0, c.reference(0));
  c.out(0, narrow != nullptr ? cast_to_narrow(c, c.in(0), *narrow) : cast_to(c, c.in(0), to));
}
inline void convert_cast(node_context& c) {
  if (c.opset < 6) node_context::refuse("opset " + std::to_string(c.opset) + " is not supported");
  const narrow_type* const narrow = narrow_type_of(c.integer("to"));
  cast_input(c, narrow != nullptr ? narrow->held_in : attributes_from<op::cast>(c).to, narrow);
}
inline void convert_cast_like(node_context& c) { cast_input(c, c.type(1), c.value(1).narrow); }

// Through the integers of the same width: what is no number is made one, and the other way about.
inline void convert_bit_cast(node_context& c) {
  op::cast to;
  static_cast<void>(c.integer("to"));
  node_context::require(c.value(0).narrow == nullptr, "bits of types of 8 bits and fewer are not supported");
  read_attribute(c, "to", to.to);
  const dtype from = c.type(0);
  if (from == to.to) return c.alias(0, c.reference(0));
  node_context::require(info(from).bytes == info(to.to).bytes, "the types are not equally wide");
  tensor t = c.in(0);
  if (is_floating(from)) t = c.apply(op::bits_of_real{from}, {t});
  if (!is_floating(to.to)) return c.out(0, cast_to(c, t, to.to));
  c.out(0, c.apply(op::real_of_bits{to.to}, {cast_to(c, t, to.to == f32 ? i32 : i64)}));
}

// The base may be of another type than the exponent; the result has the base's.
inline void convert_pow(node_context& c) {
  const tensor base = c.in(0), exponent = broadcast_operand(c, 1);
  const bool by_reals = is_integral(base.type()) && is_floating(exponent.type());
  if (!by_reals) return c.out(0, c.apply(op::pow{}, {base, cast_to(c, exponent, base.type())}));
  const tensor y = c.apply(op::pow{}, {cast_to(c, base, f64), cast_to(c, exponent, f64)});
  c.out(0, cast_to(c, y, base.type()));
}

// Bounds are attributes up to opset 10, optional inputs later.
inline void convert_clip(node_context& c) {
  c.ignore("consumed_inputs");
  if (c.opset < 11) return c.out(0, c.apply(attributes_from<op::clip>(c), {c.in(0)}));
  op::clip clip;
  bool known = is_floating(c.type(0)) && c.type(0) != f64;  // whose bounds 32 bits may not hold
  for (std::size_t i = 1; i < 3 && known; ++i) {
    if (!c.has(i)) continue;
    const known_elements* k = c.known(i);
    known = k != nullptr && k->items.size() == 1 && k->is_numeric();
    if (known) (i == 1 ? clip.min : clip.max) = static_cast<float>(k->items[0].as_real());
  }
  // the smallest of all values takes part when the bounds cross: the upper one wins in ONNX as it does here
  if (known && clip.min <= clip.max) return c.out(0, c.apply(clip, {c.in(0)}));
  tensor y = c.in(0);
  if (c.has(1)) y = c.apply(op::max{}, {y, c.in(1)});
  if (c.has(2)) y = c.apply(op::min{}, {y, c.in(2)});
  if (!c.has(1) && !c.has(2)) return c.alias(0, c.reference(0));
  c.out(0, y);
}

// The slope [C] of opset 6 lies along the channels.
inline void convert_prelu(node_context& c) {
  const tensor x = c.in(0);
  tensor slope = c.in(1);
  if (c.opset < 7 && slope.rank() == 1 && x.rank() > 2 && !(slope.size(0) == dim(1))) {
    op::unsqueeze u;
    for (std::int64_t d = 1; d + 1 < x.rank(); ++d) u.axes.push_back(d);
    slope = c.apply(u, {slope});
  }
  c.out(0, c.apply(op::prelu{}, {x, slope}));
}

// The gate's Swish times the other input, of the same shape.
inline void convert_swiglu(node_context& c) {
  const tensor gate = c.in(0), x = c.in(1);
  bool equal = gate.rank() == x.rank();
  for (std::int64_t d = 0; d < gate.rank() && equal; ++d)
    equal = gate.size(d) == x.size(d) || c.table().note_equation(gate.size(d), x.size(d));
  node_context::require(equal, "the inputs must have the same shape");
  c.out(0, c.apply(op::mul{}, {c.apply(attributes_from<op::swish>(c), {gate}), x}));
}

inline void convert_constant(node_context& c) {
  const auto of_reals = [&](const std::vector<float>& x, bool scalar) {
    known_elements k{f32, {}, {}};
    if (!scalar) k.dims.push_back(static_cast<std::int64_t>(x.size()));
    for (float e : x) k.items.push_back(known_element::of_real(static_cast<double>(e)));
    c.out(0, std::move(k));
  };
  const auto of_integers = [&](const std::vector<std::int64_t>& x, bool scalar) {
    known_elements k{i64, {}, {}};
    if (!scalar) k.dims.push_back(static_cast<std::int64_t>(x.size()));
    for (std::int64_t e : x) k.items.push_back(known_element::of_number(e));
    c.out(0, std::move(k));
  };
  if (c.has_attribute("value_float")) return of_reals({c.real_attribute("value_float", 0)}, true);
  if (c.has_attribute("value_floats")) return of_reals(*c.reals("value_floats"), false);
  if (c.has_attribute("value_int")) return of_integers({c.integer("value_int")}, true);
  if (c.has_attribute("value_ints")) return of_integers(*c.integers("value_ints"), false);
  const attribute* a = c.find("value", attribute_type::tensor);
  if (a == nullptr || a->tensors.size() != 1) node_context::refuse("has no value of a supported type");
  auto v = std::make_shared<imported_value>();
  const auto type = dtype_of(a->t().data_type);
  if (!type) node_context::refuse("element type " + data_type_name(a->t().data_type) + " is not supported");
  v->type.type = *type;
  if (a->t().dims.size() > max_rank) node_context::refuse("a rank above 8 is not supported");
  for (std::int64_t d : a->t().dims) {
    node_context::require(d >= 0, "an extent of the value is negative");
    v->type.dims.push_back(d);
  }
  v->understood = true;
  v->stored = &a->t();
  if (is_floating(*type)) c.state.note_equal_elements(*v);
  c.alias(0, v);
}

}  // namespace dnnkit::onnx::detail
