// SPDX-License-Identifier: MIT
// Clears the border (halo) of a buffer, leaving its interior alone.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "dnnkit/plan/plan.hpp"

namespace dnnkit {

namespace detail {

struct border_walk {
  const buffer_layout& layout;
  std::size_t element_bytes;
  std::array<std::int64_t, max_rank> interior{}, stride{};  // by storage position, in elements

  // Clears the border of storage positions `level` and deeper of the block at `at`.
  void clear(std::byte* at, std::size_t level) const noexcept {
    if (level == layout.order.size()) return;
    const std::size_t d = layout.order[level];
    const std::int64_t before = layout.before[d], after = layout.after[d];
    std::byte* inside = at + bytes(before * stride[level]);
    std::memset(at, 0, bytes(before * stride[level]));
    std::memset(inside + bytes(interior[level] * stride[level]), 0, bytes(after * stride[level]));
    if (!deeper(level + 1)) return;
    for (std::int64_t i = 0; i < interior[level]; ++i) clear(inside + bytes(i * stride[level]), level + 1);
  }

 private:
  std::size_t bytes(std::int64_t elements) const noexcept { return static_cast<std::size_t>(elements) * element_bytes; }
  bool deeper(std::size_t level) const noexcept {
    for (; level < layout.order.size(); ++level)
      if (layout.before[layout.order[level]] + layout.after[layout.order[level]] != 0) return true;
    return false;
  }
};

}  // namespace detail

// `extents`: the values of the buffer's logical dimensions.
inline void clear_border(const plan::buffer& b, const std::int64_t* extents, std::byte* data) noexcept {
  detail::border_walk walk{b.layout, size_of(b.type.type)};
  std::int64_t stride = 1;
  for (std::size_t level = b.layout.order.size(); level-- > 0;) {
    const std::size_t d = b.layout.order[level];
    walk.interior[level] = extents[d];
    walk.stride[level] = stride;
    stride *= extents[d] + b.layout.before[d] + b.layout.after[d];
  }
  walk.clear(data, 0);
}

}  // namespace dnnkit
