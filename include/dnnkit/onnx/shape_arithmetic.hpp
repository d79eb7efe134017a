// SPDX-License-Identifier: MIT
// Operators computed on known elements while a model is imported, so that what an exporter wrote to compute shapes
// leaves no node behind (SoD2, section 4.1: forward transfer of values; Shape is its F_ISDO).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "dnnkit/onnx/node_context.hpp"

namespace dnnkit::onnx {

namespace detail {

// Strides of a row-major tensor of known extents, broadcast to `rank` axes: 0 where it has extent 1 or no axis.
inline std::vector<std::size_t> broadcast_strides(const shape& dims, std::size_t rank) {
  std::vector<std::size_t> strides(rank, 0);
  std::size_t step = 1;
  for (std::size_t d = dims.size(); d-- > 0;) {
    const auto n = static_cast<std::size_t>(dims[d].value());
    if (n != 1) strides[rank - dims.size() + d] = step;
    step *= n;
  }
  return strides;
}

// Calls f(offset of each operand) for every element of `dims` in row-major order.
inline void for_each_offset(const shape& dims, const std::vector<std::vector<std::size_t>>& strides,
                            const std::function<void(const std::vector<std::size_t>&)>& f) {
  std::size_t count = 0;
  if (!known_elements::countable(dims, count)) return;
  std::vector<std::int64_t> at(dims.size(), 0);
  std::vector<std::size_t> offsets(strides.size(), 0);
  for (std::size_t n = 0; n < count; ++n) {
    f(offsets);
    for (std::size_t d = dims.size(); d-- > 0;) {
      const bool wraps = at[d] + 1 == dims[d].value();
      for (std::size_t i = 0; i < strides.size(); ++i)
        if (wraps) offsets[i] -= static_cast<std::size_t>(at[d]) * strides[i][d];
        else offsets[i] += strides[i][d];
      at[d] = wraps ? 0 : at[d] + 1;
      if (!wraps) break;
    }
  }
}

class shape_evaluation {
 public:
  explicit shape_evaluation(node_context& c) : c_(c), a_(c.arithmetic) {}

  // --- element by element, with broadcasting; f takes as many elements as there are inputs
  using function = std::function<known_element(const std::vector<const known_element*>&)>;
  bool elementwise(std::optional<dtype> type, const function& f) {
    std::vector<const known_elements*> x;
    for (std::size_t i = 0; i < c_.inputs(); ++i) x.push_back(c_.known(i));
    shape dims;
    for (const known_elements* k : x) {
      if (k == nullptr) return false;
      if (!broadcast(dims, k->dims)) return false;
    }
    known_elements y{type.value_or(x[0]->type), dims, {}};
    // reals are computed by the operator itself, which rounds as it should
    bool reals = true;
    for (const known_elements* k : x) reals = reals && k->is_numeric();
    if (reals && (is_floating(y.type) || is_floating(x[0]->type))) return false;
    bool uniform = true;
    for (const known_elements* k : x) uniform = uniform && k->items.size() == 1;
    std::vector<const known_element*> arguments(x.size());
    if (uniform) {
      for (std::size_t i = 0; i < x.size(); ++i) arguments[i] = &x[i]->items[0];
      y.items.push_back(wrapped(y.type, f(arguments)));
      return finish(std::move(y), x);
    }
    std::size_t count = 0;
    if (!y.countable(count)) return false;
    std::vector<std::vector<std::size_t>> strides;
    for (const known_elements* k : x) strides.push_back(strides_of(*k, dims.size()));
    for_each_offset(dims, strides, [&](const std::vector<std::size_t>& offsets) {
      for (std::size_t i = 0; i < x.size(); ++i) arguments[i] = &x[i]->items[offsets[i]];
      y.items.push_back(wrapped(y.type, f(arguments)));
    });
    return finish(std::move(y), x);
  }
  bool binary(known_element (element_arithmetic::*f)(const known_element&, const known_element&) const) {
    return elementwise({}, [&](const auto& x) {
      known_element r = *x[0];
      for (std::size_t i = 1; i < x.size(); ++i) r = (a_.*f)(r, *x[i]);
      return r;
    });
  }
  bool compare(const std::function<std::optional<bool>(const known_element&, const known_element&)>& f) {
    return elementwise(boolean, [&](const auto& x) {
      const std::optional<bool> r = f(*x[0], *x[1]);
      return r ? known_element::of_number(*r) : known_element{};
    });
  }

