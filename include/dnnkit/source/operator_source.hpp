// SPDX-License-Identifier: MIT
// Operators as generated code spells them: the function or type to name, and attributes that differ from their
// defaults.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "dnnkit/op/builtin.hpp"
#include "dnnkit/source/escapes.hpp"
#include "dnnkit/source/identifiers.hpp"
#include "dnnkit/source/literals.hpp"
#include "dnnkit/source/operator_calls.hpp"

namespace dnnkit::generation {

// One number of an attribute, or a word (an enumerator, a truth value) that is copied into the code as it is.
struct attribute_element {
  enum class kind : std::uint8_t { integer, real, dimension, word };
  kind is = kind::integer;
  std::int64_t integer = 0;  // of a character too
  double real = 0;
  dim dimension = 0;
  std::string word;
};

struct attribute_source {
  std::string name;  // of the member
  bool is_list = false, is_default = false;
  std::vector<attribute_element> elements;
};

struct operator_source {
  std::string type;               // dk::op::conv
  std::string function;           // dk::conv; empty when there is none with this meaning
  std::size_t most_operands = 0;  // of the function
  std::vector<attribute_source> attributes;
};

template <class T> attribute_element element_source(const T& x) {
  attribute_element e;
  using kind = attribute_element::kind;
  if constexpr (std::same_as<T, dim>) e.is = kind::dimension, e.dimension = x;
  else if constexpr (std::same_as<T, bool>) e.is = kind::word, e.word = x ? "true" : "false";
  else if constexpr (std::same_as<T, dtype>) e.is = kind::word, e.word = dtype_literal(x);
  else if constexpr (std::is_enum_v<T>) e.is = kind::word, e.word = enumerator_spelling(x);
  else if constexpr (std::same_as<T, char>) e.is = kind::word, e.word = character_literal(x), e.integer = x;
  else if constexpr (std::floating_point<T>) e.is = kind::real, e.real = static_cast<double>(x);
  else e.integer = static_cast<std::int64_t>(x);
  return e;
}

template <class Op> std::vector<attribute_source> attribute_sources(const Op& op) {
  std::vector<attribute_source> list;
  if constexpr (detail::has_attributes<Op>)
    Op::attributes(op, [&](std::string_view name, const auto& x) {
      attribute_source a{std::string(name), false, false, {}};
      if (name == "shape") {  // the name of a type: members have others
        if constexpr (requires { op.dims; }) a.name = "dims";
        if constexpr (requires { op.target; }) a.name = "target";
      }
      if constexpr (dnnkit::detail::is_list<std::remove_cvref_t<decltype(x)>>) {
        a.is_list = true;
        for (const auto& e : x) a.elements.push_back(element_source(e));
      } else a.elements.push_back(element_source(x));
      list.push_back(std::move(a));
    });
  return list;
}

inline bool equal(const attribute_element& a, const attribute_element& b) {
  return a.is == b.is && a.integer == b.integer &&
         std::bit_cast<std::int64_t>(a.real) == std::bit_cast<std::int64_t>(b.real) && a.dimension == b.dimension &&
         a.word == b.word;
}

// "dk::conv" of an operator whose function takes the operands and then the attributes (operator/function.hpp), as most
// do. Nothing of the others, which are applied by dk::apply, or spelled in a way of their own (source/calls.hpp).
template <class Op> std::string function_of() {
  constexpr dnnkit::detail::operator_call call = dnnkit::detail::call_of<Op>;
  using kind = dnnkit::detail::operator_call::kind;
  if (call.by == kind::function) return "dk::" + std::string(call.text);
  constexpr std::string_view operand = "(x)";
  if (call.by != kind::own || !call.text.ends_with(operand)) return "";
  return "dk::" + std::string(call.text.substr(0, call.text.size() - operand.size()));
}

template <class Op> operator_source operator_source_of(const std::int64_t* codes) {
  operator_source s;
  s.type = type_spelling<Op>();
  if (s.type.find('<') != std::string::npos) s.type = "dk::op::" + identifier(Op::name, "");  // an alias has that name
  s.function = function_of<Op>();
  s.attributes = attribute_sources(decode<Op>(codes));
  const auto defaults = attribute_sources(Op{});
  for (std::size_t i = 0; i < defaults.size(); ++i) {
    const auto &x = s.attributes[i].elements, &y = defaults[i].elements;
    s.attributes[i].is_default = std::equal(x.begin(), x.end(), y.begin(), y.end(), equal);
  }
  return s;
}

// The way from a node to its operator's type: position in Set.
template <class Set> struct operator_sources;
template <class... Ops> struct operator_sources<op_set<Ops...>> {
  static constexpr std::array<operator_source (*)(const std::int64_t*), sizeof...(Ops)> table{
      &operator_source_of<Ops>...};
};

}  // namespace dnnkit::generation
