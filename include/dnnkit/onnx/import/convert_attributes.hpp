// SPDX-License-Identifier: MIT
// ONNX attributes into the members of an operator struct, by the names the operator lists them under, and the converter
// of every operator whose attributes and inputs are ONNX's.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "dnnkit/onnx/import/node_context.hpp"
#include "dnnkit/op/activation.hpp"
#include "dnnkit/op/bits.hpp"
#include "dnnkit/op/block_rearrangement.hpp"
#include "dnnkit/op/cast.hpp"
#include "dnnkit/op/pad.hpp"
#include "dnnkit/op/resize.hpp"
#include "dnnkit/operator/attributes.hpp"

namespace dnnkit::onnx {

// ONNX's words for the enumerators of an attribute, in their order.
template <class E> struct words_of;
template <> struct words_of<pad_mode> {
  static constexpr std::string_view list[] = {"constant", "reflect", "edge", "wrap"};
};
template <> struct words_of<shift_direction> { static constexpr std::string_view list[] = {"LEFT", "RIGHT"}; };
template <> struct words_of<gelu_approximation> { static constexpr std::string_view list[] = {"none", "tanh"}; };
template <> struct words_of<op::depth_to_space_mode> { static constexpr std::string_view list[] = {"DCR", "CRD"}; };
template <> struct words_of<resize_mode> { static constexpr std::string_view list[] = {"nearest", "linear", "cubic"}; };
template <> struct words_of<coordinate_mode> {
  static constexpr std::string_view list[] = {"half_pixel",          "pytorch_half_pixel", "asymmetric",
                                              "align_corners",       "tf_crop_and_resize", "tf_half_pixel_for_nn",
                                              "half_pixel_symmetric"};
};
template <> struct words_of<nearest_rounding> {
  static constexpr std::string_view list[] = {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"};
};

namespace detail {

inline tensor cast_to(node_context& c, tensor t, dtype type) {
  return t.type() == type ? t : c.apply(op::cast{type}, {t});
}

// trans_a -> transA
inline std::string camel_case(std::string_view name) {
  std::string camel;
  bool upper = false;
  for (char c : name) {
    if (c == '_') upper = true;
    else {
      camel += upper && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
      upper = false;
    }
  }
  return camel;
}

template <class List> List list_of(const auto& items, std::string_view name) {
  List list;
  if (items.size() > List::capacity())
    node_context::refuse("attribute '" + std::string(name) + "' has " + std::to_string(items.size()) +
                         " elements, at most " + std::to_string(List::capacity()) + " are supported");
  for (const auto& x : items) list.push_back(static_cast<typename List::value_type>(x));
  return list;
}

// The number of `word` among the enumerators of E; refuses other words.
template <class E> E enumerator(std::string_view attribute, std::string_view word) {
  std::int64_t i = 0;
  for (std::string_view w : words_of<E>::list) {
    if (w == word) return static_cast<E>(i);
    ++i;
  }
  node_context::refuse("attribute '" + std::string(attribute) + "' is '" + std::string(word) +
                       "', which is not supported");
}

template <class T> void read_attribute(node_context& c, std::string_view name, T& x) {
  if (c.node.find(name) == nullptr) return;
  if constexpr (std::same_as<T, bool>) x = c.flag(name, x);
  else if constexpr (std::same_as<T, float>) x = c.real_attribute(name, x);
  else if constexpr (std::same_as<T, dtype>) {
    const std::int64_t number = c.integer(name);
    const auto type = dtype_of(static_cast<std::int32_t>(number));
    if (!type || number > std::numeric_limits<std::int32_t>::max() || narrow_type_of(number) != nullptr)
      node_context::refuse("element type " + data_type_name(static_cast<std::int32_t>(number)) + " is not supported");
    x = *type;
  } else if constexpr (std::is_enum_v<T>) {
    if constexpr (requires { words_of<T>::list; }) x = enumerator<T>(name, c.word(name, ""));
    else x = static_cast<T>(c.integer(name));
  } else if constexpr (std::integral<T>) x = static_cast<T>(c.integer(name));
  else if constexpr (std::same_as<T, float_list>) x = list_of<T>(*c.reals(name), name);
  else if constexpr (std::same_as<T, int_list>) x = list_of<T>(*c.integers(name), name);
  else node_context::refuse("attribute '" + std::string(name) + "' is not supported");
}

}  // namespace detail

// Op with the attributes the node gives; others keep their defaults.
template <class Op> Op attributes_from(node_context& c, Op op = {}) {
  if constexpr (dnnkit::detail::has_attributes<Op>)
    Op::attributes(op, [&](std::string_view name, auto& x) {
      detail::read_attribute(c, name, x);
      if (const std::string camel = detail::camel_case(name); camel != name) detail::read_attribute(c, camel, x);
    });
  return op;
}

// The inputs without those left out at the end.
inline std::vector<tensor> given_inputs(node_context& c) {
  std::vector<tensor> all = c.all_inputs();
  while (!all.empty() && !all.back().present()) all.pop_back();
  return all;
}

template <class Op> void convert_as(node_context& c) { c.out(0, c.apply(attributes_from<Op>(c), given_inputs(c))); }

}  // namespace dnnkit::onnx
