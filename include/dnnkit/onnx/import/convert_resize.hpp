// SPDX-License-Identifier: MIT
// ONNX's Resize of opsets 10 to 19, and Upsample.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "dnnkit/onnx/import/convert_movement.hpp"
#include "dnnkit/op/builtin.hpp"
#include "dnnkit/operator/scalar.hpp"

namespace dnnkit::onnx::detail {

inline float_list to_float_list(const std::vector<double>& list, std::string_view name) {
  std::vector<float> narrow;
  for (double x : list) narrow.push_back(static_cast<float>(x));
  return list_of<float_list>(narrow, name);
}

// The named axes' numbers among all axes, 1 elsewhere.
template <class T>
std::vector<T> for_all_axes(node_context& c, const std::vector<T>& given, const std::vector<T>& others) {
  const auto axes = c.integers("axes");
  if (!axes) return given;
  node_context::require(axes->size() == given.size(), "axes and sizes or scales must be equally long");
  std::vector<T> all = others;
  const auto rank = static_cast<std::int64_t>(all.size());
  for (std::size_t i = 0; i < axes->size(); ++i) {
    const std::int64_t a = (*axes)[i] < 0 ? (*axes)[i] + rank : (*axes)[i];
    node_context::require(a >= 0 && a < rank, "axes names an axis the input lacks");
    all[static_cast<std::size_t>(a)] = given[i];
  }
  return all;
}

// One scale for the named axes: the largest by which the output fits into the sizes (not_larger), or the smallest by
// which it covers them. It maps coordinates as well, in single precision as ONNX Runtime computes it; the sizes are
// what it gives, rounded.
inline void keep_aspect_ratio(node_context& c, op::resize& r) {
  const std::string policy = c.word("keep_aspect_ratio_policy", "stretch");
  if (policy == "stretch") return;
  const bool fits = policy == "not_larger";
  if (!fits && policy != "not_smaller")
    node_context::refuse("attribute 'keep_aspect_ratio_policy' is '" + policy + "', which is not supported");
  const std::size_t rank = r.sizes.size();
  const std::vector<std::int64_t> axes = c.integers("axes").value_or(std::vector<std::int64_t>{});
  const std::vector<bool> named = for_all_axes(c, std::vector<bool>(axes.empty() ? rank : axes.size(), true),
                                               std::vector<bool>(rank, axes.empty()));
  const auto extent = [&](std::size_t d) { return static_cast<float>(c.dims(0)[d].value()); };
  constexpr std::string_view needs = "keep_aspect_ratio_policy needs known extents";
  std::vector<dim> compared;
  for (std::size_t d = 0; d < rank; ++d)
    if (named[d]) compared.insert(compared.end(), {r.sizes[d], c.dims(0)[d]});
  node_context::require_known(compared, needs);
  float scale = -1;
  for (std::size_t d = 0; d < rank; ++d) {
    if (!named[d]) continue;
    node_context::require(c.dims(0)[d].value() > 0, needs);
    const float s = static_cast<float>(r.sizes[d].value()) / extent(d);
    if (scale < 0 || (fits ? s < scale : s > scale)) scale = s;
  }
  for (std::size_t d = 0; d < rank; ++d) {
    r.scales.push_back(named[d] ? scale : 1);
    if (named[d]) r.sizes[d] = to_integer(std::round(scale * extent(d)));
  }
}

// The scales, or the sizes where some scale depends on extents: it gives a whole number of positions, then.
inline void scale_by(node_context& c, op::resize& r, std::size_t input) {
  const known_elements& k = c.elements(input, "the scales");
  const bool sizes =
      std::any_of(k.items.begin(), k.items.end(), [](const known_element& e) { return !e.is_numeric(); });
  if (!sizes) {
    r.scales =
        to_float_list(for_all_axes(c, c.reals(input, "the scales"), std::vector<double>(c.rank(0), 1.0)), "scales");
    return;
  }
  std::size_t count = 0;
  node_context::require(k.countable(count) && count == c.rank(0) && !c.has_attribute("axes"),
                        "scales that are quotients of extents must be given for all axes");
  for (std::size_t d = 0; d < count; ++d) {
    const known_element& e = k.at(d);
    const dim whole = e.is_fraction() ? e.expression : c.arithmetic.to_dim(e);
    const dim size =
        whole.is_unknown() ? whole : c.table().exact_div(c.table().mul(c.dims(0)[d], whole), e.denominator);
    node_context::require(!size.is_unknown(),
                          "a scale that depends on extents must be a size divided by the input's extent");
    r.sizes.push_back(size);
  }
}

// Inputs: X, scales in opset 10; X, roi, scales, sizes later.
inline void convert_resize(node_context& c) {
  op::resize r = attributes_from<op::resize>(c);
  const std::size_t rank = c.rank(0), scales = c.opset < 11 ? 1 : 2, sizes = 3;
  if (c.opset < 11) {
    r.coordinate_transformation_mode = coordinate_mode::asymmetric;
    r.nearest_mode = nearest_rounding::lower;
  }
  if (r.coordinate_transformation_mode == coordinate_mode::tf_crop_and_resize) {
    const std::vector<double> roi = c.reals(1, "roi");
    const auto half = static_cast<std::ptrdiff_t>(roi.size() / 2);
    std::vector<double> ends =
        for_all_axes(c, std::vector<double>(roi.begin() + half, roi.end()), std::vector<double>(rank, 1.0));
    std::vector<double> part =
        for_all_axes(c, std::vector<double>(roi.begin(), roi.begin() + half), std::vector<double>(rank, 0.0));
    part.insert(part.end(), ends.begin(), ends.end());
    r.roi = to_float_list(part, "roi");
  }
  if (c.has(sizes) && !(c.known(sizes) && c.known(sizes)->items.empty())) {
    std::vector<dim> same;
    for (dim d : c.dims(0)) same.push_back(d);
    r.sizes = to_shape(for_all_axes(c, c.extents(sizes, "the sizes"), same), "sizes");
    for (dim d : r.sizes) node_context::require(!d.is_unknown(), "the sizes must be known");
    keep_aspect_ratio(c, r);
  } else {
    c.ignore("keep_aspect_ratio_policy");  // which is about sizes
    scale_by(c, r, scales);
  }
  c.out(0, c.apply(r, {c.in(0)}));
}

inline void convert_upsample(node_context& c) {
  op::resize r;
  r.coordinate_transformation_mode = coordinate_mode::asymmetric;
  r.nearest_mode = nearest_rounding::lower;
  r.mode = enumerator<resize_mode>("mode", c.word("mode", "nearest"));
  if (c.opset < 9) {
    const auto scales = c.reals("scales");
    node_context::require(scales.has_value(), "has no scales");
    r.scales = list_of<float_list>(*scales, "scales");
  } else {
    scale_by(c, r, 1);
  }
  c.out(0, c.apply(r, {c.in(0)}));
}

}  // namespace dnnkit::onnx::detail
