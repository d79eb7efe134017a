// SPDX-License-Identifier: MIT
// What a Reshape does to axes: the coarsest axes that both of its shapes are made of, row-major. [8, 6] and [2, 24]
// have the atoms 2, 4, 6: 8 = 2 x 4 was split, 4 and 6 were merged (SmartMem, section 3.2.1: the dependences of a
// Reshape are splits and merges).
#pragma once

#include <array>
#include <cstddef>

#include "dnnkit/core/static_vector.hpp"
#include "dnnkit/tensor/shape.hpp"

namespace dnnkit {

struct atoms {
  shape sizes;                                     // empty where there are none
  std::array<std::size_t, max_rank> from{}, to{};  // the axis of either shape that an atom is part of

  // How many atoms is axis d of the shape made of? None where its extent is 1 and the other shape has no such axis.
  constexpr std::size_t count_in(const std::array<std::size_t, max_rank>& axes, std::size_t d) const {
    std::size_t n = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) n += axes[i] == d;
    return n;
  }
};

// The atoms of two shapes of as many elements; none where one extent has to be divided by another and cannot be shown
// to be a multiple of it, or where they are more than max_rank.
constexpr atoms atoms_of(symbol_table& table, const shape& from, const shape& to) {
  atoms all;
  std::size_t i = 0, j = 0;
  dim a = from.empty() ? dim(1) : from[0], b = to.empty() ? dim(1) : to[0];  // what is left of axes i and j
  const auto next = [](const shape& s, std::size_t& axis, dim& left) { left = ++axis < s.size() ? s[axis] : dim(1); };
  while (i < from.size() || j < to.size()) {
    const bool both = i < from.size() && j < to.size();
    if (!(both && a == b) && i < from.size() && a == dim(1)) next(from, i, a);
    else if (!(both && a == b) && j < to.size() && b == dim(1)) next(to, j, b);
    else {
      if (!both || all.sizes.size() == max_rank) return {};
      const std::size_t n = all.sizes.size();
      all.from[n] = i;
      all.to[n] = j;
      if (a == b) {
        all.sizes.push_back(a);
        next(from, i, a);
        next(to, j, b);
      } else if (const dim rest = table.exact_div(a, b); !rest.is_unknown()) {
        all.sizes.push_back(b);
        a = rest;
        next(to, j, b);
      } else if (const dim more = table.exact_div(b, a); !more.is_unknown()) {
        all.sizes.push_back(a);
        b = more;
        next(from, i, a);
      } else return {};
    }
  }
  return all;
}

}  // namespace dnnkit
