// SPDX-License-Identifier: MIT
// From an operator type to the function that applies it: `inline constexpr function<op::conv> conv;` makes
// conv(x, w, b, {.pads = {1, 1, 1, 1}}) append a Conv node to the graph x belongs to.
//
// `caller` is the line of the program that applies the operator: a model that is wrong there is told so. A function of
// the user's own that applies operators can take a parameter of this kind too and hand it on; its callers are then
// named.
#pragma once

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <source_location>
#include <type_traits>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/operator/attribute_names.hpp"
#include "dnnkit/operator/op_info.hpp"

namespace dnnkit {

// What functions of operators may be applied to besides tensors (rewrite/pattern.hpp).
template <class P>
concept pattern_of_operators = requires {
  P::is_pattern;
};

namespace detail {
// What the first of these that is there belongs to; any may be an optional input left out.
template <graph_tensor T> constexpr auto& owner_of(const T* inputs, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    if (inputs[i].present()) return inputs[i].owner();
  return T{}.owner();
}
template <graph_tensor T> constexpr auto& owner_of(std::initializer_list<T> inputs) {
  return owner_of(inputs.begin(), inputs.size());
}

// The parameter of an operator that takes any number of tensors: a list in braces, or a vector of them. Nothing is
// deduced from it, since braces have no type.
template <graph_tensor T> using tensor_list = const std::type_identity_t<vector<T>>&;
template <graph_tensor T, operator_type Op>
constexpr T apply_to_list(const Op& op, const vector<T>& inputs, const std::source_location& caller) {
  return owner_of(inputs.data(), inputs.size()).apply(op, inputs, caller);
}
}  // namespace detail

// The last tensor of a call is one that is written as such: `{}` there means the attributes' defaults. (Before it, `{}`
// is an optional input left out.)
template <operator_type Op> struct function {
  using place = std::source_location;

  template <graph_tensor T>
  constexpr T operator()(T a, const Op& attributes = {}, place caller = place::current()) const {
    return a.owner().apply(attributes, {a}, caller);
  }
  template <graph_tensor T, std::same_as<T> Last>
  constexpr T operator()(T a, Last b, const Op& attributes = {}, place caller = place::current()) const {
    return detail::owner_of({a, b}).apply(attributes, {a, b}, caller);
  }
  template <graph_tensor T, std::same_as<T> Last>
  constexpr T operator()(T a, T b, Last c, const Op& attributes = {}, place caller = place::current()) const {
    return detail::owner_of({a, b, c}).apply(attributes, {a, b, c}, caller);
  }
  template <graph_tensor T, std::same_as<T> Last>
  constexpr T operator()(T a, T b, T c, T d, Last e, const Op& attributes = {}, place caller = place::current()) const {
    return detail::owner_of({a, b, c, d, e}).apply(attributes, {a, b, c, d, e}, caller);
  }

  // Patterns of rewriting rules.
  template <pattern_of_operators P, std::same_as<P>... More>
  constexpr P operator()(const P& first, const More&... more) const {
    return P::apply(Op{}, first, more...);
  }
  template <pattern_of_operators P> constexpr P operator()(const P& x, const Op& attributes) const {
    return P::apply(attributes, x);
  }

  // Values that stand by themselves, not in braces.
  template <class T = tensor, class... More>
  requires(detail::bare_value<More, Op> || ...) constexpr T operator()(detail::any_tensor a, const More&...) const {
    return detail::refuse_values<Op, T>(a);
  }

  // Attributes that this operator does not have: chosen where nothing above fits, to name those that it has.
#if defined(__clang__) || __GNUC__ >= 13
  template <class T = tensor, class Known = detail::attribute_list<Op>>
  constexpr T operator()(detail::any_tensor, ...) const = delete;
#else
  template <class T = tensor> constexpr T operator()(detail::any_tensor a, detail::any_braces) const {
    return detail::refuse_attributes<Op, T>(a);
  }
  template <class T = tensor>
  constexpr T operator()(detail::any_tensor a, detail::any_tensor, detail::any_braces) const {
    return detail::refuse_attributes<Op, T>(a);
  }
  template <class T = tensor>
  constexpr T operator()(detail::any_tensor a, detail::any_tensor, detail::any_tensor, detail::any_braces) const {
    return detail::refuse_attributes<Op, T>(a);
  }
#endif
};

}  // namespace dnnkit
