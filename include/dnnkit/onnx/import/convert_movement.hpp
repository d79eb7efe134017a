// SPDX-License-Identifier: MIT
// ONNX operators that move elements and take shapes, positions or sizes as inputs or, in older opsets, as attributes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "dnnkit/onnx/import/convert_attributes.hpp"
#include "dnnkit/op/builtin.hpp"

namespace dnnkit::onnx::detail {

// A list that is an attribute before opset `since`, an optional input from then on.
inline std::optional<std::vector<std::int64_t>> list_argument(node_context& c, std::string_view name, std::size_t input,
                                                              std::int64_t since) {
  if (c.opset < since) return c.integers(name);
  if (!c.has(input)) return std::nullopt;
  return c.numbers(input, name);
}
inline int_list to_int_list(const std::vector<std::int64_t>& list, std::string_view name) {
  return list_of<int_list>(list, name);
}
inline shape to_shape(const std::vector<dim>& list, std::string_view name) { return list_of<shape>(list, name); }

// A tensor without elements.
inline tensor empty_tensor(node_context& c, dtype type, const shape& dims) {
  return c.graph().constant_from_codes({}, dims, type);
}
inline bool is_empty(const shape& s) {
  for (dim d : s)
    if (d == dim(0)) return true;
  return false;
}

inline void convert_reshape(node_context& c) {
  c.ignore("consumed_inputs");
  std::vector<dim> to;
  const bool allow_zero = c.flag("allowzero", false);
  if (c.opset < 5) {
    for (std::int64_t d : c.integers("shape").value_or(std::vector<std::int64_t>{})) to.push_back(d);
  } else {
    const known_elements& k = c.elements(1, "the shape");
    std::size_t rank = 0;
    node_context::require(k.countable(rank) && k.dims.size() == 1, "the shape must be a list of known length");
    for (std::size_t i = 0; i < rank; ++i) {
      const known_element& e = k.at(i);
      if (e.is_number() && e.number < -1) node_context::refuse("the shape has the extent " + std::to_string(e.number));
      to.push_back(e.is_number() && e.number == -1 ? dim::unknown() : c.arithmetic.to_dim(e));
    }
  }
  shape dims = to_shape(to, "shape");
  std::size_t inferred = 0;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] == dim(0) && !allow_zero) {
      node_context::require(d < c.rank(0), "a 0 in the shape copies an extent the input does not have");
      dims[d] = c.dims(0)[d];
    }
    inferred += dims[d].is_unknown();
  }
  if (allow_zero && is_empty(dims) && !is_empty(c.dims(0))) {  // an extent of the input has to be 0, too
    dim open;
    std::size_t unknown = 0;
    for (dim d : c.dims(0))
      if (!d.is_known()) ++unknown, open = d;
    node_context::require(unknown == 1 && c.table().note_equation(open, 0), "a tensor of elements becomes one without");
    return c.out(0, empty_tensor(c, c.type(0), dims));
  }
  if (is_empty(c.dims(0)) && is_known(c.dims(0))) {
    if (inferred == 1)
      for (dim& d : dims)
        if (d.is_unknown()) d = 0;
    node_context::require(is_empty(dims), "a tensor without elements becomes one with some");
    return c.out(0, empty_tensor(c, c.type(0), dims));
  }
  c.out(0, c.apply(op::reshape{dims}, {c.in(0)}));
}

inline void convert_flatten(node_context& c) { c.out(0, c.apply(attributes_from<op::flatten>(c), {c.in(0)})); }

// Without axes, every extent of 1 goes. One that is open would decide the rank: it is assumed to be another, as --dim
// decides otherwise.
inline void convert_squeeze(node_context& c) {
  op::squeeze s;
  if (const auto axes = list_argument(c, "axes", 1, 13)) s.axes = to_int_list(*axes, "axes");
  else {
    for (std::size_t d = 0; d < c.rank(0); ++d) {
      const dim extent = c.dims(0)[d];
      node_context::require(!extent.is_unknown(), "without axes, every extent must be known");
      if (!c.table().assume(extent, relation::different, 1)) s.axes.push_back(static_cast<std::int64_t>(d));
    }
  }
  if (s.axes.empty()) return c.alias(0, c.reference(0));
  c.out(0, c.apply(s, {c.in(0)}));
}
inline void convert_unsqueeze(node_context& c) {
  const auto axes = list_argument(c, "axes", 1, 13);
  node_context::require(axes.has_value(), "has no axes");
  if (axes->empty()) return c.alias(0, c.reference(0));
  c.out(0, c.apply(op::unsqueeze{to_int_list(*axes, "axes")}, {c.in(0)}));
}