  // --- elements in another order: element n of the output is that of `source` at offset f(n)
  bool moved(const known_elements& source, const shape& dims) {  // in the same order
    known_elements y{source.type, dims, source.items};
    return finish(std::move(y), {&source});
  }

  // The shape of input i as a list of elements.
  std::vector<known_element> shape_of(std::size_t i) {
    std::vector<known_element> list;
    for (dim d : c_.dims(i)) list.push_back(a_.to_element(d));
    return list;
  }

  // What is partly unknown is only worth keeping when the inputs were, too: otherwise the operator can be a node.
  bool finish(known_elements y, const std::vector<const known_elements*>& from) {
    bool unknown_before = from.empty();
    for (const known_elements* k : from) unknown_before = unknown_before || k->has_unknown();
    if (!unknown_before && y.has_unknown()) return false;
    c_.out(0, std::move(y));
    return true;
  }
  std::vector<std::size_t> strides_of(const known_elements& k, std::size_t rank) const {
    if (k.items.size() == 1) return std::vector<std::size_t>(rank, 0);
    return broadcast_strides(k.dims, rank);
  }
  bool broadcast(shape& dims, const shape& other) {
    inference i(c_.table());
    return i.broadcast(dims, other);
  }
  static known_element wrapped(dtype type, const known_element& e) {
    return e.is_number() && !is_floating(type) ? known_element::of_number(wrap_to(type, e.number)) : e;
  }
  std::size_t axis(std::int64_t a, std::size_t rank) const {
    if (a < 0) a += static_cast<std::int64_t>(rank);
    if (a < 0 || a >= static_cast<std::int64_t>(rank))
      node_context::refuse("axis is outside a tensor of rank " + std::to_string(rank));
    return static_cast<std::size_t>(a);
  }
  node_context& context() { return c_; }
  const element_arithmetic& arithmetic() const { return a_; }

