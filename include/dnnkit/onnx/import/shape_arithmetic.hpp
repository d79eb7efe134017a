// SPDX-License-Identifier: MIT
// Operators computed on known elements while a model is imported, so that what an exporter wrote to compute shapes
// leaves no node behind (SoD2, section 4.1: forward transfer of values).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "dnnkit/onnx/import/shape_evaluation.hpp"
#include "dnnkit/onnx/import/shape_movement.hpp"

namespace dnnkit::onnx {

namespace detail {

// The shape that input i gives.
inline std::optional<shape> shape_from(shape_evaluation& s, std::size_t i) {
  node_context& c = s.context();
  const known_elements* k = c.known(i);
  std::size_t rank = 0;
  if (k == nullptr || !k->countable(rank) || rank > max_rank) return std::nullopt;
  shape dims;
  for (std::size_t d = 0; d < rank; ++d) {
    const known_element& e = k->at(d);
    if (e.is_number() && e.number < 0)
      node_context::refuse("a shape has the negative extent " + std::to_string(e.number));
    dims.push_back(s.arithmetic().to_dim(e));
  }
  return dims;
}

inline bool evaluate_constant_of_shape(shape_evaluation& s) {
  node_context& c = s.context();
  const std::optional<shape> dims = shape_from(s, 0);
  if (!dims) {
    static_cast<void>(c.elements(0, "the shape"));
    return false;
  }
  known_elements y{f32, *dims, {known_element::of_real(0)}};
  if (const attribute* a = c.find("value", attribute_type::tensor)) {
    if (a->tensors.size() != 1) node_context::refuse("attribute 'value' holds no tensor");
    const known_elements value = to_known(c.state.options.load(a->t()));
    if (value.items.size() != 1) node_context::refuse("attribute 'value' must have one element");
    y.type = value.type;
    y.items = value.items;
  }
  c.out(0, std::move(y));
  return true;
}

inline bool evaluate_range(shape_evaluation& s) {
  node_context& c = s.context();
  std::int64_t n[3];
  for (std::size_t i = 0; i < 3; ++i) {
    const known_elements* k = c.known(i);
    if (k == nullptr || k->items.size() != 1 || !k->items[0].is_number()) return false;
    n[i] = k->items[0].number;
  }
  if (n[2] == 0) node_context::refuse("the step must not be 0");
  known_elements y{c.type(0), {}, {}};
  for (std::int64_t x = n[0]; n[2] > 0 ? x < n[1] : x > n[1];) {
    if (y.items.size() == most_known_elements) return false;
    y.items.push_back(known_element::of_number(x));
    if (__builtin_add_overflow(x, n[2], &x)) break;
  }
  y.dims.push_back(static_cast<std::int64_t>(y.items.size()));
  c.out(0, std::move(y));
  return true;
}

inline bool evaluate_expand(shape_evaluation& s) {
  node_context& c = s.context();
  const known_elements* x = c.known(0);
  const std::optional<shape> to = shape_from(s, 1);
  if (x == nullptr || !to) return false;
  known_elements y{x->type, x->dims, {}};
  if (!s.broadcast(y.dims, *to)) return false;
  std::size_t count = 0;
  if (x->items.size() == 1) y.items = x->items;
  else if (!y.countable(count)) return false;
  else
    for_each_offset(y.dims, {s.strides_of(*x, y.dims.size())},
                    [&](const std::vector<std::size_t>& o) { y.items.push_back(x->items[o[0]]); });
  return s.finish(std::move(y), {x});
}

inline bool evaluate_where(shape_evaluation& s) {
  node_context& c = s.context();
  if (c.inputs() != 3 || c.known(1) == nullptr) return false;
  return s.elementwise(3, c.type(1), [&](const auto& x) {
    if (x[0]->is_number()) return x[0]->number != 0 ? *x[1] : *x[2];
    return *x[1] == *x[2] ? *x[1] : known_element{};
  });
}

// ReduceSum, ReduceProd, ReduceMin, ReduceMax over all elements of a list.
inline bool evaluate_reduction(shape_evaluation& s,
                               known_element (element_arithmetic::*f)(const known_element&, const known_element&)
                                   const) {
  node_context& c = s.context();
  const known_elements* x = c.known(0);
  if (x == nullptr || is_floating(x->type) || x->dims.size() != 1 || x->items.empty()) return false;
  std::size_t count = 0;
  x->countable(count);
  std::vector<std::int64_t> axes{0};
  if (const auto given = c.integers("axes")) axes = *given;
  else if (c.has(1)) axes = c.numbers(1, "axes");
  if (axes.size() > 1 || (axes.size() == 1 && axes[0] != 0 && axes[0] != -1)) return false;
  if (axes.empty() && c.flag("noop_with_empty_axes", false)) return false;
  c.ignore("noop_with_empty_axes");
  known_element r = x->at(0);
  for (std::size_t i = 1; i < count; ++i) r = (s.arithmetic().*f)(r, x->at(i));
  known_elements y{x->type, {}, {shape_evaluation::wrapped(x->type, r)}};
  if (c.flag("keepdims", true)) y.dims.push_back(1);
  return s.finish(std::move(y), {x});
}

// Split of a list of elements into its outputs.
inline bool evaluate_split(shape_evaluation& s) {
  node_context& c = s.context();
  const known_elements* x = c.known(0);
  std::size_t count = 0;
  if (x == nullptr || x->dims.size() != 1 || !x->countable(count) || c.node.outputs.empty()) return false;
  std::vector<std::int64_t> sizes;
  if (const auto given = c.integers("split")) sizes = *given;
  else if (c.has(1)) sizes = c.numbers(1, "split");
  else {
    const std::size_t parts = c.node.outputs.size(), size = (count + parts - 1) / parts;
    for (std::size_t i = 0; i < parts; ++i)
      sizes.push_back(static_cast<std::int64_t>(i * size >= count         ? 0
                                                : i * size + size > count ? count - i * size
                                                                          : size));
  }
  c.ignore("axis");
  c.ignore("num_outputs");
  std::size_t begin = 0;
  if (sizes.size() != c.node.outputs.size()) return false;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 0 || begin + static_cast<std::size_t>(sizes[i]) > count) return false;
    std::vector<known_element> part;
    for (std::int64_t k = 0; k < sizes[i]; ++k) part.push_back(x->at(begin++));
    known_elements y = vector_of(std::move(part));
    y.type = x->type;
    c.out(i, std::move(y));
  }
  return begin == count;
}

