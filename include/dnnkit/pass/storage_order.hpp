// SPDX-License-Identifier: MIT
// Orders in which the dimensions of a value may lie (buffer_layout::order), outermost first.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "dnnkit/core/static_vector.hpp"
#include "dnnkit/operator/statistics.hpp"
#include "dnnkit/tensor/shape.hpp"

namespace dnnkit::detail {

using storage_order = static_vector<std::uint8_t, max_rank>;

// These dimensions innermost, the others around them, either in their order. @post row-major for none of them
constexpr storage_order with_innermost(std::size_t rank, axis_set dims) {
  storage_order order;
  for (std::size_t d = 0; d < rank; ++d)
    if (!dims.has(d)) order.push_back(static_cast<std::uint8_t>(d));
  for (std::size_t d = 0; d < rank; ++d)
    if (dims.has(d)) order.push_back(static_cast<std::uint8_t>(d));
  return order;
}

// Do elements of this shape lie alike in both orders? Dimensions of one element lie anywhere.
constexpr bool is_same_order(const shape& s, const storage_order& a, const storage_order& b) {
  std::size_t i = 0, k = 0;
  while (true) {
    while (i < a.size() && s[a[i]] == dim(1)) ++i;
    while (k < b.size() && s[b[k]] == dim(1)) ++k;
    if (i == a.size() || k == b.size()) return i == a.size() && k == b.size();
    if (a[i++] != b[k++]) return false;
  }
}

// The innermost `k` dimensions that have more than one element: those that a memory which keeps k dimensions contiguous
// reads without gaps.
constexpr axis_set contiguous_dimensions(const shape& s, const storage_order& order, int k) {
  axis_set found;
  for (std::size_t i = order.size(); i-- > 0 && k > 0;)
    if (!(s[order[i]] == dim(1))) {
      found.add(order[i]);
      --k;
    }
  return found;
}

// "dimensions 1, 3 innermost", of any two.
struct text_of_two {
  char chars[32] = {};
  constexpr text_of_two(std::size_t outer, std::size_t inner) {
    constexpr std::string_view form = "dimensions ?, ? innermost";
    std::size_t dims[] = {outer, inner}, next = 0;
    for (std::size_t i = 0; i < form.size(); ++i)
      chars[i] = form[i] == '?' ? static_cast<char>('0' + dims[next++]) : form[i];
  }
  constexpr operator std::string_view() const { return chars; }
};
template <std::size_t... I> constexpr std::array<text_of_two, sizeof...(I)> texts_of_two(std::index_sequence<I...>) {
  return {text_of_two(I / max_rank, I % max_rank)...};
}
inline constexpr auto names_of_two = texts_of_two(std::make_index_sequence<max_rank * max_rank>());

// What the log calls it: of another order than the two that have names, so many of its innermost dimensions as tell it
// from row-major.
constexpr std::string_view name_of(const storage_order& order) {
  constexpr std::string_view innermost[] = {"dimension 0 innermost", "dimension 1 innermost", "dimension 2 innermost",
                                            "dimension 3 innermost", "dimension 4 innermost", "dimension 5 innermost",
                                            "dimension 6 innermost", "dimension 7 innermost"};
  const std::size_t rank = order.size();
  bool is_row_major = true, is_channels_last = rank >= 3 && order[rank - 1] == 1 && order[0] == 0;
  for (std::size_t i = 0; i < rank; ++i) {
    is_row_major = is_row_major && order[i] == i;
    is_channels_last = is_channels_last && (i == 0 || i + 1 == rank || order[i] == i + 1);
  }
  if (is_row_major) return "row-major";
  if (is_channels_last) return "channels last";
  const std::uint8_t last = order[rank - 1], other = order[rank - 2];
  if (last + 1u != rank) return innermost[last];
  return other + 2u != rank ? std::string_view(names_of_two[other * max_rank + last]) : "outer dimensions exchanged";
}

}  // namespace dnnkit::detail