// A bound of Slice as a position 0 ... n, or nothing when it is not known on which side of 0 it lies.
inline std::optional<dim> slice_bound(node_context& c, const known_element& e, dim n) {
  symbol_table& t = c.table();
  const dim d = c.arithmetic.to_dim(e);
  if (d.is_unknown() || n.is_unknown()) return std::nullopt;
  const bounds r = t.range(d);
  if (r.min >= 0) return t.min(d, n);
  if (r.max < 0) return t.max(t.add(n, d), dim(0));
  // A window around the middle of a table begins at c - L, with c in the upper half: L is at most c.
  const polynomial& p = t.polynomials[d.expression()];
  const bool from_middle = n.is_known() && p[0].factors.empty() && p[0].coefficient >= n.value() / 2;
  const dim position = t.max(d, dim(0));
  if (from_middle && t.note_equation(d, position)) return t.min(position, n);
  return std::nullopt;
}

// Attributes up to opset 9, inputs later. Axes whose bounds are expressions are cut one by one.
inline void convert_slice(node_context& c) {
  std::vector<known_element> starts, ends;
  std::vector<std::int64_t> axes, steps;
  if (c.opset < 10) {
    for (std::int64_t n : c.integers("starts").value_or(std::vector<std::int64_t>{}))
      starts.push_back(known_element::of_number(n));
    for (std::int64_t n : c.integers("ends").value_or(std::vector<std::int64_t>{}))
      ends.push_back(known_element::of_number(n));
    axes = c.integers("axes").value_or(std::vector<std::int64_t>{});
  } else {
    const auto list = [&](std::size_t i, std::string_view what) {
      const known_elements& k = c.elements(i, what);
      std::size_t count = 0;
      node_context::require(k.countable(count) && k.dims.size() <= 1, "starts and ends must be lists of known length");
      std::vector<known_element> all;
      for (std::size_t e = 0; e < count; ++e) all.push_back(k.at(e));
      return all;
    };
    starts = list(1, "starts");
    ends = list(2, "ends");
    if (c.has(3)) axes = c.numbers(3, "axes");
    if (c.has(4)) steps = c.numbers(4, "steps");
  }
  const std::size_t count = starts.size();
  if (axes.empty())
    for (std::size_t k = 0; k < count; ++k) axes.push_back(static_cast<std::int64_t>(k));
  if (steps.empty()) steps.assign(count, 1);
  node_context::require(ends.size() == count && axes.size() == count && steps.size() == count && count <= max_rank,
                        "starts, ends, axes and steps must be equally long, and no longer than 8");
  op::slice whole;
  tensor t = c.in(0);
  for (std::size_t k = 0; k < count; ++k) {
    if (starts[k].is_number() && ends[k].is_number()) {
      whole.starts.push_back(starts[k].number);
      whole.ends.push_back(ends[k].number);
      whole.axes.push_back(axes[k]);
      whole.steps.push_back(steps[k]);
      continue;
    }
    std::int64_t axis = axes[k];
    if (axis < 0) axis += t.rank();
    node_context::require(axis >= 0 && axis < t.rank(), "axes names an axis the input lacks");
    node_context::require(steps[k] == 1, "a step with a bound that is not known is not supported");
    const dim n = t.size(axis);
    const std::optional<dim> first = slice_bound(c, starts[k], n), last = slice_bound(c, ends[k], n);
    node_context::require(first && last, "starts or ends are not known well enough to tell what is taken");
    const dim size = c.table().max(c.table().sub(*last, *first), dim(0));
    if (*first == dim(0) && size == n) continue;
    t = c.apply(op::split{axis, *first, size}, {t});
  }
  if (!whole.starts.empty()) t = c.apply(whole, {t});
  c.out(0, t);
}

