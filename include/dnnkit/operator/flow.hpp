// SPDX-License-Identifier: MIT
// Loops, branches and variables in the definitions of operators. Of numbers they are those of C++; a target that writes
// text has its own for what stands for numbers there (opencl/flow.hpp), so that one definition is both computed and
// written. Operators call all of this unqualified.
#pragma once

#include <concepts>
#include <cstdint>

#include "dnnkit/operator/scalar.hpp"

namespace dnnkit {

// Calls body(k) for k = 0 ... count - 1. `c` is the context given to at(), here and below.
template <class C, std::integral N> constexpr void for_each(const C&, N count, auto body) {
  for (N k = 0; k < count; ++k) body(k);
}
// Calls then() where the condition holds.
template <class C> constexpr void when(const C&, bool condition, auto then) {
  if (condition) then();
}
// A variable of that value, which assign() changes, in loops and branches, too.
template <class C, class T> constexpr T variable(const C&, T value) { return value; }
template <class C, class T> constexpr void assign(const C&, T& variable, const T& value) { variable = value; }
constexpr bool both(bool a, bool b) { return a && b; }
constexpr bool either(bool a, bool b) { return a || b; }
// A coordinate of which inference has seen that it is known.
template <std::integral N> constexpr std::int64_t known_number(N n) { return n; }
// Does a condition hold whatever the operands are? Or may it, for some?
constexpr bool is_certain(bool condition) { return condition; }
constexpr bool is_possible(bool condition) { return condition; }

// Real numbers as they are computed from coordinates.
template <std::integral N> constexpr float as_real(N n) { return static_cast<float>(n); }
template <class N> using real_of = decltype(as_real(N()));
// The largest integer that is not above x.
template <std::floating_point R> constexpr std::int64_t integer_below(R x) {
  const std::int64_t n = to_integer(x);
  return static_cast<R>(n) > x ? n - 1 : n;
}
// A coordinate as an element of type T, and the other way round.
template <class T, std::integral N> constexpr T as_element(N n) { return static_cast<T>(n); }
template <std::integral N> constexpr N as_coordinate(auto element) { return static_cast<N>(element); }

}  // namespace dnnkit
