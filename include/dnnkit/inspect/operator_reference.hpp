// SPDX-License-Identifier: MIT
// docs/operators.md: the operators of a set as Markdown tables, from their own declarations.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "dnnkit/cpu/families.hpp"
#include "dnnkit/operator/attributes.hpp"
#include "dnnkit/operator/classes.hpp"
#include "dnnkit/operator/op_set.hpp"
#include "dnnkit/operator/operands.hpp"
#include "dnnkit/source/operator_calls.hpp"

namespace dnnkit {

namespace detail {

// --- names that the compiler knows: of a type, and of an enumerator ("" where there is none of that value)
constexpr std::string_view behind_last_colon(std::string_view name) {
  const std::size_t colon = name.rfind(':');
  return colon == std::string_view::npos ? name : name.substr(colon + 1);
}
constexpr std::string_view argument_of(std::string_view function, std::string_view before) {
  const std::size_t begin = function.find(before) + before.size();
  return function.substr(begin, function.find_first_of(";]", begin) - begin);
}
template <class T> constexpr std::string_view type_name() {
  return behind_last_colon(argument_of(__PRETTY_FUNCTION__, "T = "));
}
template <auto V> constexpr std::string_view enumerator_name() {
  const std::string_view name = argument_of(__PRETTY_FUNCTION__, "V = ");
  return name.front() == '(' ? std::string_view() : behind_last_colon(name);
}
template <class E> std::array<std::string_view, 16> enumerator_names() {
  return []<std::size_t... I>(std::index_sequence<I...>) { return std::array{enumerator_name<static_cast<E>(I)>()...}; }
  (std::make_index_sequence<16>());
}

// --- attributes
template <class T> std::string attribute_type() {
  if constexpr (std::is_same_v<T, std::int64_t>) return "int";
  else if constexpr (std::is_same_v<T, bool>) return "bool";
  else if constexpr (std::is_same_v<T, float>) return "float";
  else if constexpr (std::is_same_v<T, attribute_text>) return "text";
  else if constexpr (std::is_same_v<T, shape>) return "shape";
  else if constexpr (is_list<T>) return attribute_type<typename T::value_type>() + " list";
  else return std::string(type_name<T>());
}
template <class T> std::string value_text(const T& x) {
  if constexpr (is_list<T>) {
    std::string list;
    for (const auto& e : x) list += (list.empty() ? "" : ", ") + value_text(e);
    return "{" + list + "}";
  } else if constexpr (std::is_enum_v<T> && !std::is_same_v<T, dtype>) {
    return std::string(enumerator_names<T>()[static_cast<std::size_t>(x)]);
  } else {
    text t;
    print_value(t, symbol_table{}, x);
    return t.str();
  }
}
// Enumerators of an attribute, behind its default.
template <class T> std::string choices() {
  if constexpr (is_list<T>) return choices<typename T::value_type>();
  else if constexpr (std::is_enum_v<T> && !std::is_same_v<T, dtype>) {
    std::string list;
    for (std::string_view name : enumerator_names<T>())
      if (!name.empty()) list += (list.empty() ? "" : ", ") + std::string(name);
    return " (" + list + ")";
  } else return "";
}
template <class Op> std::string attributes_text() {
  std::string all;
  if constexpr (has_attributes<Op>) {
    const Op op{};
    Op::attributes(op, [&](std::string_view name, const auto& x) {
      using T = std::remove_cvref_t<decltype(x)>;
      all += std::string(all.empty() ? "" : "<br>") + "`" + attribute_type<T>() + " " + std::string(name) + " = " +
             value_text(x) + "`" + choices<T>();
    });
  }
  return all;
}

// --- inputs: "x, weight, bias?", and the call
template <class Op> std::string inputs_text() {
  std::string list;
  std::size_t number = 0;
  std::string_view rest = operands_of<Op>;
  while (!rest.empty()) {
    const std::size_t comma = rest.find(", ");
    const bool optional = number++ >= least_inputs<Op>() && most_inputs<Op>() != ~std::size_t{0};
    list += (list.empty() ? "" : ", ") + std::string(rest.substr(0, comma)) + (optional ? "?" : "");
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 2);
  }
  return list;
}
template <class Op> std::string call_text() {
  constexpr operator_call call = call_of<Op>;
  static_assert(call.by != operator_call::kind::none, "dnnkit: source/operator_calls.hpp says how it is called");
  const std::string name(call.text), inputs = inputs_text<Op>();
  const std::string attributes = has_attributes<Op> ? "{...}" : "";
  switch (call.by) {
    case operator_call::kind::function:
      return "dk::" + name + "(" + inputs + (attributes.empty() ? "" : ", " + attributes) + ")";
    case operator_call::kind::own:
      return "dk::" + name;
    default:
      if (inputs.empty()) return "g.apply(dk::op::" + name + attributes + ", {})";
      return "dk::apply(dk::op::" + name + (attributes.empty() ? "{}" : attributes) + ", " + inputs + ")";
  }
}

// --- element types: those of the inputs that share one, then inputs of other types
constexpr std::string_view text_of(element_kinds kinds) {
  switch (kinds) {
    case element_kinds::floating:
      return "reals";
    case element_kinds::integral:
      return "integers";
    case element_kinds::number:
      return "numbers";
    case element_kinds::logical:
      return "bool";
    default:
      return "any";
  }
}
template <class Op> std::string elements_text() {
  std::string all;
  bool common = most_inputs<Op>() == ~std::size_t{0};
  std::size_t number = 0;
  std::string_view rest = operands_of<Op>;
  while (!rest.empty() && most_inputs<Op>() != ~std::size_t{0}) {
    const std::size_t comma = rest.find(", ");
    const std::string name(rest.substr(0, comma));
    const element e = element_of<Op>(number++);
    common = common || e == element::common;
    if (e == element::logical) all += "; " + name + ": bool";
    if (e == element::index) all += "; " + name + ": i64 or i32";
    if (e == element::byte) all += "; " + name + ": i8 or u8";
    if (e == element::own) all += "; " + name + ": its own";
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 2);
  }
  if (common) return std::string(text_of(accepts<Op>)) + all;
  return all.empty() ? "" : all.substr(2);
}

