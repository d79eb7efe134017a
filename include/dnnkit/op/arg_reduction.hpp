// SPDX-License-Identifier: MIT
// Where the largest or smallest element along an axis is: ONNX's ArgMax and ArgMin.
#pragma once

#include <cstdint>
#include <string_view>

#include "dnnkit/op/reduction.hpp"
#include "dnnkit/operator/access.hpp"
#include "dnnkit/operator/function.hpp"

namespace dnnkit {

namespace detail {
struct largest {
  static constexpr std::string_view name = "ArgMax";
  static constexpr auto better(auto x, auto best) { return x > best; }
};
struct smallest {
  static constexpr std::string_view name = "ArgMin";
  static constexpr auto better(auto x, auto best) { return x < best; }
};
}  // namespace detail

namespace op {

// The position, an i64, of the first (or, if select_last_index, the last) of the best elements along `axis`, which
// becomes 1 or vanishes without keepdims. An axis of extent 0 is refused where it is known, and has position 0 where a
// symbol turns out to be 0.
template <class Order> struct arg_reduce {
  std::int64_t axis = 0;
  bool keepdims = true, select_last_index = false;

  static constexpr Order order{};
  static constexpr std::string_view name = Order::name;
  static constexpr form kind = form::point;
  static constexpr std::size_t inputs = 1;
  static constexpr element_kinds accepts = element_kinds::number;
  static constexpr traits properties = detail::reduction;
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("axis", self.axis);
    visit("keepdims", self.keepdims);
    visit("select_last_index", self.select_last_index);
  }

  constexpr std::size_t position(std::size_t rank) const {
    return static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis);
  }
  constexpr void infer(inference& c) const {
    if (!check_axes(c, {axis})) return;
    const std::size_t along = position(c.rank(0));
    if (!c.require(!(c.in(0)[along] == dim(0)), "there is no element along the axis")) return;
    shape s = c.in(0);
    if (keepdims) s[along] = 1;
    else s.erase(along);
    c.out(i64, s);
  }
  constexpr footprint reads(const inference& c, std::size_t) const {
    axis_set row;
    row.add(position(c.rank(0)));
    return detail::row_reads(c, row);
  }
  template <class O> constexpr coordinate_of<O> at(const auto& c, const O& o, auto x) const {
    using number = coordinate_of<O>;
    const std::size_t rank = c.rank(0), along = position(rank);
    O i{};
    for (std::size_t d = 0; d < rank; ++d)
      if (d != along) i[d] = o[keepdims || d < along ? d : d - 1];
    auto where = variable(c, number(0));
    when(c, c.in(0, along) != number(0), [&] {
      auto best = variable(c, x(i));
      for_each(c, c.in(0, along) - number(1), [&](const number& k) {
        i[along] = k + number(1);
        const auto v = x(i);
        const auto is_taken = select_last_index ? either(Order::better(v, best), v == best) : Order::better(v, best);
        when(c, is_taken, [&] {
          assign(c, best, v);
          assign(c, where, k + number(1));
        });
      });
    });
    return where;
  }
  constexpr dim flops(const inference& c) const { return c.count(0); }
};

using arg_max = arg_reduce<detail::largest>;
using arg_min = arg_reduce<detail::smallest>;

}  // namespace op

inline constexpr function<op::arg_max> arg_max;
inline constexpr function<op::arg_min> arg_min;

}  // namespace dnnkit
