// SPDX-License-Identifier: MIT
// Element-wise operators of any number of inputs, said by those of two: ONNX's Sum and Mean.
#pragma once

#include <cstddef>
#include <source_location>
#include <string_view>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/op/arithmetic.hpp"
#include "dnnkit/op/movement.hpp"

namespace dnnkit {

namespace op {

struct sum {
  static constexpr std::string_view name = "Sum";
  static constexpr form kind = form::composite;
  static constexpr element_kinds accepts = element_kinds::floating;
  static constexpr traits properties{};
  static constexpr void infer(inference& c) { c.out_broadcast(c.type(0)); }
  template <class T> static constexpr T expand(const vector<T>& in) {
    if (in.size() == 1) return dnnkit::identity(in[0]);
    T total = in[0];
    for (std::size_t i = 1; i < in.size(); ++i) total = dnnkit::add(total, in[i]);
    return total;
  }
};

struct mean {
  static constexpr std::string_view name = "Mean";
  static constexpr form kind = form::composite;
  static constexpr element_kinds accepts = element_kinds::floating;
  static constexpr traits properties{};
  static constexpr void infer(inference& c) { c.out_broadcast(c.type(0)); }
  template <class T> static constexpr T expand(const vector<T>& in) {
    if (in.size() == 1) return dnnkit::identity(in[0]);
    return sum::expand(in) * (1 / static_cast<double>(in.size()));
  }
};

}  // namespace op

template <graph_tensor T = tensor>
constexpr T sum(detail::tensor_list<T> inputs, std::source_location caller = std::source_location::current()) {
  return detail::apply_to_list<T>(op::sum{}, inputs, caller);
}
template <graph_tensor T = tensor>
constexpr T mean(detail::tensor_list<T> inputs, std::source_location caller = std::source_location::current()) {
  return detail::apply_to_list<T>(op::mean{}, inputs, caller);
}

}  // namespace dnnkit
