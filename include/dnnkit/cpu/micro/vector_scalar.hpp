// SPDX-License-Identifier: MIT
// The functions operators are defined by (operator/scalar.hpp), for vectors: found by argument-dependent lookup.
#pragma once

#include <algorithm>
#include <type_traits>

#include "dnnkit/cpu/micro/math.hpp"
#include "dnnkit/cpu/micro/vec.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

// NaN if either is. max(a, b) gives a when one is NaN, so only a NaN in b needs the selection.
template <class T, int N> [[gnu::always_inline]] inline vec<T, N> maximum(vec<T, N> a, vec<T, N> b) {
  using std::max;
  if constexpr (std::is_integral_v<T>) return max(a, b);
  else return select(b != b, b, max(a, b));
}
template <class T, int N> [[gnu::always_inline]] inline vec<T, N> minimum(vec<T, N> a, vec<T, N> b) {
  using std::min;
  if constexpr (std::is_integral_v<T>) return min(a, b);
  else return select(b != b, b, min(a, b));
}

template <class T, int N> [[gnu::always_inline]] inline vec<T, N> larger(vec<T, N> a, vec<T, N> b) {
  using std::max;
  return max(a, b);
}

template <int N> [[gnu::always_inline]] inline vec<float, N> reciprocal_sqrt(vec<float, N> x) {
  return vec<float, N>(1.0f) / sqrt(x);
}

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
