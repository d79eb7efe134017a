// SPDX-License-Identifier: MIT
// The kernel of Concat: every part is copied, prologue and epilogue included, in vectors along the axis the output is
// contiguous in. Only where that is the joined axis do vectors end between parts.
#pragma once

#include <cstddef>
#include <utility>

#include "dnnkit/cpu/point_kernel.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

template <class Net, std::size_t R> struct concat_kernel {
  using access = recipe_access<Net, R>;
  using values = tree<Net, R>;
  static constexpr std::size_t joined = anchor_of<Net, R>::value.along(access::rank), along = lane_axis<Net, R>();

  static constexpr bool vectorizes = [] {
    if (!values::outputs_vectorize() || !has_lanes(access::self.anchor_type)) return false;
    for (std::size_t i = 0; i < access::anchor_inputs; ++i)
      if (!values::vectorizes(access::anchor_input(i))) return false;
    return true;
  }();
  static constexpr int width = vectorizes ? float_lanes : 1;

  static index_t units(const kernel_call& call) noexcept { return rows_without<Net, R>(call, along); }

  static void run(const kernel_call& call, index_t first, index_t last) noexcept {
    for (index_t row = first; row < last; ++row) {
      const coordinates c = row_coordinates<Net, R>(call, along, row);
      index_t begin = 0;
      [&]<std::size_t... I>(std::index_sequence<I...>) { (copy<I>(call, c, begin), ...); }
      (std::make_index_sequence<access::anchor_inputs>{});
    }
  }

  static constexpr kernel_entry entry{units, run, nullptr, nullptr, nullptr, nullptr, 0};

 private:
  // What lies in part I of the row at c; the part begins at `begin` of the joined axis, which moves on to its end.
  template <std::size_t I>
  [[gnu::always_inline]] static void copy(const kernel_call& call, const coordinates& c, index_t& begin) {
    using element_lanes = lanes<access::self.anchor_type, width>;
    const index_t extent = access::bound(Net::plan.dims[access::anchor_shape(I).first + joined], call);
    const index_t offset = begin;
    begin += extent;
    if (along != joined && (c[joined] < offset || c[joined] >= begin)) return;
    coordinates from = c, to = c;
    if (along != joined) from[joined] -= offset;
    const index_t length = along == joined ? extent : access::bound(access::space(along), call);
    for_lanes<width, along>(from, length, [&](auto n) {
      to[along] = from[along] + (along == joined ? offset : 0);
      const auto x = values::template evaluate<access::anchor_input(I), width, along>(call, from, n, 0);
      values::template finish<width, along>(call, to, n, converted<element_lanes>(x));
    });
  }
};

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
