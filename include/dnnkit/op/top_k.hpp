// SPDX-License-Identifier: MIT
// The largest or smallest elements along an axis: ONNX's TopK, its values or their positions; and Hardmax.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/op/arg_reduction.hpp"
#include "dnnkit/op/cast.hpp"
#include "dnnkit/op/comparison.hpp"
#include "dnnkit/op/movement.hpp"
#include "dnnkit/op/range.hpp"
#include "dnnkit/operator/access.hpp"
#include "dnnkit/operator/function.hpp"

namespace dnnkit {

namespace op {

// The k best elements along `axis`, best first; of equal ones the first comes first, and NaN counts as the largest.
// output: 0 the values, 1 their positions (i64).
struct top_k {
  dim k = 1;
  std::int64_t axis = -1;
  bool largest = true, sorted = true;
  std::int64_t output = 0;

  static constexpr std::string_view name = "TopK";
  static constexpr form kind = form::whole;
  static constexpr std::size_t inputs = 1;
  static constexpr element_kinds accepts = element_kinds::number;
  static constexpr traits properties{.map = mapping::many_to_many, .dynamic = dynamism::isvdos};
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("k", self.k);
    visit("axis", self.axis);
    visit("largest", self.largest);
    visit("sorted", self.sorted);
    visit("output", self.output);
  }

  constexpr void infer(inference& c) const {
    std::int64_t a = axis;
    if (!c.normalise_axis(a, c.rank(0)) || !c.require_extent(k, "k")) return;
    const auto along = static_cast<std::size_t>(a);
    if (!c.require(c.table().range(c.table().sub(k, c.in(0)[along])).min <= 0, "k is more than there are elements"))
      return;
    shape s = c.in(0);
    s[along] = k;
    c.out(output == 0 ? c.type(0) : i64, s);
  }
  constexpr footprint reads(const inference& c, std::size_t) const {
    return footprint::same_except(c.rank(0), axis_position(axis, c.rank(0)));
  }
  // Does element a at position i come before b at j?
  template <class T> constexpr bool before(T a, std::int64_t i, T b, std::int64_t j) const {
    const bool above = a > b || (a != a && b == b), below = a < b || (a == a && b != b);
    if (above || below) return largest ? above : below;
    return i < j;
  }
  void compute(const auto& c, auto y, auto x) const {
    const std::size_t along = axis_position(axis, c.rank(0));
    const around_axis a = around(c, 0, along);
    const std::int64_t count = c.out(along);
    for (std::int64_t o = 0; o < a.outer; ++o)
      for (std::int64_t i = 0; i < a.inner; ++i) {
        std::int64_t last = -1;
        for (std::int64_t n = 0; n < count; ++n) {
          std::int64_t best = -1;
          for (std::int64_t p = 0; p < a.length; ++p) {
            const auto v = x[a.at(o, p, i)];
            if (last >= 0 && !before(x[a.at(o, last, i)], last, v, p)) continue;
            if (best < 0 || before(v, p, x[a.at(o, best, i)], best)) best = p;
          }
          const std::int64_t to = (o * count + n) * a.inner + i;
          if (output == 0) y.store(to, x[a.at(o, best, i)]);
          else y.store(to, best);
          last = best;
        }
      }
  }
  constexpr dim flops(const inference& c) const { return c.count(0) * c.number(k); }
};

// 1 at the first of the largest elements along `axis`, 0 elsewhere
struct hardmax {
  std::int64_t axis = -1;

  static constexpr std::string_view name = "Hardmax";
  static constexpr form kind = form::composite;
  static constexpr std::size_t inputs = 1;
  static constexpr element_kinds accepts = element_kinds::floating;
  static constexpr traits properties = detail::reduction;
  static constexpr void attributes(auto& self, auto&& visit) { visit("axis", self.axis); }
  constexpr void infer(inference& c) const {
    if (check_axes(c, {axis})) c.out(c.type(0), c.in(0));
  }
  template <class T> constexpr T expand(const vector<T>& in) const {
    auto& owner = in[0].owner();
    const std::size_t along = axis_position(axis, static_cast<std::size_t>(in[0].rank()));
    const dim extent = in[0].dims()[along];
    if (extent == dim(0)) return owner.apply(identity{}, {in[0]});
    shape s = shape::filled(in[0].dims().size(), 1);
    s[along] = extent;
    const T positions = dnnkit::range(owner.scalar(0, i64), owner.scalar(1, i64), {.count = extent});
    const T best = dnnkit::arg_max(in[0], {.axis = axis});
    return dnnkit::cast(dnnkit::equal(best, owner.apply(reshape{s}, {positions})), {.to = in[0].type()});
  }
};

}  // namespace op

inline constexpr function<op::top_k> top_k;
inline constexpr function<op::hardmax> hardmax;

}  // namespace dnnkit
