// SPDX-License-Identifier: MIT
// Operators that move elements, computed on known elements while a model is imported: Shape and Size (SoD2's F_ISDO),
// and what is done with the lists they give.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dnnkit/onnx/import/shape_evaluation.hpp"

namespace dnnkit::onnx::detail {

inline bool evaluate_shape(shape_evaluation& s) {
  node_context& c = s.context();
  const auto rank = static_cast<std::int64_t>(c.rank(0));
  const auto position = [&](std::int64_t p) {
    if (p < 0) p += rank;
    return p < 0 ? 0 : p > rank ? rank : p;
  };
  const std::int64_t first = position(c.integer("start", 0)), last = position(c.integer("end", rank));
  symbol_table& t = c.table();
  for (dim d : c.dims(0))  // of windows, say, that fit often enough
    if (d.is_expression() && !s.arithmetic().is_natural(d)) t.note_equation(d, t.max(d, dim(0)), true);
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
  if (count == 0) return s.finish(std::move(y), {x});
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
    if (__builtin_add_overflow(along, k->dims[axis].value(), &along)) return false;
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
    constexpr std::int64_t most_step = std::int64_t{1} << 31;
    if (by == 0 || by > most_step || by < -most_step || ends->size() <= k) return false;
    const auto clamped = [&](std::int64_t p) {
      if (p < 0) p = p < -n ? -1 : p + n;
      const std::int64_t low = by > 0 ? 0 : -1, high = by > 0 ? n : n - 1;
      return p < low ? low : p > high ? high : p;
    };
    const std::int64_t from = std::max<std::int64_t>(clamped((*starts)[k]), 0);
    const std::int64_t to = clamped((*ends)[k]), length = by > 0 ? to - from : from - to, size = by > 0 ? by : -by;
    first[d] = from;
    step[d] = by;
    y.dims[d] = n == 0 || length <= 0 ? 0 : (length - 1) / size + 1;
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

}  // namespace dnnkit::onnx::detail
