// SPDX-License-Identifier: MIT
// A list of operator types, and the way back from a graph's values to types: position in the list.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include "dnnkit/operator/op_info.hpp"

namespace dnnkit {

namespace detail {

// A type by its position in a list: one conversion to a base class, however long the list is. (std::tuple_element
// instantiates a template for each step on the way.)
template <std::size_t I, class T> struct numbered { using type = T; };
template <class Indices, class... T> struct numbered_list;
template <std::size_t... I, class... T> struct numbered_list<std::index_sequence<I...>, T...> : numbered<I, T>... {};
template <std::size_t I, class T> numbered<I, T> type_at(const numbered<I, T>&);

}  // namespace detail

template <class... Ops> struct op_set {
  static constexpr std::size_t size = sizeof...(Ops);
  static constexpr std::array<operator_id, size> ids{id_of<Ops>...};

  // No operator is listed twice.
  static constexpr bool distinct = [] {
    for (std::size_t i = 0; i < size; ++i)
      for (std::size_t j = i + 1; j < size; ++j)
        if (ids[i] == ids[j]) return false;
    return true;
  }();

  // Position of the operator with this identity; `size` when the list does not hold it.
  static constexpr std::size_t find(operator_id id) {
    for (std::size_t i = 0; i < size; ++i)
      if (ids[i] == id) return i;
    return size;
  }
  template <std::size_t I>
  using at = typename decltype(detail::type_at<I>(
      std::declval<detail::numbered_list<std::index_sequence_for<Ops...>, Ops...>>()))::type;

  template <class... More> constexpr op_set<Ops..., More...> operator+(op_set<More...>) const { return {}; }
};

}  // namespace dnnkit
