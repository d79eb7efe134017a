// SPDX-License-Identifier: MIT
// The kernel of a group without an anchor: element-wise operators and movement, row by row along the contiguous axis.
#pragma once

#include "dnnkit/cpu/loop.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

template <class Net, std::size_t R> struct map_kernel {
  using access = recipe_access<Net, R>;
  using values = tree<Net, R>;
  static constexpr std::size_t along = lane_axis<Net, R>();
  static constexpr int width = !values::is_setup() && values::outputs_vectorize() && access::rank > 0 ? float_lanes : 1;

  static index_t units(const kernel_call& call) noexcept { return rows_without<Net, R>(call, along); }

  static void run(const kernel_call& call, index_t first, index_t last) noexcept {
    const index_t extent = access::rank == 0 ? 1 : access::bound(access::space(along), call);
    for (index_t row = first; row < last; ++row) {
      coordinates c = row_coordinates<Net, R>(call, along, row);
      for_lanes<width, along>(c, extent, [&](auto n) { values::template finish<width, along>(call, c, n, 0); });
    }
  }

  static constexpr kernel_entry entry{units, run, nullptr, nullptr, nullptr, nullptr, 0};
};

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