 private:
  node_context& c_;
  const element_arithmetic& a_;
};

inline bool evaluate_shape(shape_evaluation& s) {
  node_context& c = s.context();
  const auto rank = static_cast<std::int64_t>(c.rank(0));
  const auto position = [&](std::int64_t p) {
    if (p < 0) p += rank;
    return p < 0 ? 0 : p > rank ? rank : p;
  };
  const std::int64_t first = position(c.integer("start", 0)), last = position(c.integer("end", rank));
  const std::vector<known_element> all = s.shape_of(0);
  std::vector<known_element> part;
  for (std::int64_t i = first; i < last; ++i) part.push_back(all[static_cast<std::size_t>(i)]);
  c.out(0, vector_of(std::move(part)));
  return true;
}

inline bool evaluate_size(shape_evaluation& s) {
  node_context& c = s.context();
  c.out(0, scalar_of(i64, s.arithmetic().to_element(element_count(c.table(), c.dims(0)))));
  return true;
}

inline bool evaluate_cast(shape_evaluation& s, dtype to) {
  node_context& c = s.context();
  const known_elements* x = c.known(0);
  if (x == nullptr || (x->is_numeric() && (is_floating(x->type) || is_floating(to)))) return false;
  known_elements y{to, x->dims, {}};
  for (const known_element& e : x->items) y.items.push_back(s.arithmetic().cast(e, x->type, to));
  return s.finish(std::move(y), {x});
}

inline bool evaluate_gather(shape_evaluation& s) {
  node_context& c = s.context();
  const known_elements *x = c.known(0), *at = c.known(1);
  std::size_t count = 0;
  if (x == nullptr || at == nullptr || !x->countable(count) || !at->countable(count)) return false;
  const std::size_t rank = x->dims.size(), axis = s.axis(c.integer("axis", 0), rank);
  known_elements y{x->type, {}, {}};
  for (std::size_t d = 0; d < axis; ++d) y.dims.push_back(x->dims[d]);
  for (dim d : at->dims) y.dims.push_back(d);
  for (std::size_t d = axis + 1; d < rank; ++d) y.dims.push_back(x->dims[d]);
  if (!y.countable(count)) return false;
  std::size_t outer = 1, inner = 1;
  for (std::size_t d = 0; d < rank; ++d)
    (d < axis ? outer : inner) *= d == axis ? 1 : static_cast<std::size_t>(x->dims[d].value());
  const std::int64_t n = x->dims[axis].value();
  std::size_t chosen = 0;
  at->countable(chosen);
  for (std::size_t o = 0; o < outer; ++o)
    for (std::size_t k = 0; k < chosen; ++k) {
      const known_element& e = at->at(k);
      if (!e.is_number()) return false;
      const std::int64_t p = e.number < 0 ? e.number + n : e.number;
      if (p < 0 || p >= n)
        node_context::refuse("index " + std::to_string(e.number) + " is outside an axis of extent " +
                             std::to_string(n));
      for (std::size_t i = 0; i < inner; ++i)
        y.items.push_back(x->at((o * static_cast<std::size_t>(n) + static_cast<std::size_t>(p)) * inner + i));
    }
  return s.finish(std::move(y), {x});
}

inline bool evaluate_concat(shape_evaluation& s) {
  node_context& c = s.context();
  std::vector<const known_elements*> parts;
  std::size_t count = 0;
  for (std::size_t i = 0; i < c.inputs(); ++i) {
    const known_elements* k = c.known(i);
    if (k == nullptr || !k->countable(count) || k->dims.empty()) return false;
    parts.push_back(k);
  }
  if (parts.empty()) return false;
  const std::size_t rank = parts[0]->dims.size(), axis = s.axis(c.integer("axis"), rank);
  known_elements y{parts[0]->type, parts[0]->dims, {}};
  std::int64_t along = 0;
  for (const known_elements* k : parts) {
    if (k->dims.size() != rank) return false;
    for (std::size_t d = 0; d < rank; ++d)
      if (d != axis && !(k->dims[d] == y.dims[d])) return false;
    along += k->dims[axis].value();
  }
  y.dims[axis] = along;
  if (!y.countable(count)) return false;
  std::size_t outer = 1, inner = 1;
  for (std::size_t d = 0; d < axis; ++d) outer *= static_cast<std::size_t>(parts[0]->dims[d].value());
  for (std::size_t d = axis + 1; d < rank; ++d) inner *= static_cast<std::size_t>(parts[0]->dims[d].value());
  for (std::size_t o = 0; o < outer; ++o)
    for (const known_elements* k : parts) {
      const std::size_t run = static_cast<std::size_t>(k->dims[axis].value()) * inner;
      for (std::size_t i = 0; i < run; ++i) y.items.push_back(k->at(o * run + i));
    }
  return s.finish(std::move(y), parts);
}

// Starts, ends, axes and steps are attributes up to opset 9, inputs later.
inline bool evaluate_slice(shape_evaluation& s) {
  node_context& c = s.context();
  const known_elements* x = c.known(0);
  std::size_t count = 0;
  if (x == nullptr || !x->countable(count)) return false;
  const std::size_t rank = x->dims.size();
  const auto list = [&](std::size_t i, std::string_view name) -> std::optional<std::vector<std::int64_t>> {
    if (c.opset < 10) return c.integers(name);
    if (!c.has(i)) return std::nullopt;
    const known_elements* k = c.known(i);
    if (k == nullptr || !k->all(&known_element::is_number)) return std::nullopt;
    return c.numbers(i, name);
  };
  const auto starts = list(1, "starts"), ends = list(2, "ends");
  auto axes = list(3, "axes"), steps = list(4, "steps");
  if (!starts || !ends || (c.has(3) && !axes) || (c.has(4) && !steps)) return false;
  std::vector<std::int64_t> first(rank, 0), step(rank, 1);
  known_elements y{x->type, x->dims, {}};
  for (std::size_t k = 0; k < starts->size(); ++k) {
    const std::size_t d = s.axis(axes ? axes->at(k) : static_cast<std::int64_t>(k), rank);
    const std::int64_t n = x->dims[d].value(), by = steps ? steps->at(k) : 1;
    if (by == 0 || ends->size() <= k) return false;
    const auto clamped = [&](std::int64_t p) {
      if (p < 0) p = p < -n ? -1 : p + n;
      const std::int64_t low = by > 0 ? 0 : -1, high = by > 0 ? n : n - 1;
      return p < low ? low : p > high ? high : p;
    };
    std::int64_t from = clamped((*starts)[k]);
    if (by < 0 && from < 0) from = 0;
    if (by > 0 && from < 0) from = 0;
    const std::int64_t to = clamped((*ends)[k]), length = by > 0 ? to - from : from - to, size = by > 0 ? by : -by;
    first[d] = from;
    step[d] = by;
    y.dims[d] = length <= 0 ? 0 : (length - 1) / size + 1;
  }
  const std::vector<std::size_t> dense = broadcast_strides(x->dims, rank);
  y.countable(count);
  std::vector<std::int64_t> at(rank, 0);
  for (std::size_t n = 0; n < count; ++n) {
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < rank; ++d) offset += (first[d] + at[d] * step[d]) * static_cast<std::int64_t>(dense[d]);
    y.items.push_back(x->at(static_cast<std::size_t>(offset)));
    for (std::size_t d = rank; d-- > 0;) {
      if (++at[d] < y.dims[d].value()) break;
      at[d] = 0;
    }
  }
  return s.finish(std::move(y), {x});
}

// Squeeze, Unsqueeze, Reshape, Flatten: the same elements under the shape `dims`.
inline bool evaluate_squeeze(shape_evaluation& s) {
  node_context& c = s.context();
  const known_elements* x = c.known(0);
  if (x == nullptr) return false;
  std::vector<std::int64_t> axes;
  if (c.opset < 13) axes = c.integers("axes").value_or(std::vector<std::int64_t>{});
  else if (c.has(1)) axes = c.numbers(1, "axes");
  std::vector<bool> gone(x->dims.size(), false);
  for (std::int64_t a : axes) gone[s.axis(a, x->dims.size())] = true;
  shape dims;
  for (std::size_t d = 0; d < x->dims.size(); ++d) {
    const bool one = x->dims[d] == dim(1);
    if (gone[d] && !one) return false;
    if (axes.empty() ? !one : !gone[d]) dims.push_back(x->dims[d]);
  }
  return s.moved(*x, dims);
}
inline bool evaluate_unsqueeze(shape_evaluation& s) {
  node_context& c = s.context();
  const known_elements* x = c.known(0);
  if (x == nullptr) return false;
  std::vector<std::int64_t> axes;
  if (c.opset < 13) axes = c.integers("axes").value_or(std::vector<std::int64_t>{});
  else axes = c.numbers(1, "axes");
  const std::size_t rank = x->dims.size() + axes.size();
  if (rank > max_rank) return false;
  std::vector<bool> added(rank, false);
  for (std::int64_t a : axes) {
    const std::size_t d = s.axis(a, rank);
    if (added[d]) return false;
    added[d] = true;
  }
  shape dims;
  std::size_t next = 0;
  for (std::size_t d = 0; d < rank; ++d) dims.push_back(added[d] ? dim(1) : x->dims[next++]);
  return s.moved(*x, dims);
}
inline bool evaluate_reshape(shape_evaluation& s) {
  node_context& c = s.context();
  const known_elements *x = c.known(0), *to = c.opset < 5 ? nullptr : c.known(1);
  std::size_t count = 0, rank = 0, result = 0;
  const bool allow_zero = c.flag("allowzero", false);
  if (x == nullptr || to == nullptr || !x->countable(count) || !to->countable(rank) || rank > max_rank) return false;
  shape dims;
  std::size_t inferred = max_rank, known = 1;
  for (std::size_t i = 0; i < rank; ++i) {
    const known_element& e = to->at(i);
    if (!e.is_number()) return false;
    std::int64_t n = e.number;
    if (n == 0 && !allow_zero) {
      if (i >= x->dims.size()) return false;
      n = x->dims[i].value();
    }
    if (n < -1 || (n == -1 && inferred < max_rank)) return false;
    if (n == -1) inferred = i;
    else known *= static_cast<std::size_t>(n);
    dims.push_back(n == -1 ? dim(1) : dim(n));
  }
  if (inferred < max_rank) {
    if (known == 0 || count % known != 0) return false;
    dims[inferred] = static_cast<std::int64_t>(count / known);
  }
  if (!known_elements::countable(dims, result) || result != count) return false;
  return s.moved(*x, dims);
}

inline bool evaluate_transpose(shape_evaluation& s) {
  node_context& c = s.context();
  const known_elements* x = c.known(0);
  std::size_t count = 0;
  if (x == nullptr || !x->countable(count)) return false;
  const std::size_t rank = x->dims.size();
  std::vector<std::int64_t> perm = c.integers("perm").value_or(std::vector<std::int64_t>{});
  if (perm.empty())
    for (std::size_t d = rank; d-- > 0;) perm.push_back(static_cast<std::int64_t>(d));
  if (perm.size() != rank) return false;
  known_elements y{x->type, {}, {}};
  const std::vector<std::size_t> dense = s.strides_of(*x, rank);
  std::vector<std::size_t> strides;
  for (std::int64_t p : perm) {
    if (p < 0 || p >= static_cast<std::int64_t>(rank)) return false;
    y.dims.push_back(x->dims[static_cast<std::size_t>(p)]);
    strides.push_back(dense[static_cast<std::size_t>(p)]);
  }
  for_each_offset(y.dims, {strides}, [&](const std::vector<std::size_t>& o) { y.items.push_back(x->items[o[0]]); });
  return s.finish(std::move(y), {x});
}

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
  for (std::int64_t x = n[0]; n[2] > 0 ? x < n[1] : x > n[1]; x += n[2]) {
    if (y.items.size() == most_known_elements) return false;
    y.items.push_back(known_element::of_number(x));
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
  return s.elementwise(c.type(1), [&](const auto& x) {
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

// Whole numbers stay as they are.
inline bool evaluate_rounding(shape_evaluation& s) {
  const known_elements* x = s.context().known(0);
  if (x == nullptr || x->is_numeric()) return false;
  return s.elementwise(
      {}, [](const auto& e) { return e[0]->is_expression() || e[0]->is_number() ? *e[0] : known_element{}; });
}

inline bool evaluate_logic(shape_evaluation& s, bool (*f)(bool, bool)) {
  return s.elementwise(boolean, [&](const auto& x) {
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
         const auto to = dtype_of(static_cast<std::int32_t>(s.context().integer("to")));
         s.context().ignore("saturate");
         return to && detail::evaluate_cast(s, *to);
       }},
      {"CastLike", [](shape_evaluation& s) { return detail::evaluate_cast(s, s.context().type(1)); }},
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
      {"Floor", detail::evaluate_rounding},
      {"Ceil", detail::evaluate_rounding},
      {"Round", detail::evaluate_rounding},
      {"Add", [](shape_evaluation& s) { return s.binary(&arithmetic::add); }},
      {"Sub", [](shape_evaluation& s) { return s.binary(&arithmetic::sub); }},
      {"Mul", [](shape_evaluation& s) { return s.binary(&arithmetic::mul); }},
      {"Min", [](shape_evaluation& s) { return s.binary(&arithmetic::min); }},
      {"Max", [](shape_evaluation& s) { return s.binary(&arithmetic::max); }},
      {"Div",
       [](shape_evaluation& s) {
         return s.elementwise(
             {}, [&](const auto& x) { return s.arithmetic().div(*x[0], *x[1], !is_floating(s.context().type(0))); });
       }},
      {"Mod",
       [](shape_evaluation& s) {
         const bool fmod = s.context().flag("fmod", false);
         return s.elementwise({}, [&](const auto& x) { return s.arithmetic().mod(*x[0], *x[1], fmod); });
       }},
      {"Neg",
       [](shape_evaluation& s) {
         return s.elementwise({},
                              [&](const auto& x) { return s.arithmetic().sub(known_element::of_number(0), *x[0]); });
       }},
      {"Equal",
       [](shape_evaluation& s) {
         return s.compare([&](const auto& a, const auto& b) { return s.arithmetic().equal(a, b); });
       }},
      {"Less",
       [](shape_evaluation& s) {
         return s.compare([&](const auto& a, const auto& b) { return s.arithmetic().less(a, b); });
       }},
      {"Greater",
       [](shape_evaluation& s) {
         return s.compare([&](const auto& a, const auto& b) { return s.arithmetic().less(b, a); });
       }},
      {"LessOrEqual",
       [](shape_evaluation& s) {
         return s.compare([&](const auto& a, const auto& b) {
           const std::optional<bool> more = s.arithmetic().less(b, a);
           return more ? std::optional(!*more) : std::nullopt;
         });
       }},
      {"GreaterOrEqual",
       [](shape_evaluation& s) {
         return s.compare([&](const auto& a, const auto& b) {
           const std::optional<bool> less = s.arithmetic().less(a, b);
           return less ? std::optional(!*less) : std::nullopt;
         });
       }},
      {"Not",
       [](shape_evaluation& s) {
         return s.elementwise(boolean, [](const auto& x) {
           return x[0]->is_number() ? known_element::of_number(x[0]->number == 0) : known_element{};
         });
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