constexpr std::string_view text_of(mapping m) {
  switch (m) {
    case mapping::one_to_one:
      return "One-to-One";
    case mapping::reorganize:
      return "Reorganize";
    case mapping::shuffle:
      return "Shuffle";
    case mapping::one_to_many:
      return "One-to-Many";
    case mapping::many_to_many:
      return "Many-to-Many";
  }
  return "";
}

// The families of kernels that may carry out an anchor (docs/design.md).
template <class Op> std::string kernel_text() {
  if (Op::properties.dynamic == dynamism::edo) return "interpreter only";
  switch (Op::kind) {
    case form::elementwise:
    case form::movement:
    case form::composite:
    case form::constant:
      return "";
    default:
      break;
  }
  std::string names;
  for (const kernel_family& family : cpu::default_families.table)
    if (family.carries_out(info_of<Op>)) names += (names.empty() ? "" : ", ") + std::string(family.name);
  return names;
}

template <class Class> std::string text_or_nothing(std::optional<Class> c) { return c ? std::string(text_of(*c)) : ""; }

template <class Op> std::string reference_row(bool kernels) {
  const std::string call = call_text<Op>();
  const bool named = call.find("{...}") != std::string::npos;  // else the call's arguments stand for them
  return "| " + std::string(Op::name) + " | `" + call + "` | " + (named ? attributes_text<Op>() : "") + " | " +
         elements_text<Op>() + " | " + std::string(text_of(Op::properties.map)) + " | " +
         std::string(text_of(Op::properties.dynamic)) + " | " +
         text_or_nothing(layout_class_of(Op::kind, Op::properties.map)) + " | " +
         text_or_nothing(load_class_of(Op::kind, Op::properties.map)) + " |" +
         (kernels ? " " + kernel_text<Op>() + " |\n" : "\n");
}

struct form_heading {
  form kind;
  std::string_view title, how;
  bool kernels;
};
inline constexpr std::array form_headings{
    form_heading{form::elementwise, "Element by element",
                 "Fused with what is computed before and behind them; `elementwise_map`, or `transposition`, where "
                 "nothing else is there.",
                 false},
    form_heading{
        form::movement, "Moved elements",
        "Index maps: what reads their output reads their input through a view, or through the operator's `at()`.",
        false},
    form_heading{form::point, "Each element from many", "", true},
    form_heading{form::reduction, "Reductions", "", true},
    form_heading{form::row, "Rows", "", true},
    form_heading{form::whole, "As a whole", "All elements at once, as one unit of work.", true},
    form_heading{form::composite, "Of other operators",
                 "The first pass replaces them by the operators they are made of.", false},
};

}  // namespace detail

// One table for each form of operator, in the order of the set.
template <class... Ops> [[nodiscard]] std::string operator_reference(op_set<Ops...>) {
  std::string page;
  for (const detail::form_heading& heading : detail::form_headings) {
    page += "## " + std::string(heading.title) + "\n\n";
    if (!heading.how.empty()) page += std::string(heading.how) + "\n\n";
    page += "| operator | call | attributes | elements | mapping | dynamism | layout | load |" +
            std::string(heading.kernels ? " kernel |" : "") + "\n|---|---|---|---|---|---|---|---|" +
            (heading.kernels ? "---|\n" : "\n");
    ((page += Ops::kind == heading.kind ? detail::reference_row<Ops>(heading.kernels) : std::string()), ...);
    page += "\n";
  }
  page.pop_back();
  return page;
}

}  // namespace dnnkit
