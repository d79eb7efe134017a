// SPDX-License-Identifier: MIT
// What the inputs of an operator are called: a member `static constexpr std::string_view operands = "x, weight, bias"`
// of its type, or by how many there are: x; a, b of element-wise operators; x, ... of those that take any number.
#pragma once

#include <cstddef>
#include <string_view>

#include "dnnkit/operator/element_types.hpp"

namespace dnnkit {

namespace detail {

constexpr std::size_t count_names(std::string_view list) {
  std::size_t count = list.empty() ? 0 : 1;
  for (char c : list) count += c == ',';
  return count;
}

template <class Op> constexpr std::string_view declared_operands() {
  constexpr std::size_t most = most_inputs<Op>();
  if constexpr (requires { Op::operands; }) {
    static_assert(count_names(Op::operands) == most, "dnnkit: an operator's `operands` names each of its inputs");
    return Op::operands;
  } else if constexpr (most == ~std::size_t{0}) return "x, ...";
  else if constexpr (most == 0) return "";
  else if constexpr (most == 1) return "x";
  else {
    static_assert(most == 2 && Op::kind == form::elementwise,
                  "dnnkit: an operator of several inputs says what they are called: `operands`");
    return "a, b";
  }
}

}  // namespace detail

// "x, weight, bias"
template <class Op> inline constexpr std::string_view operands_of = detail::declared_operands<Op>();

}  // namespace dnnkit
