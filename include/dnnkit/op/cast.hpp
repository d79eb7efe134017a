// SPDX-License-Identifier: MIT
// Conversion between element types: ONNX's Cast.
#pragma once

#include <string_view>

#include "dnnkit/operator/function.hpp"

namespace dnnkit {

namespace op {

// Storing an element converts it to the element type of the output, so that is all Cast needs: to floating-point types
// rounded to the nearest, to bool whether it is not 0, to integers without the fraction. What is outside 64 bits
// becomes the nearest number of 64 bits, and NaN 0, of which narrower types keep the lowest bits. (ONNX leaves these
// open; ONNX Runtime does what the processor does.)
struct cast {
  dtype to = f32;

  static constexpr std::string_view name = "Cast";
  static constexpr form kind = form::elementwise;
  static constexpr element_kinds accepts = element_kinds::any;
  static constexpr bool symbolic = true;
  static constexpr traits properties{.laws = algebra::projection};
  static constexpr void attributes(auto& self, auto&& visit) { visit("to", self.to); }
  constexpr dtype result(dtype) const { return to; }

  template <class T> static constexpr T apply(T x) { return x; }
};

}  // namespace op

inline constexpr function<op::cast> cast;

}  // namespace dnnkit
