// SPDX-License-Identifier: MIT
// A tensor repeated: ONNX's Expand (broadcast to a shape) and Tile. Index maps, one input element to many of the
// output.
#pragma once

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string_view>
#include <type_traits>

#include "dnnkit/operator/access.hpp"
#include "dnnkit/operator/function.hpp"

namespace dnnkit {

namespace detail {
inline constexpr traits repetition{.map = mapping::one_to_many, .dynamic = dynamism::isvdos};
}  // namespace detail

namespace op {

// Broadcast together with a shape of known or symbolic extents.
struct expand {
  shape dims = {};

  static constexpr std::string_view name = "Expand";
  static constexpr form kind = form::movement;
  static constexpr traits properties = detail::repetition;
  static constexpr void attributes(auto& self, auto&& visit) { visit("shape", self.dims); }

  constexpr void infer(inference& c) const {
    shape s = c.in(0);
    if (c.broadcast(s, dims)) c.out(c.type(0), s);
  }
  static constexpr bool forward(const movement& m, view& v) { return m.algebra.expand(v, m.out); }
  static constexpr auto at(const auto& c, const auto& o, auto x) { return x(broadcast_coordinates(c, 0, o)); }
};

// Axis d repeats[d] times, the whole of it each time.
struct tile {
  int_list repeats = {};

  static constexpr std::string_view name = "Tile";
  static constexpr form kind = form::movement;
  static constexpr traits properties = detail::repetition;
  static constexpr void attributes(auto& self, auto&& visit) { visit("repeats", self.repeats); }

  constexpr void infer(inference& c) const {
    if (!c.require(repeats.size() == c.rank(0), "repeats must name one number for each axis")) return;
    shape s;
    for (std::size_t d = 0; d < repeats.size(); ++d) {
      if (!c.require(repeats[d] >= 0, "repeats must not be negative")) return;
      s.push_back(c.size(0, d) * repeats[d]);
    }
    c.out(c.type(0), s);
  }
  constexpr bool forward(const movement& m, view& v) const { return m.algebra.tile(v, repeats); }
  static constexpr auto at(const auto& c, const auto& o, auto x) {
    std::remove_cvref_t<decltype(o)> i{};
    for (std::size_t d = 0; d < c.rank(0); ++d) i[d] = o[d] % c.in(0, d);
    return x(i);
  }
};

}  // namespace op

inline constexpr function<op::tile> tile;

template <graph_tensor T>
constexpr T expand(T x, shape_argument dims, std::source_location caller = std::source_location::current()) {
  return x.owner().apply(op::expand{x.owner().to_shape(dims)}, {x}, caller);
}
// Of a pattern, which has the extents as attributes with a name: expand(a)[p].
template <pattern_of_operators P> constexpr P expand(const P& x) { return P::apply(op::expand{}, x); }

}  // namespace dnnkit
