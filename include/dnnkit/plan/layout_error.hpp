// SPDX-License-Identifier: MIT
// What must hold of every layout, whoever has chosen it: its order is a permutation of the axes of what it is for.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dnnkit/core/text.hpp"
#include "dnnkit/plan/plan.hpp"

namespace dnnkit::plan {

constexpr bool is_row_major(const buffer_layout& l) {
  for (std::size_t level = 0; level < l.order.count; ++level)
    if (l.order.items[level] != level) return false;
  return true;
}

constexpr bool is_permutation(const buffer_layout& l, std::size_t rank) {
  std::uint32_t seen = 0;
  for (std::size_t level = 0; level < l.order.count; ++level) {
    const std::uint8_t d = l.order.items[level];
    if (d >= rank || (seen >> d & 1) != 0) return false;
    seen |= std::uint32_t{1} << d;
  }
  return l.order.count == rank;
}
constexpr bool is_layout_of(const buffer_layout& l, std::size_t rank) {
  return is_permutation(l, rank) && l.before.count == rank && l.after.count == rank &&
         (l.part.empty() || l.part.count == rank);
}

// "0 2 3 1"; "of no axis"
constexpr text order_text(const buffer_layout& l) {
  text order;
  for (std::size_t level = 0; level < l.order.count; ++level)
    order << (level == 0 ? "" : " ") << int{l.order.items[level]};
  return order.length != 0 ? order : text("of no axis");
}

// Empty, or "the order 0 2 2 1, which does not name each of 4 axes once"; or what else is of another rank.
constexpr text layout_error(const buffer_layout& l, std::size_t rank) {
  text wrong;
  if (is_layout_of(l, rank)) return wrong;
  if (!is_permutation(l, rank))
    return wrong << "the order " << order_text(l) << ", which does not name each of " << rank << " axes once";
  if (l.before.count != rank || l.after.count != rank)
    return wrong << "a border of " << l.before.count << " and " << l.after.count << " axes, of " << rank;
  return wrong << "parts of " << l.part.count << " axes, of " << rank;
}

}  // namespace dnnkit::plan