// Sizes are an attribute up to opset 12, an input later; without them the parts are equal, the last one possibly
// smaller.
inline void convert_split(node_context& c) {
  std::int64_t axis = c.integer("axis", 0);
  const auto rank = static_cast<std::int64_t>(c.rank(0));
  if (axis < 0) axis += rank;
  node_context::require(axis >= 0 && axis < rank, "axis is outside the input");
  const dim n = c.dims(0)[axis];
  symbol_table& table = c.table();
  std::vector<dim> sizes;
  if (c.opset < 13) {
    if (const auto list = c.integers("split"))
      for (std::int64_t s : *list) {
        node_context::require(s >= 0, "a size is negative");
        sizes.push_back(s);
      }
  } else if (c.has(1)) sizes = c.extents(1, "split");
  if (sizes.empty()) {
    const std::int64_t parts = c.integer("num_outputs", static_cast<std::int64_t>(c.node.outputs.size()));
    node_context::require(parts == static_cast<std::int64_t>(c.node.outputs.size()) && !n.is_unknown(),
                          "the extent to split must be known, and num_outputs the number of outputs");
    const dim size = table.ceil_div(n, dim(parts));
    for (std::int64_t i = 0; i + 1 < parts; ++i) sizes.push_back(size);
    sizes.push_back(table.sub(n, table.mul(size, dim(parts - 1))));
  }
  node_context::require(sizes.size() == c.node.outputs.size(), "the number of parts differs from that of outputs");
  const tensor x = c.in(0);
  dim begin = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (c.wants(i)) c.out(i, c.apply(op::split{axis, begin, sizes[i]}, {x}));
    begin = table.add(begin, sizes[i]);
  }
}

inline void convert_expand(node_context& c) {
  const shape dims = to_shape(c.extents(1, "the shape"), "shape");
  for (dim d : dims) node_context::require(!d.is_unknown(), "the shape must be known");
  c.out(0, c.apply(op::expand{dims}, {c.in(0)}));
}

// t as often as an expression says along one axis: expanded by an axis before it, which is joined with it.
inline tensor repeated(node_context& c, tensor t, std::size_t axis, dim times) {
  node_context::require(!times.is_unknown() && c.table().range(times).min >= 0, "repeats are not known well enough");
  node_context::require(t.dims().size() < max_rank, "repeats that are expressions need a rank below 8");
  shape apart, joined;
  for (std::size_t d = 0; d < t.dims().size(); ++d) {
    const dim n = t.dims()[d];
    if (d == axis) apart.push_back(times);
    apart.push_back(n);
    joined.push_back(d == axis ? c.table().mul(n, times) : n);
  }
  t = c.apply(op::unsqueeze{{static_cast<std::int64_t>(axis)}}, {t});
  return c.apply(op::reshape{joined}, {c.apply(op::expand{apart}, {t})});
}

inline void convert_tile(node_context& c) {
  if (c.opset < 6) node_context::refuse("opset " + std::to_string(c.opset) + " is not supported");
  const known_elements& repeats = c.elements(1, "repeats");
  std::size_t rank = 0;
  node_context::require(repeats.countable(rank) && rank == c.rank(0), "repeats must name one number for each axis");
  op::tile whole;
  tensor t = c.in(0);
  for (std::size_t d = 0; d < rank; ++d) {
    const known_element& e = repeats.at(d);
    whole.repeats.push_back(e.is_number() ? e.number : 1);
    if (!e.is_number()) t = repeated(c, t, d, c.arithmetic.to_dim(e));
  }
  c.out(0, c.apply(whole, {t}));
}

inline void convert_concat(node_context& c) {
  const op::concat concat{c.integer("axis", 1)};
  if (c.inputs() == 1) return c.alias(0, c.reference(0));
  std::vector<tensor> parts;
  for (std::size_t i = 0; i < c.inputs(); ++i) parts.push_back(c.in(i));
  c.out(0, c.apply(concat, parts));
}

// t with as much of `value` before and behind it along one axis as two expressions say.
inline tensor padded_along(node_context& c, tensor t, std::size_t axis, dim before, dim behind, double value) {
  std::vector<tensor> parts;
  const tensor fill = c.state.constant({c.type(0), {}, {known_element::of_real(value)}});
  for (const auto& [size, first] : {std::pair{before, true}, std::pair{behind, false}}) {
    if (!first) parts.push_back(t);
    if (size == dim(0)) continue;
    node_context::require(c.arithmetic.is_natural(size), "pads that are expressions must not be negative");
    shape s = t.dims();
    s[axis] = size;
    parts.push_back(c.apply(op::expand{s}, {fill}));
  }
  return c.apply(op::concat{static_cast<std::int64_t>(axis)}, parts);
}

// The pads of all axes, [begins, ends], from those of the axes that input 3 may name.
inline std::vector<known_element> pads_of_all_axes(node_context& c, const std::vector<known_element>& given) {
  if (!c.has(3)) return given;
  const std::size_t rank = c.rank(0);
  const std::vector<std::int64_t> axes = c.numbers(3, "axes");
  node_context::require(given.size() == 2 * axes.size(), "pads must name two numbers for each axis");
  std::vector<known_element> all(2 * rank, known_element::of_number(0));
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t a = axes[i] < 0 ? axes[i] + static_cast<std::int64_t>(rank) : axes[i];
    node_context::require(a >= 0 && a < static_cast<std::int64_t>(rank), "axes names an axis the input lacks");
    all[static_cast<std::size_t>(a)] = given[i];
    all[static_cast<std::size_t>(a) + rank] = given[i + axes.size()];
  }
  return all;
}

