// SPDX-License-Identifier: MIT
// From an operator type to the function that applies it: `inline constexpr function<op::conv> conv;` makes
// conv(x, w, b, {.pads = {1, 1, 1, 1}}) append a Conv node to the graph x belongs to.
#pragma once

#include <concepts>

#include "dnnkit/op/op_info.hpp"

namespace dnnkit {

template <class T>
concept graph_tensor = std::same_as<T, tensor>;  // a template parameter, because tensor is only complete in layer 3

template <operator_type Op> struct function {
  template <graph_tensor T> constexpr T operator()(T a, const Op& attributes = {}) const {
    return a.owner().apply(attributes, {a});
  }
  template <graph_tensor T> constexpr T operator()(T a, T b, const Op& attributes = {}) const {
    return a.owner().apply(attributes, {a, b});
  }
  template <graph_tensor T> constexpr T operator()(T a, T b, T c, const Op& attributes = {}) const {
    return a.owner().apply(attributes, {a, b, c});
  }
  template <graph_tensor T> constexpr T operator()(T a, T b, T c, T d, T e, const Op& attributes = {}) const {
    return a.owner().apply(attributes, {a, b, c, d, e});
  }
};

}  // namespace dnnkit