// Floor and Ceil; whole numbers stay as they are, also by Round.
inline bool evaluate_rounding(shape_evaluation& s, bool up) {
  const known_elements* x = s.context().known(0);
  if (x == nullptr || x->is_numeric()) return false;
  const bool fractions = s.context().node.op_type != "Round";
  return s.elementwise(1, {}, [&](const auto& e) {
    return e[0]->is_fraction() && !fractions ? known_element{} : s.arithmetic().rounded(*e[0], up);
  });
}

// Whole numbers to a small power.
inline bool evaluate_power(shape_evaluation& s) {
  node_context& c = s.context();
  const known_elements* exponents = c.known(1);
  constexpr std::int64_t most = 8;
  if (exponents == nullptr || is_floating(c.type(0)) || is_floating(exponents->type)) return false;
  for (const known_element& e : exponents->items)
    if (!e.is_number() || e.number < 0 || e.number > most) return false;
  return s.elementwise(2, c.type(0), [&](const auto& x) {
    known_element r = known_element::of_number(1);
    for (std::int64_t i = 0; i < x[1]->number; ++i) r = s.arithmetic().mul(r, *x[0]);
    return r;
  });
}

// Integers are divided by no 0: by one that is known the node is refused, and by what may be 0 it is assumed not to be,
// which is checked when the symbols have values.
inline void check_divisor(shape_evaluation& s, const known_element& x) {
  node_context& c = s.context();
  constexpr const char* complaint = "divides integers by 0";
  if (is_floating(c.type(0))) return;
  if (x.is_number()) node_context::require(x.number != 0, complaint);
  if (!x.is_expression()) return;
  const bounds r = c.table().range(x.expression);
  if (r.min <= 0 && r.max >= 0)
    node_context::require(c.table().assume(x.expression, relation::different, dim(0)), complaint);
}

inline bool evaluate_logic(shape_evaluation& s, bool (*f)(bool, bool)) {
  return s.elementwise(2, boolean, [&](const auto& x) {
    if (!x[0]->is_number() || !x[1]->is_number()) return known_element{};
    return known_element::of_number(f(x[0]->number != 0, x[1]->number != 0));
  });
}

}  // namespace detail