// Pads that are numbers are one node, others are concatenated.
inline tensor padded(node_context& c, op::pad pad, const std::vector<known_element>& pads, tensor value) {
  const std::size_t rank = c.rank(0);
  node_context::require(pads.size() == 2 * rank, "pads must name two numbers for each axis");
  bool numbers = true, nothing = true;
  for (const known_element& p : pads) {
    node_context::require(p.is_number() || p.is_expression(), "pads must be known when the model is imported");
    pad.pads.push_back(p.is_number() ? p.number : 0);
    numbers = numbers && p.is_number();
    nothing = nothing && pad.pads.back() == 0;
  }
  tensor t = c.in(0);
  if (!nothing) t = value.present() ? c.apply(pad, {t, value}) : c.apply(pad, {t});
  if (numbers) return t;
  node_context::require(pad.mode == pad_mode::constant && !value.present(),
                        "pads that are expressions need mode constant and a known value");
  const auto expression = [&](std::size_t i) { return pads[i].is_number() ? dim(0) : c.arithmetic.to_dim(pads[i]); };
  for (std::size_t d = 0; d < rank; ++d)
    if (!pads[d].is_number() || !pads[d + rank].is_number())
      t = padded_along(c, t, d, expression(d), expression(d + rank), pad.value);
  return t;
}

// Is a number one of 32-bit floating point, as operators' attributes are?
inline bool is_float(const known_element& e) {
  constexpr std::int64_t whole = std::int64_t{1} << 24;
  if (e.is_number()) return e.number >= -whole && e.number <= whole;
  const double x = e.as_real(), most = std::numeric_limits<float>::max();
  return x != x || std::abs(x) == std::numeric_limits<double>::infinity() ||
         (std::abs(x) <= most && static_cast<double>(static_cast<float>(x)) == x);
}

// pads: [begins, ends]; an attribute (called paddings once) up to opset 10, an input later, from opset 18 on for chosen
// axes.
inline void convert_pad(node_context& c) {
  op::pad pad;
  pad.mode = enumerator<pad_mode>("mode", c.word("mode", "constant"));
  std::vector<known_element> pads;
  tensor value;  // where it is not a known number
  if (c.opset < 11) {
    const auto list = c.integers(c.node.find("pads") ? "pads" : "paddings");
    for (std::int64_t p : list.value_or(std::vector<std::int64_t>{})) pads.push_back(known_element::of_number(p));
    pad.value = c.real_attribute("value", 0);
  } else {
    const known_elements& amounts = c.elements(1, "pads");
    std::size_t count = 0;
    node_context::require(amounts.countable(count), "pads must be known when the model is imported");
    for (std::size_t i = 0; i < count; ++i) pads.push_back(amounts.at(i));
    if (const known_elements* k = c.known(2);
        k != nullptr && k->items.size() == 1 && k->is_numeric() && is_float(k->items[0]))
      pad.value = static_cast<float>(k->items[0].as_real());
    else if (c.has(2)) value = c.in(2);
    pads = pads_of_all_axes(c, pads);
  }
  const bool nothing =
      std::all_of(pads.begin(), pads.end(), [](const known_element& p) { return p == known_element::of_number(0); });
  if (nothing && pads.size() == 2 * c.rank(0)) return c.alias(0, c.reference(0));
  c.out(0, padded(c, pad, pads, value));
}

inline void convert_center_crop_pad(node_context& c) {
  op::center_crop_pad middle;
  middle.target = to_int_list(c.numbers(1, "the shape"), "shape");
  if (const auto axes = c.integers("axes")) middle.axes = to_int_list(*axes, "axes");
  c.out(0, c.apply(middle, {c.in(0)}));
}
inline void convert_col2im(node_context& c) {
  op::col2im image = attributes_from<op::col2im>(c);
  image.image_shape = to_int_list(c.numbers(1, "image_shape"), "image_shape");
  image.block_shape = to_int_list(c.numbers(2, "block_shape"), "block_shape");
  c.out(0, c.apply(image, {c.in(0)}));
}
inline void convert_affine_grid(node_context& c) {
  op::affine_grid grid;
  grid.align_corners = c.flag("align_corners", false);
  grid.size = to_shape(c.extents(1, "the size"), "size");
  for (dim d : grid.size) node_context::require(!d.is_unknown(), "the size must be known");
  c.out(0, c.apply(grid, {c.in(0)}));
}

}  // namespace dnnkit::onnx::detail
