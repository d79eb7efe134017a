// SPDX-License-Identifier: MIT
// ONNX's sequences whose lengths are known while importing, and its optional values that are tensors: neither leaves
// anything in the graph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "dnnkit/onnx/import/node_context.hpp"
#include "dnnkit/op/builtin.hpp"

namespace dnnkit::onnx::detail {

using sequence = std::vector<value_reference>;

inline const sequence& items_of(node_context& c, std::size_t i) {
  const auto& items = c.value(i).items;
  if (!items) node_context::refuse("input " + std::to_string(i) + " is no sequence");
  return *items;
}
inline void out_sequence(node_context& c, sequence items) {
  auto v = std::make_shared<imported_value>();
  v->understood = true;
  v->items = std::make_shared<const sequence>(std::move(items));
  c.alias(0, std::move(v));
}
// A position in a sequence of so many, which may count from the end; `otherwise` where the input is left out.
inline std::size_t position(node_context& c, std::size_t i, std::size_t count, std::size_t otherwise) {
  if (!c.has(i)) return otherwise;
  const auto most = static_cast<std::int64_t>(count);
  const std::int64_t given = c.number(i, "position"), at = given < 0 ? given + most : given;
  node_context::require(at >= 0 && at <= most, "the position is outside the sequence");
  return static_cast<std::size_t>(at);
}

inline void convert_sequence_empty(node_context& c) {
  c.ignore("dtype");
  out_sequence(c, {});
}
inline void convert_sequence_construct(node_context& c) {
  sequence items;
  for (std::size_t i = 0; i < c.inputs(); ++i) items.push_back(c.reference(i));
  out_sequence(c, std::move(items));
}
inline void convert_sequence_insert(node_context& c) {
  sequence items = items_of(c, 0);
  const std::size_t at = position(c, 2, items.size(), items.size());
  items.insert(items.begin() + static_cast<std::ptrdiff_t>(at), c.reference(1));
  out_sequence(c, std::move(items));
}
inline void convert_sequence_erase(node_context& c) {
  sequence items = items_of(c, 0);
  node_context::require(!items.empty(), "the sequence is empty");
  const std::size_t at = position(c, 1, items.size(), items.size() - 1);
  node_context::require(at < items.size(), "the position is outside the sequence");
  items.erase(items.begin() + static_cast<std::ptrdiff_t>(at));
  out_sequence(c, std::move(items));
}
inline void convert_sequence_at(node_context& c) {
  const sequence& items = items_of(c, 0);
  const std::size_t at = position(c, 1, items.size(), items.size());
  node_context::require(at < items.size(), "the position is outside the sequence");
  c.alias(0, items[at]);
}
inline void convert_sequence_length(node_context& c) {
  const auto count = static_cast<std::int64_t>(items_of(c, 0).size());
  c.out(0, known_elements{i64, {}, {known_element::of_number(count)}});
}

inline void convert_concat_from_sequence(node_context& c) {
  const sequence& items = items_of(c, 0);
  node_context::require(!items.empty(), "the sequence is empty");
  const std::int64_t axis = c.integer("axis");
  const bool is_new = c.flag("new_axis", false);
  std::vector<tensor> parts;
  for (const value_reference& v : items) {
    const tensor x = c.state.materialise(*v);
    parts.push_back(is_new ? c.apply(op::unsqueeze{{axis}}, {x}) : x);
  }
  c.out(0, parts.size() == 1 ? parts[0] : c.apply(op::concat{axis}, parts));
}

// Parts of the extents that the second input lists, or all of its one extent but for the last; without it, of 1.
inline void convert_split_to_sequence(node_context& c) {
  const tensor x = c.in(0);
  const std::int64_t given = c.integer("axis", 0), axis = given < 0 ? given + x.rank() : given;
  node_context::require(axis >= 0 && axis < x.rank(), "axis is outside the input");
  const bool keeps = c.flag("keepdims", true);
  const dim extent = x.size(axis);
  constexpr std::int64_t most = 4096, largest = std::int64_t{1} << 40;
  std::vector<std::int64_t> sizes;
  if (c.has(1) && c.rank(1) > 0) {
    sizes = c.numbers(1, "split");
  } else {
    const std::int64_t each = c.has(1) ? c.number(1, "split") : 1;
    constexpr std::string_view few = "the extent to split must be known, and the parts at most 4096";
    node_context::require_known({extent}, few);
    node_context::require(each > 0 && extent.value() / each <= most, few);
    for (std::int64_t begin = 0; begin < extent.value(); begin += each)
      sizes.push_back(extent.value() - begin < each ? extent.value() - begin : each);
  }
  node_context::require(sizes.size() <= static_cast<std::size_t>(most), "the parts are more than 4096");
  sequence items;
  std::int64_t begin = 0;
  for (const std::int64_t size : sizes) {
    node_context::require(size >= 0 && size < largest && (!extent.is_known() || size <= extent.value() - begin),
                          "the parts are larger than the input");
    const tensor part = c.apply(op::split{axis, begin, size}, {x});
    begin += size;
    const bool squeezes = !keeps && !c.has(1);
    auto v = std::make_shared<imported_value>();
    v->understood = true;
    v->data = squeezes ? c.apply(op::squeeze{{axis}}, {part}) : part;
    v->type = v->data.owner().value().at(v->data.id()).type;
    v->from = c.value(0).from;
    items.push_back(std::move(v));
  }
  out_sequence(c, std::move(items));
}

// Whether there is a value: an input that is there, or none.
inline void convert_optional_has_element(node_context& c) {
  c.out(0, known_elements{boolean, {}, {known_element::of_number(c.has(0) ? 1 : 0)}});
}
inline void convert_optional_get_element(node_context& c) { c.alias(0, c.reference(0)); }

}  // namespace dnnkit::onnx::detail
