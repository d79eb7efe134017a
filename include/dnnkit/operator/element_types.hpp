// SPDX-License-Identifier: MIT
// Which inputs an operator takes: how many, which may be left out, and of what element types. An operator may say
//   static constexpr std::size_t inputs = 3, optional_inputs = 1;     in all, and how many of the last are optional
//   static constexpr element_kinds accepts = element_kinds::number;   of the inputs of common type
//   static constexpr std::array<element, inputs> elements{...};       default: all of one common type
//   static constexpr bool variadic = true;                            one or more inputs, all of one common type
//   static constexpr std::string_view operands = "x, weight, bias";   what they are called (operator/operands.hpp)
// Without `inputs`, the parameters of apply() or at() are counted, and a composite operator takes any number. Without
// `accepts`, operators that only move elements and composite ones take any type, the others floating-point types.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "dnnkit/core/dtype.hpp"
#include "dnnkit/operator/access.hpp"
#include "dnnkit/operator/inference.hpp"
#include "dnnkit/operator/traits.hpp"

namespace dnnkit {

enum class element_kinds : std::uint8_t { floating = 1, integral = 2, number = 3, logical = 4, any = 7 };
constexpr bool has(element_kinds set, element_kinds member) {
  return (static_cast<unsigned>(set) & static_cast<unsigned>(member)) != 0;
}
constexpr element_kinds operator|(element_kinds a, element_kinds b) {
  return static_cast<element_kinds>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
constexpr element_kinds kind_of(dtype t) {
  return is_floating(t) ? element_kinds::floating : is_integral(t) ? element_kinds::integral : element_kinds::logical;
}

// What one input holds: the type it shares with the other inputs that say so, truth values, positions (i64 or i32),
// numbers of 8 bits (i8 or u8), or a type of its own, which inference checks.
enum class element : std::uint8_t { common, logical, index, byte, own };

// More inputs than any operator that is not variadic takes.
inline constexpr std::size_t most_operands = 8;

namespace detail {

template <class Op> constexpr element_kinds accepts_of() {
  if constexpr (requires { Op::accepts; }) return Op::accepts;
  else return Op::kind == form::movement || Op::kind == form::composite ? element_kinds::any : element_kinds::floating;
}

// A type the operator's inputs of common type may have, to ask what can be called.
template <class Op>
using sample_of =
    std::conditional_t<has(accepts_of<Op>(), element_kinds::floating), double,
                       std::conditional_t<has(accepts_of<Op>(), element_kinds::integral), std::int64_t, bool>>;

template <class T> struct sample_load { T operator()(const coordinates&) const; };
struct sample_context {
  using real = double;
  std::size_t rank(std::size_t) const;
  std::int64_t in(std::size_t, std::size_t) const;
  std::size_t out_rank() const;
  std::int64_t out(std::size_t) const;
  std::int64_t value(dim) const;
};

template <class Op, class... T> inline constexpr bool applies = requires(const Op& op, const T&... x) {
  op.apply(x...);
};
template <class Op, class... X>
inline constexpr bool has_at = requires(const Op& op, const sample_context& c, const coordinates& o, const X&... x) {
  op.at(c, o, x...);
};

template <class Op, class... T> constexpr std::size_t count_parameters() {
  if constexpr (sizeof...(T) > most_operands) return 1;
  else if constexpr (Op::kind == form::elementwise && applies<Op, T...>) return sizeof...(T);
  else if constexpr (Op::kind == form::point && has_at<Op, sample_load<T>...>) return sizeof...(T);
  else return count_parameters<Op, T..., sample_of<Op>>();
}

}  // namespace detail

template <class Op>
concept is_variadic = requires {
  requires Op::variadic;
};

template <class Op> inline constexpr element_kinds accepts = detail::accepts_of<Op>();

template <class Op> constexpr std::size_t most_inputs() {
  if constexpr (requires { Op::inputs; }) return Op::inputs;
  else if constexpr (is_variadic<Op> || Op::kind == form::composite) return ~std::size_t{0};
  else if constexpr (Op::kind == form::elementwise || Op::kind == form::point)
    return detail::count_parameters<Op, detail::sample_of<Op>>();
  else return 1;
}
template <class Op> constexpr std::size_t least_inputs() {
  if constexpr (requires { Op::optional_inputs; }) return most_inputs<Op>() - Op::optional_inputs;
  else if constexpr (most_inputs<Op>() == ~std::size_t{0}) return 1;
  else return most_inputs<Op>();
}
template <class Op> constexpr element element_of(std::size_t i) {
  if constexpr (requires { Op::elements; }) return Op::elements[i];
  else return element::common;
}
// Are the elements of an input integers, whatever the common type?
template <class Op> constexpr bool holds_integers(std::size_t i) {
  return element_of<Op>(i) == element::index || element_of<Op>(i) == element::byte;
}

namespace detail {

// The number and the element types of the inputs are as the operator says; notes what is wrong otherwise.
template <class Op> constexpr bool check_inputs(inference& c) {
  constexpr std::size_t least = least_inputs<Op>(), most = most_inputs<Op>();
  const std::size_t n = c.inputs();
  text t;
  if (n > most || n < least) {
    t << "has " << n << (n == 1 ? " input" : " inputs") << ", takes " << least;
    if (is_variadic<Op> || most == ~std::size_t{0}) t << " or more";
    else if (least != most) t << " to " << most;
    return c.fail(t);
  }
  std::size_t first = n;  // of common type
  for (std::size_t i = 0; i < n; ++i) {
    const tensor_type* const input = c.input(i);
    if (input == nullptr) {
      if (i < least || is_variadic<Op> || most == ~std::size_t{0})
        return c.fail(t << c.name_of_input(i) << " is left out");
      continue;
    }
    const dtype type = input->type;
    switch (element_of<Op>(i)) {
      case element::logical:
        if (type != boolean)
          return c.fail(t << c.name_of_input(i) << " is " << dnnkit::name(type) << ", expected bool");
        break;
      case element::index:
        if (type != i64 && type != i32)
          return c.fail(t << c.name_of_input(i) << " is " << dnnkit::name(type) << ", expected i64 or i32");
        break;
      case element::byte:
        if (type != i8 && type != u8)
          return c.fail(t << c.name_of_input(i) << " is " << dnnkit::name(type) << ", expected i8 or u8");
        break;
      case element::own:
        break;
      case element::common:
        if (!has(accepts<Op>, kind_of(type))) {
          t << c.name_of_input(i) << " is " << dnnkit::name(type) << ", expected ";
          return c.fail(t << (accepts<Op> == element_kinds::floating   ? "a floating-point type"
                              : accepts<Op> == element_kinds::integral ? "an integer type"
                              : accepts<Op> == element_kinds::logical  ? "bool"
                              : accepts<Op> == element_kinds::number   ? "a number"
                                                                       : "another type"));
        }
        if (first == n) first = i;
        else if (type != c.type(first))
          return c.fail(t << c.name_of_input(first) << " is " << dnnkit::name(c.type(first)) << ", "
                          << c.name_of_input(i) << " is " << dnnkit::name(type));
    }
  }
  return true;
}

}  // namespace detail

}  // namespace dnnkit
