// SPDX-License-Identifier: MIT
// ONNX's Resize of opsets 10 to 19, and Upsample.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "dnnkit/onnx/convert_movement.hpp"
#include "dnnkit/op/builtin.hpp"

namespace dnnkit::onnx::detail {

inline float_list to_float_list(const std::vector<double>& list, std::string_view name) {
  std::vector<float> narrow;
  for (double x : list) narrow.push_back(static_cast<float>(x));
  return list_of<float_list>(narrow, name);
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
    r.scales = to_float_list(c.reals(1, "the scales"), "scales");
  }
  c.out(0, c.apply(r, {c.in(0)}));
}

}  // namespace dnnkit::onnx::detail
