// SPDX-License-Identifier: MIT
// Loops, branches and variables of operators' definitions (operator/flow.hpp) as OpenCL C, where coordinates stand for
// numbers (opencl/index.hpp) and expressions for elements. What is known is decided at once.
#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>

#include "dnnkit/opencl/expression.hpp"
#include "dnnkit/opencl/index.hpp"
#include "dnnkit/opencl/source_writer.hpp"
#include "dnnkit/operator/flow.hpp"

namespace dnnkit::opencl {

// What at() is given for a context where its definition is written: it says where to.
template <class C>
concept text_context = requires(const C& c) {
  { c.text() } -> std::same_as<source_writer&>;
};

template <text_context C> constexpr void for_each(const C& c, const index& count, auto body) {
  if (count.is_known() && count.value() <= 1) {
    if (count.value() == 1) body(index(0));
    return;
  }
  source_writer& out = c.text();
  const index k(out, 'm', out.new_name());
  out << "for(int " << k << "=0;" << k << '<' << count << ";++" << k << "){\n";
  body(k);
  out << "}\n";
}

constexpr bool is_certain(const index& condition) { return condition.is_known() && condition.value() != 0; }
constexpr bool is_certain(const expression& condition) { return condition.is_literal() && condition.literal() != 0; }
constexpr bool is_possible(const index& condition) { return !condition.is_known() || condition.value() != 0; }
constexpr bool is_possible(const expression& condition) { return !condition.is_literal() || condition.literal() != 0; }

constexpr expression both(const expression& a, const expression& b) { return a & b; }
constexpr expression either(const expression& a, const expression& b) { return a | b; }

template <class T>
concept written = std::same_as<T, index> || std::same_as<T, expression>;

template <text_context C> constexpr void when(const C& c, const written auto& condition, auto then) {
  if (is_certain(condition)) return then();
  if (!is_possible(condition)) return;
  c.text() << "if(" << condition << "){\n";
  then();
  c.text() << "}\n";
}

template <text_context C> constexpr index variable(const C& c, const index& value) {
  const index x(c.text(), 'm', c.text().new_name());
  c.text() << "int " << x << '=' << value << ";\n";
  return x;
}
template <text_context C> constexpr expression variable(const C& c, const expression& value) {
  const expression x(c.text(), 'a', c.text().new_name(), value.kind());
  c.text() << type_of(value.kind()) << ' ' << x << '=' << value << ";\n";
  return x;
}
template <text_context C, written T> constexpr void assign(const C& c, T& variable, const T& value) {
  c.text() << variable << '=' << value << ";\n";
}

// The context says what kind of elements the output has.
template <class T, text_context C> constexpr T output_element(const C& c, auto x) { return expression(x).as(c.kind()); }
constexpr expression as_real(const index& n) {
  if (n.is_known()) return expression(n.value());
  return expression::statement(element_kind::real, n.out(), "(float)", n);
}
constexpr index integer_below(const expression& x) {
  if (x.is_literal()) return dnnkit::integer_below(x.literal());
  return index::spelt(*x.out(), "convert_int_sat(floor(", x, "))");
}
template <class T> constexpr T as_element(const index& n) {
  if (n.is_known()) return expression(n.value()).as(element_kind::integer);
  return expression::statement(element_kind::integer, n.out(), n);
}
template <std::same_as<index> N> constexpr N as_coordinate(const expression& x) {
  if (x.is_literal()) return static_cast<std::int64_t>(x.literal());
  return index::spelt(*x.out(), "convert_int_sat(", x, ')');
}
constexpr expression either(const index& a, const expression& b) { return as_element<expression>(a) | b; }

// condition ? a : b
constexpr index select(const expression& condition, const index& a, const index& b) {
  if (condition.is_literal()) return is_certain(condition) ? a : b;
  return index::spelt(*condition.out(), condition, '?', a, ':', b);
}
constexpr expression select(const index& condition, const expression& a, const expression& b) {
  if (condition.is_known()) return is_certain(condition) ? a : b;
  const element_kind kind = expression::kind_of_both(a, b);
  return expression::statement(kind, condition.out(), condition, '?', a.as(kind), ':', b.as(kind));
}

// Numbers read from tensors, and coordinates, are clamped, as on the processor (operator/access.hpp).
template <text_context C>
constexpr index within(const C& c, const written auto& x, const index& least, const index& most, std::string_view) {
  return index::spelt(c.text(), "clamp((long)", x, ",(long)", least, ",(long)", most, ')');
}
template <text_context C> constexpr index position_in(const C& c, const written auto& x, const index& n) {
  const index p = within(c, x, -n, n - index(1), {});
  return select(p < index(0), p + n, p);
}

}  // namespace dnnkit::opencl
