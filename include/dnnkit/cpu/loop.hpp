// SPDX-License-Identifier: MIT
// Loops of kernels over an iteration space: along the axis that runs in vector lanes, and the walk over all others.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "dnnkit/cpu/tree.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

// Pointers to the operands of a call that no store of a kernel can change: in the function that has them, compilers
// keep them, and what is computed from them, in registers.
//   const local_operands<Net, R> operands(of);
//   const kernel_call call = operands.call();
template <class Net, std::size_t R> class local_operands {
 public:
  explicit local_operands(const kernel_call& of) : of_(of) {
    std::copy_n(of.operands, operands_.size(), operands_.begin());
  }
  local_operands(const local_operands&) = delete;

  kernel_call call() const {
    kernel_call c = of_;
    c.operands = operands_.data();
    return c;
  }

 private:
  using access = recipe_access<Net, R>;
  static constexpr std::size_t count = [] {
    std::size_t n = 0;
    for (std::size_t l = 0; l < access::spec.loads(); ++l)
      n = std::max<std::size_t>(n, access::spec.load(l).operand + 1u);
    for (std::size_t o = 0; o < access::outputs; ++o) n = std::max<std::size_t>(n, access::spec.output(o).operand + 1u);
    return n;
  }();

  const kernel_call& of_;
  std::array<std::byte*, count> operands_;
};

// Product of the extents of all axes but `without`.
template <class Net, std::size_t R> index_t rows_without(const kernel_call& call, std::size_t without) {
  using access = recipe_access<Net, R>;
  index_t n = 1;
  for (std::size_t d = 0; d < access::rank; ++d)
    if (d != without) n *= access::bound(access::space(d), call);
  return n;
}

// Coordinates of row number `row` (row-major over all axes but `without`, which stays 0).
template <class Net, std::size_t R>
coordinates row_coordinates(const kernel_call& call, std::size_t without, index_t row) {
  using access = recipe_access<Net, R>;
  coordinates c{};
  for (std::size_t d = access::rank; d-- > 0;) {
    if (d == without) continue;
    const index_t n = access::bound(access::space(d), call);
    c[d] = row % n;
    row /= n;
  }
  return c;
}

// f(n) for each group of Lanes positions along axis `Along` from `first` to before `last`, with c[Along] set to its
// start: n is constant<Lanes>, and a smaller index_t for what is left.
template <int Lanes, std::size_t Along>
[[gnu::always_inline]] inline void for_lanes_between(coordinates& c, index_t first, index_t last, auto&& f) {
  index_t i = first;
  for (; i + Lanes <= last; i += Lanes) {
    c[Along] = i;
    f(constant<Lanes>{});
  }
  if constexpr (Lanes > 1)
    if (i < last) {
      c[Along] = i;
      f(last - i);
    }
}
template <int Lanes, std::size_t Along>
[[gnu::always_inline]] inline void for_lanes(coordinates& c, index_t extent, auto&& f) {
  for_lanes_between<Lanes, Along>(c, 0, extent, f);
}

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
