// SPDX-License-Identifier: MIT
// Elements picked by their positions, a vector of them at a time.
#pragma once

#include <cstdint>

#include "dnnkit/cpu/micro/vec.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

namespace detail {
template <class Vector, class Positions>
concept has_permutation = requires(Vector x, Positions at) {
  isa::permuted(x.v, at.v);
};
}  // namespace detail

// Lane i is p[at[i]]. Where the positions rise from the first one and lie within one vector, that is loaded whole and
// permuted.
// @pre from the lowest position on there is a whole vector to be read
template <class Vector, int N>
[[gnu::always_inline]] inline Vector picked(const typename Vector::value_type* p, vec<std::int32_t, N> at) noexcept {
  static_assert(Vector::lanes == N);
  if constexpr (detail::has_permutation<Vector, vec<std::int32_t, N>>) {
    const vec<std::int32_t, N> behind = at - vec<std::int32_t, N>(at[0]);
    // no position is before the first, nor as far behind it as a vector is long
    if (all((behind & vec<std::int32_t, N>(-N)) == vec<std::int32_t, N>(0)))
      return typename Vector::native(isa::permuted(Vector::load(p + at[0]).v, behind.v));
  }
  Vector r;
  for (int i = 0; i < N; ++i) r.set(i, p[at[i]]);
  return r;
}

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
