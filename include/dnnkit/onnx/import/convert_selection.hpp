// SPDX-License-Identifier: MIT
// ONNX operators that choose, order or enumerate elements, and whose counts and axes are inputs.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dnnkit/onnx/import/convert_attributes.hpp"
#include "dnnkit/onnx/import/convert_movement.hpp"
#include "dnnkit/op/builtin.hpp"

namespace dnnkit::onnx {

template <> struct words_of<scatter_reduction> {
  static constexpr std::string_view list[] = {"none", "add", "mul", "max", "min"};
};

namespace detail {

// The number of elements from the bounds, which must be known; the elements themselves by start and delta.
inline void convert_range(node_context& c) {
  node_context::require(c.integer("stash_type", 1) == 1, "only stash_type = 1 is supported");
  const auto bound = [&](std::size_t i, std::string_view what) {
    const known_elements& k = c.elements(i, what);
    node_context::require(k.items.size() == 1, "start, limit and delta must be one number each");
    return k.items[0];
  };
  const known_element start = bound(0, "start"), limit = bound(1, "limit"), delta = bound(2, "delta");
  dim count = dim::unknown();
  if (start.is_numeric() && limit.is_numeric() && delta.is_numeric()) {
    node_context::require(delta.as_real() != 0, "delta must not be 0");
    const double n = std::ceil((limit.as_real() - start.as_real()) / delta.as_real());
    node_context::require(n < 0x1p31, "the range has too many elements");
    count = n > 0 ? static_cast<std::int64_t>(n) : 0;
  } else {  // as a quotient of whole numbers: what ranges of sizes are bounded by is no other
    const known_element steps = c.arithmetic.div(c.arithmetic.sub(limit, start), delta, false);
    const dim n = c.arithmetic.to_dim(c.arithmetic.rounded(steps, true));
    if (!n.is_unknown()) count = c.table().max(n, dim(0));
  }
  node_context::require(!count.is_unknown(), "the number of elements is not known");
  c.out(0, c.apply(op::range{count}, {c.in(0), c.in(2)}));
}

template <class Op> void convert_cumulative(node_context& c) {
  Op fold = attributes_from<Op>(c);
  fold.axis = c.number(1, "the axis");
  c.out(0, c.apply(fold, {c.in(0)}));
}

inline void convert_trilu(node_context& c) {
  op::trilu part;
  part.upper = c.flag("upper", true);
  if (c.has(1)) part.k = c.number(1, "k");
  c.out(0, c.apply(part, {c.in(0)}));
}

inline void convert_eye_like(node_context& c) {
  op::eye_like eye;
  eye.k = c.integer("k", 0);
  eye.to = c.type(0);
  if (c.has_attribute("dtype")) read_attribute(c, "dtype", eye.to);
  c.out(0, c.apply(eye, {c.in(0)}));
}

// Indices of other number types are converted.
inline void convert_one_hot(node_context& c) {
  op::one_hot hot;
  hot.axis = c.integer("axis", -1);
  const std::vector<double> depth = c.reals(1, "the depth");
  node_context::require(depth.size() == 1 && depth[0] >= 0 && depth[0] < 0x1p31, "the depth must be one number");
  hot.depth = static_cast<std::int64_t>(depth[0]);
  tensor indices = c.in(0);
  if (indices.type() != i64 && indices.type() != i32) indices = c.apply(op::cast{i64}, {indices});
  c.out(0, c.apply(hot, {indices, c.in(2)}));
}

// k is an attribute up to opset 9.
inline void convert_top_k(node_context& c) {
  op::top_k top;
  if (c.opset < 10) top.k = c.arithmetic.to_dim(known_element::of_number(c.integer("k")));
  else top.k = c.extent(1, "k");
  top.axis = c.integer("axis", -1);
  top.largest = c.flag("largest", true);
  top.sorted = c.flag("sorted", true);
  const tensor x = c.in(0);
  for (std::size_t i = 0; i < 2; ++i) {
    top.output = static_cast<std::int64_t>(i);
    if (c.wants(i)) c.out(i, c.apply(top, {x}));
  }
}

inline void convert_compress(node_context& c) {
  op::compress compress;
  compress.flatten = !c.has_attribute("axis");
  compress.axis = c.integer("axis", 0);
  c.out(0, c.apply(compress, {c.in(0), c.in(1)}));
}

inline void convert_unique(node_context& c) {
  op::unique unique;
  unique.flatten = !c.has_attribute("axis");
  unique.axis = c.integer("axis", 0);
  unique.sorted = c.flag("sorted", true);
  const tensor x = c.in(0);
  constexpr std::int64_t order[] = {0, 1, 2, 3};  // ONNX: Y, indices, inverse_indices, counts
  for (std::size_t i = 0; i < 4; ++i) {
    unique.output = order[i];
    if (c.wants(i)) c.out(i, c.apply(unique, {x}));
  }
}

inline void convert_non_max_suppression(node_context& c) {
  op::non_max_suppression nms;
  nms.center_point_box = c.flag("center_point_box", false);
  if (c.has(2)) nms.max_output_boxes_per_class = c.number(2, "max_output_boxes_per_class");
  if (c.has(3)) nms.iou_threshold = static_cast<float>(c.real(3, "iou_threshold"));
  if (c.has(4)) nms.score_threshold = static_cast<float>(c.real(4, "score_threshold"));
  c.out(0, c.apply(nms, {c.in(0), c.in(1)}));
}

// Scatter is what ScatterElements was called up to opset 10.
inline void convert_scatter_elements(node_context& c) {
  c.out(0, c.apply(attributes_from<op::scatter_elements>(c), c.all_inputs()));
}
inline void convert_scatter_nd(node_context& c) {
  c.out(0, c.apply(attributes_from<op::scatter_nd>(c), c.all_inputs()));
}

}  // namespace detail

}  // namespace dnnkit::onnx
