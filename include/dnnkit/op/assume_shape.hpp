// SPDX-License-Identifier: MIT
// AssumeShape: a tensor whose extents are taken to be others than those that were inferred, where it is needed. What a
// branch of an If needs of extents is assumed so, of what it reads, and holds nowhere else.
#pragma once

#include <cstddef>
#include <source_location>
#include <string_view>

#include "dnnkit/operator/access.hpp"
#include "dnnkit/operator/function.hpp"

namespace dnnkit {

namespace op {

// The same elements; extent d is `dims[d]`. Whoever runs the graph checks that it is, when symbols have values, or, of
// what only one branch needs, when that is taken.
struct assume_shape {
  shape dims = {};

  static constexpr std::string_view name = "AssumeShape";
  static constexpr form kind = form::movement;
  static constexpr traits properties{};
  static constexpr void attributes(auto& self, auto&& visit) { visit("shape", self.dims); }

  constexpr void infer(inference& c) const {
    if (!c.require(dims.size() == c.rank(0), "the shape that is assumed has another rank")) return;
    for (std::size_t d = 0; d < dims.size(); ++d) {
      if (!c.require_extent(dims[d], "an extent that is assumed")) return;
      const bounds difference = c.table().range(c.table().sub(c.in(0)[d], dims[d]));
      if (difference.min <= 0 && difference.max >= 0) continue;
      text t;
      c.fail(t << "extent " << d << " is " << c.table().print(c.in(0)[d]) << ", which is never "
               << c.table().print(dims[d]) << " as it is assumed to be");
      return;
    }
    c.out(c.type(0), dims);
  }
  static constexpr bool forward(const movement& m, view& v) { return resized(v, m.in, m.out); }
  static constexpr bool backward(const movement& m, view& v) { return resized(v, m.out, m.in); }
  static constexpr auto at(const auto&, const auto& o, auto x) { return x(o); }

 private:
  static constexpr bool resized(view& v, const shape& from, const shape& to) {
    for (std::size_t d = 0; d < to.size(); ++d)
      if (!(from[d] == to[d]) && v.dims[d].size() != 1) return false;
    for (std::size_t d = 0; d < to.size(); ++d)
      if (!(from[d] == to[d])) v.dims[d][0].size = to[d];
    return true;
  }
};

}  // namespace op

// `needed_by` says in errors and explanations what needs the extents to be so.
template <graph_tensor T>
constexpr T assume_shape(T x, shape_argument dims, std::string_view needed_by = {},
                         std::source_location caller = std::source_location::current()) {
  const T result = x.owner().apply(op::assume_shape{x.owner().to_shape(dims)}, {x}, caller);
  return needed_by.empty() ? result : x.owner().named(needed_by, result, caller);
}

}  // namespace dnnkit
