// SPDX-License-Identifier: MIT
// An extent is known to the compiler (constant<N>) or at run time (index_t); kernels take either through one template
// parameter.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

namespace dnnkit::cpu {

using index_t = std::ptrdiff_t;

template <index_t N> using constant = std::integral_constant<index_t, N>;

template <class E> inline constexpr bool is_constant = false;
template <index_t N> inline constexpr bool is_constant<constant<N>> = true;

// The value of an extent type when the compiler knows it, else `otherwise`.
template <class E> constexpr index_t value_or(index_t otherwise) noexcept {
  if constexpr (is_constant<E>) {
    return E::value;
  } else {
    return otherwise;
  }
}

// f(constant<0>{}) to f(constant<N - 1>{}).
template <index_t N> [[gnu::always_inline]] constexpr void for_constants(auto&& f) {
  [&]<index_t... I>(std::integer_sequence<index_t, I...>) __attribute__((always_inline)) { (f(constant<I>{}), ...); }
  (std::make_integer_sequence<index_t, N>());
}

// @post ceil_div(a, b) * b >= a > (ceil_div(a, b) - 1) * b, for a >= 0, b > 0
constexpr index_t ceil_div(index_t a, index_t b) noexcept { return (a + b - 1) / b; }

}  // namespace dnnkit::cpu
