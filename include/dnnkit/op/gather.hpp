// SPDX-License-Identifier: MIT
// Slices of a tensor chosen by another: ONNX's Gather, an indirect index map.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string_view>

#include "dnnkit/op/slice.hpp"
#include "dnnkit/operator/access.hpp"
#include "dnnkit/operator/function.hpp"

namespace dnnkit {

namespace op {

// data, indices -> data's axes before `axis`, then those of indices, then data's axes behind it. Negative indices count
// from the end; for others outside see within().
struct gather {
  std::int64_t axis = 0;

  static constexpr std::string_view name = "Gather";
  static constexpr std::string_view operands = "data, indices";
  static constexpr form kind = form::point;
  static constexpr std::size_t inputs = 2;
  static constexpr element_kinds accepts = element_kinds::any;
  static constexpr bool symbolic = true;
  static constexpr std::array<element, 2> elements{element::common, element::index};
  static constexpr traits properties{.map = mapping::one_to_many};
  static constexpr void attributes(auto& self, auto&& visit) { visit("axis", self.axis); }

  constexpr std::size_t along(std::size_t rank) const {
    return static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis);
  }
  constexpr void infer(inference& c) const {
    std::int64_t a = axis;
    if (!c.normalise_axis(a, c.rank(0))) return;
    if (!c.require(c.rank(0) + c.rank(1) - 1 <= max_rank, "the output's rank is more than 8")) return;
    const auto chosen = static_cast<std::size_t>(a);
    if (!c.require(!(c.in(0)[chosen] == dim(0)), "there is no element along the axis")) return;
    shape s;
    for (std::size_t d = 0; d < chosen; ++d) s.push_back(c.in(0)[d]);
    for (dim d : c.in(1)) s.push_back(d);
    for (std::size_t d = chosen + 1; d < c.rank(0); ++d) s.push_back(c.in(0)[d]);
    c.out(c.type(0), s);
  }
  constexpr footprint reads(const inference& c, std::size_t input) const {
    const std::size_t chosen = along(c.rank(0)), width = c.rank(1);
    footprint f;
    for (std::size_t d = 0; d < c.rank(input); ++d)
      if (input == 1) f.axes.push_back(needs::same(chosen + d));
      else if (d == chosen) f.axes.push_back(needs::one_chosen);
      else f.axes.push_back(needs::same(d < chosen ? d : d + width - 1));
    return f;
  }
  template <class O> constexpr auto at(const auto& c, const O& o, auto data, auto indices) const {
    const std::size_t rank = c.rank(0), chosen = along(rank), width = c.rank(1);
    O i{}, j{};
    for (std::size_t d = 0; d < width; ++d) j[d] = o[chosen + d];
    for (std::size_t d = 0; d < rank; ++d) i[d] = o[d <= chosen ? d : d + width - 1];
    i[chosen] = position_in(c, indices(j), c.in(0, chosen));
    return data(i);
  }
  static constexpr dim flops(const inference&) { return 0; }
};

}  // namespace op

inline constexpr function<op::gather> gather;

// The slice at one index known beforehand, without the axis; a negative one counts from the end.
template <graph_tensor T>
constexpr T take(T data, std::int64_t index, std::int64_t axis = 0,
                 std::source_location caller = std::source_location::current()) {
  const dim position = index < 0 ? data.owner().value().symbols.add(data.size(axis), index) : dim(index);
  return squeeze(narrow(data, axis, position, 1, caller), {.axes = {axis}}, caller);
}

}  // namespace dnnkit
