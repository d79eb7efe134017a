// SPDX-License-Identifier: MIT
// Sums and products of all elements up to each: ONNX's CumSum and CumProd.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dnnkit/operator/access.hpp"
#include "dnnkit/operator/function.hpp"
#include "dnnkit/operator/scalar.hpp"

namespace dnnkit {

namespace op {

// Along `axis`: the elements up to and with each (exclusive: without it) added or multiplied, from the end if reverse.
template <class Fold> struct cumulative {
  std::int64_t axis = 0;
  bool exclusive = false, reverse = false;

  static constexpr std::string_view name = Fold::name;
  static constexpr form kind = form::whole;
  static constexpr std::size_t inputs = 1;
  static constexpr element_kinds accepts = element_kinds::number;
  static constexpr traits properties{.map = mapping::many_to_many};
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("axis", self.axis);
    visit("exclusive", self.exclusive);
    visit("reverse", self.reverse);
  }

  constexpr void infer(inference& c) const {
    std::int64_t a = axis;
    if (c.normalise_axis(a, c.rank(0))) c.out(c.type(0), c.in(0));
  }
  constexpr footprint reads(const inference& c, std::size_t) const {
    return footprint::same_except(c.rank(0), axis_position(axis, c.rank(0)));
  }
  // One a row.
  constexpr auto parts(const auto& c) const {
    const auto a = around(c, 0, axis_position(axis, c.rank(0)));
    return a.outer * a.inner;
  }
  template <class C> constexpr void compute_part(const C& c, const number_of<C>& part, auto y, auto x) const {
    using number = number_of<C>;
    using kept = sum_of<C, decltype(x[part])>;
    const around_axis<number> a = around(c, 0, axis_position(axis, c.rank(0)));
    const number o = part / a.inner, i = part % a.inner;
    auto all = variable(c, output_element<kept>(c, Fold::nothing));
    for_each(c, a.length, [&](const number& k) {
      const number n = a.at(o, reverse ? a.length - number(1) - k : k, i);
      const auto element = static_cast<kept>(x[n]);
      if (exclusive) y.store(n, all);
      assign(c, all, static_cast<kept>(Fold::join(modular(all), modular(element))));
      if (!exclusive) y.store(n, all);
    });
  }
};

}  // namespace op

namespace detail {
struct cumulative_sum {
  static constexpr std::string_view name = "CumSum";
  static constexpr int nothing = 0;
  static constexpr auto join(auto a, auto b) { return a + b; }
};
struct cumulative_product {
  static constexpr std::string_view name = "CumProd";
  static constexpr int nothing = 1;
  static constexpr auto join(auto a, auto b) { return a * b; }
};
}  // namespace detail

namespace op {

using cum_sum = cumulative<detail::cumulative_sum>;
using cum_prod = cumulative<detail::cumulative_product>;

}  // namespace op

inline constexpr function<op::cum_sum> cum_sum;
inline constexpr function<op::cum_prod> cum_prod;

}  // namespace dnnkit
