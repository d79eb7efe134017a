// SPDX-License-Identifier: MIT
// Sums of all elements up to each: ONNX's CumSum.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dnnkit/op/access.hpp"
#include "dnnkit/op/function.hpp"
#include "dnnkit/op/scalar.hpp"

namespace dnnkit {

namespace op {

// Along `axis`: the sum of the elements up to and with each (exclusive: without it), from the end if reverse.
struct cum_sum {
  std::int64_t axis = 0;
  bool exclusive = false, reverse = false;

  static constexpr std::string_view name = "CumSum";
  static constexpr form kind = form::whole;
  static constexpr std::size_t inputs = 1;
  static constexpr element_kinds accepts = element_kinds::number;
  static constexpr traits properties{.map = mapping::many_to_many, .laws = algebra::linear};
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("axis", self.axis);
    visit("exclusive", self.exclusive);
    visit("reverse", self.reverse);
  }

  constexpr void infer(inference& c) const {
    std::int64_t a = axis;
    if (c.normalise_axis(a, c.rank(0))) c.out(c.type(0), c.in(0));
  }
  template <class C> void compute(const C& c, auto y, auto x) const {
    using sum_type = sum_of<C, decltype(x[0])>;
    const around_axis a = around(c, 0, axis_position(axis, c.rank(0)));
    for (std::int64_t o = 0; o < a.outer; ++o)
      for (std::int64_t i = 0; i < a.inner; ++i) {
        sum_type sum = 0;
        for (std::int64_t k = 0; k < a.length; ++k) {
          const std::int64_t n = a.at(o, reverse ? a.length - 1 - k : k, i);
          const sum_type before = sum;
          sum = static_cast<sum_type>(modular(sum) + modular(static_cast<sum_type>(x[n])));
          y.store(n, exclusive ? before : sum);
        }
      }
  }
};

}  // namespace op

inline constexpr function<op::cum_sum> cum_sum;

}  // namespace dnnkit
