// SPDX-License-Identifier: MIT
// Tensors one behind the other along an axis: ONNX's Concat, a piecewise index map.
#pragma once

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string_view>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/operator/access.hpp"
#include "dnnkit/operator/function.hpp"

namespace dnnkit {

namespace op {

struct concat {
  std::int64_t axis = 0;

  static constexpr std::string_view name = "Concat";
  static constexpr form kind = form::point;
  static constexpr bool variadic = true;
  static constexpr element_kinds accepts = element_kinds::any;
  static constexpr bool symbolic = true;
  static constexpr traits properties{.map = mapping::one_to_one};
  static constexpr void attributes(auto& self, auto&& visit) { visit("axis", self.axis); }

  constexpr std::size_t along(std::size_t rank) const {
    return static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis);
  }
  constexpr void infer(inference& c) const {
    std::int64_t a = axis;
    if (!c.normalise_axis(a, c.rank(0))) return;
    const auto joined = static_cast<std::size_t>(a);
    shape s = c.in(0);
    for (std::size_t i = 1; i < c.inputs(); ++i) {
      if (!c.require_same_rank(0, i)) return;
      for (std::size_t d = 0; d < s.size(); ++d) {
        if (d == joined) s[d] = c.number(s[d]) + c.size(i, d);
        else if (!c.require_equal(s[d], "an extent of input 0", c.in(i)[d], "that of another input")) return;
        else if (s[d].is_unknown()) s[d] = c.in(i)[d];
      }
    }
    c.out(c.type(0), s);
  }
  constexpr footprint reads(const inference& c, std::size_t input) const {
    const std::size_t joined = along(c.rank(0));
    extent before = c.number(std::int64_t{0});
    for (std::size_t i = 0; i < input; ++i) before = before + c.size(i, joined);
    return footprint::same_except(c.rank(0), joined, needs::window(joined, 1, 1, 1, before));
  }
  // x(i, coordinates) reads input i.
  constexpr auto at(const auto& c, const coordinates& o, auto x) const {
    const std::size_t joined = along(c.out_rank());
    coordinates at_input = o;
    std::size_t i = 0;
    while (at_input[joined] >= c.in(i, joined)) at_input[joined] -= c.in(i++, joined);
    return x(i, at_input);
  }
  static constexpr dim flops(const inference&) { return 0; }
};

}  // namespace op

template <graph_tensor T = tensor>
constexpr T concat(detail::tensor_list<T> parts, const op::concat& attributes = {},
                   std::source_location caller = std::source_location::current()) {
  return detail::apply_to_list<T>(attributes, parts, caller);
}

}  // namespace dnnkit
