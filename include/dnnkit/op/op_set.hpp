// SPDX-License-Identifier: MIT
// A list of operator types, and the way back from a graph's values to types: position in the list.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <tuple>

#include "dnnkit/op/op_info.hpp"

namespace dnnkit {

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
  template <std::size_t I> using at = std::tuple_element_t<I, std::tuple<Ops...>>;

  template <class... More> constexpr op_set<Ops..., More...> operator+(op_set<More...>) const { return {}; }
};

}  // namespace dnnkit