// Computes the node's outputs as known elements; false (and nothing done) when that cannot be.
inline bool evaluate_on_known_elements(node_context& c) {
  using detail::shape_evaluation;
  using arithmetic = element_arithmetic;
  using evaluation = bool (*)(shape_evaluation&);
  static const std::map<std::string_view, evaluation> table{
      {"Shape", detail::evaluate_shape},
      {"Size", detail::evaluate_size},
      {"Cast",
       [](shape_evaluation& s) {
         const std::int64_t number = s.context().integer("to");
         const auto to = dtype_of(static_cast<std::int32_t>(number));
         for (const char* name : {"saturate", "round_mode"}) s.context().ignore(name);
         return to && narrow_type_of(number) == nullptr && detail::evaluate_cast(s, *to);
       }},
      {"CastLike",
       [](shape_evaluation& s) {
         return s.context().value(1).narrow == nullptr && detail::evaluate_cast(s, s.context().type(1));
       }},
      {"Gather", detail::evaluate_gather},
      {"Concat", detail::evaluate_concat},
      {"Slice", detail::evaluate_slice},
      {"Squeeze", detail::evaluate_squeeze},
      {"Unsqueeze", detail::evaluate_unsqueeze},
      {"Reshape", detail::evaluate_reshape},
      {"Transpose", detail::evaluate_transpose},
      {"ConstantOfShape", detail::evaluate_constant_of_shape},
      {"Range", detail::evaluate_range},
      {"Expand", detail::evaluate_expand},
      {"Where", detail::evaluate_where},
      {"Split", detail::evaluate_split},
      {"Floor", [](shape_evaluation& s) { return detail::evaluate_rounding(s, false); }},
      {"Ceil", [](shape_evaluation& s) { return detail::evaluate_rounding(s, true); }},
      {"Round", [](shape_evaluation& s) { return detail::evaluate_rounding(s, false); }},
      {"Add", [](shape_evaluation& s) { return s.binary(&arithmetic::add); }},
      {"Sub", [](shape_evaluation& s) { return s.binary(&arithmetic::sub); }},
      {"Mul", [](shape_evaluation& s) { return s.binary(&arithmetic::mul); }},
      {"Min", [](shape_evaluation& s) { return s.binary(&arithmetic::min); }},
      {"Max", [](shape_evaluation& s) { return s.binary(&arithmetic::max); }},
      {"Pow", detail::evaluate_power},
      {"Div",
       [](shape_evaluation& s) {
         return s.elementwise(2, {}, [&](const auto& x) {
           detail::check_divisor(s, *x[1]);
           return s.arithmetic().div(*x[0], *x[1], !is_floating(s.context().type(0)));
         });
       }},
      {"Mod",
       [](shape_evaluation& s) {
         const bool fmod = s.context().flag("fmod", false);
         return s.elementwise(2, {}, [&](const auto& x) {
           detail::check_divisor(s, *x[1]);
           return s.arithmetic().mod(*x[0], *x[1], fmod);
         });
       }},
      {"Neg",
       [](shape_evaluation& s) {
         return s.elementwise(1, {},
                              [&](const auto& x) { return s.arithmetic().sub(known_element::of_number(0), *x[0]); });
       }},
      {"Equal", [](shape_evaluation& s) { return s.compare(relation::equal); }},
      {"Less", [](shape_evaluation& s) { return s.compare(relation::less); }},
      {"Greater", [](shape_evaluation& s) { return s.compare(relation::less, true); }},
      {"LessOrEqual", [](shape_evaluation& s) { return s.compare(relation::at_least, true); }},
      {"GreaterOrEqual", [](shape_evaluation& s) { return s.compare(relation::at_least); }},
      {"Not",
       [](shape_evaluation& s) {
         return s.elementwise(1, boolean, [&](const auto& x) { return s.arithmetic().negation(*x[0]); });
       }},
      {"And", [](shape_evaluation& s) { return detail::evaluate_logic(s, [](bool a, bool b) { return a && b; }); }},
      {"Or", [](shape_evaluation& s) { return detail::evaluate_logic(s, [](bool a, bool b) { return a || b; }); }},
      {"ReduceSum", [](shape_evaluation& s) { return detail::evaluate_reduction(s, &arithmetic::add); }},
      {"ReduceProd", [](shape_evaluation& s) { return detail::evaluate_reduction(s, &arithmetic::mul); }},
      {"ReduceMin", [](shape_evaluation& s) { return detail::evaluate_reduction(s, &arithmetic::min); }},
      {"ReduceMax", [](shape_evaluation& s) { return detail::evaluate_reduction(s, &arithmetic::max); }},
  };
  if (!(c.node.domain.empty() || c.node.domain == "ai.onnx")) return false;
  const auto found = table.find(c.node.op_type);
  if (found == table.end()) return false;
  shape_evaluation s(c);
  return found->second(s);
}

}  // namespace dnnkit::onnx
