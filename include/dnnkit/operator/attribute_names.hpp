// SPDX-License-Identifier: MIT
// The names of an operator's attributes as template arguments, for compilers to print where a program misspells one.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <source_location>
#include <string_view>
#include <utility>

#include "dnnkit/core/text.hpp"
#include "dnnkit/operator/attributes.hpp"

namespace dnnkit {

class builder;  // of a graph, and
class tensor;   // a value of a graph under construction (graph/builder.hpp)

template <class T>
concept graph_tensor = std::same_as<T, tensor>;  // a template parameter, because tensor is only complete in layer 3

namespace detail {

template <class Op> constexpr std::size_t count_attributes() {
  std::size_t count = 0;
  if constexpr (has_attributes<Op>) {
    Op op{};
    Op::attributes(op, [&](const char*, const auto&) { ++count; });
  }
  return count;
}
template <class Op> constexpr std::string_view attribute_name(std::size_t wanted) {
  std::string_view name;
  std::size_t i = 0;
  if constexpr (has_attributes<Op>) {
    Op op{};
    Op::attributes(op, [&](const char* s, const auto&) {
      if (i++ == wanted) name = s;
    });
  }
  return name;
}

template <fixed_string Operator, fixed_string... Attributes> struct attributes_of {
  static constexpr bool fit = false;
};
template <class Op, std::size_t... I> constexpr auto list_attributes(std::index_sequence<I...>) {
  return attributes_of<to_fixed<Op::name.size()>(Op::name),
                       to_fixed<attribute_name<Op>(I).size()>(attribute_name<Op>(I))...>{};
}
template <class Op>
using attribute_list = decltype(list_attributes<Op>(std::make_index_sequence<count_attributes<Op>()>{}));

// Any tensor, and anything in braces. g++ 12 looks at the values in braces, not at the names before them, when a
// constructor takes an initializer_list; clang and g++ 13 refuse names there.
struct any_tensor {
  template <graph_tensor T> constexpr any_tensor(T t) : owner(&t.owner()), id(t.id()) {}
  builder* owner;
  std::int32_t id;
};
struct any_value {
  constexpr any_value(const auto&) {}
  constexpr any_value(std::initializer_list<any_value>) {}
};
struct any_braces {
  constexpr any_braces(std::initializer_list<any_value>) {}
};

// What is neither a tensor, nor the attributes of the operator, nor the line of the program.
template <class T, class Op>
concept bare_value =
    !graph_tensor<T> && !std::convertible_to<const T&, Op> && !std::convertible_to<const T&, std::source_location>;

// A tensor to go on with: the mistake is said by an assertion, and what follows from it in the model is not said as
// well.
template <class T> constexpr T refused(any_tensor a) {
  const T t(a.owner, a.id);
  t.owner().value().error = said_by_compiler;
  return t;
}
template <class Op, class T> constexpr T refuse_values(any_tensor a) {
  static_assert(attribute_list<Op>::fit,
                "dnnkit: attributes stand in braces with their names, as in {.alpha = 0.1f}; attributes_of<...> lists "
                "those of this operator (a number that is an operand is g.scalar(2))");
  return refused<T>(a);
}
template <class Op, class T> constexpr T refuse_attributes(any_tensor a) {
  static_assert(
      attribute_list<Op>::fit,
      "dnnkit: the braces hold something that is no attribute of this operator, or no value of one, or not in "
      "the order of its attributes, which attributes_of<...> lists");
  return refused<T>(a);
}

}  // namespace detail

}  // namespace dnnkit
