// SPDX-License-Identifier: MIT
// Convolution in 1, 2 and 3 dimensions, with stride, padding, dilation and groups: ONNX's Conv.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dnnkit/operator/access.hpp"
#include "dnnkit/operator/function.hpp"
#include "dnnkit/operator/scalar.hpp"
#include "dnnkit/operator/window.hpp"

namespace dnnkit {

namespace op {

// X [N, C, spatial...], W [M, C / group, kernel...], optional B [M] -> [N, M, spatial...]
struct conv {
  int_list kernel_shape = {}, strides = {}, pads = {}, dilations = {};
  std::int64_t group = 1;

  static constexpr std::string_view name = "Conv";
  static constexpr std::string_view operands = "x, weight, bias";
  static constexpr form kind = form::point;
  static constexpr std::size_t inputs = 3, optional_inputs = 1;
  static constexpr element_kinds accepts = element_kinds::number;
  static constexpr traits properties{.map = mapping::many_to_many, .contiguous_axis = 1};
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("kernel_shape", self.kernel_shape);
    visit("strides", self.strides);
    visit("pads", self.pads);
    visit("dilations", self.dilations);
    visit("group", self.group);
  }

  constexpr window over(const auto& extent_of_weight, std::size_t axes) const {
    window w{kernel_shape, strides, pads, dilations};
    if (w.kernel_shape.empty())
      for (std::size_t i = 0; i < axes; ++i) w.kernel_shape.push_back(extent_of_weight(i + 2));
    return w;
  }
  constexpr void infer(inference& c) const {
    if (!c.require_rank(0, 3, 5) || !c.require_same_rank(0, 1)) return;
    const std::size_t axes = c.rank(0) - 2;
    if (!c.require(is_known(c.in(1)), "the weight's shape must be known")) return;
    const window w = over([&](std::size_t i) { return c.in(1)[i].value(); }, axes);
    if (!w.check(c, axes) || !c.require(group > 0, "group must be positive")) return;
    for (std::size_t i = 0; i < axes; ++i)
      if (!c.require_equal(w.kernel(i), "kernel_shape", c.in(1)[i + 2], "the weight's kernel extent")) return;
    if (!c.require_equal(c.in(0)[1], "the input's channel count", c.size(1, 1) * group,
                         "the weight's input channels times group"))
      return;
    if (!c.require(c.in(1)[0].value() % group == 0, "group does not divide the output channels")) return;
    if (c.has(2) && (!c.require_rank(2, 1, 1) ||
                     !c.require_equal(c.in(2)[0], "the bias's length", c.in(1)[0], "the weight's output channels")))
      return;
    shape s{c.in(0)[0], c.in(1)[0]};
    for (std::size_t i = 0; i < axes; ++i) {
      dim d;
      if (!w.output_extent(c, i, c.size(0, i + 2), false, d)) return;
      s.push_back(d);
    }
    c.out(c.type(0), s);
  }
  constexpr footprint reads(const inference& c, std::size_t input) const {
    if (input == 2) return {needs::same(1)};
    footprint f = footprint::all(c.rank(input));
    if (input == 1) {
      f.axes[0] = needs::same(1);
      return f;
    }
    const window w = over([&](std::size_t i) { return c.in(1)[i].value(); }, c.rank(0) - 2);
    f.axes[0] = needs::same(0);
    if (group > 1) f.axes[1] = needs::grouped(1, c.in(1)[0].value() / group, c.in(1)[1]);
    for (std::size_t d = 0; d + 2 < c.rank(0); ++d) f.axes[d + 2] = w.reach_along(d);
    return f;
  }
  template <class C, class O, class X, class W, class B = absent>
  constexpr auto at(const C& c, const O& o, X x, W weight, B bias = {}) const {
    using number = coordinate_of<O>;
    using sum_type = sum_of<C, decltype(x(o))>;
    const std::size_t axes = c.rank(0) - 2;
    const window w = over([&](std::size_t i) { return known_number(c.in(1, i)); }, axes);
    const number depth = c.in(1, 1), first = o[1] / (c.out(1) / number(group)) * depth;
    auto sum = variable(c, [&] {
      if constexpr (is_present<B>) return static_cast<sum_type>(bias(O{o[1]}));
      else return output_element<sum_type>(c, 0);
    }());
    detail::visit_taps(c, w, o, [&](O i, const O& k) {
      O j{o[1]};
      for (std::size_t d = 0; d < axes; ++d) j[d + 2] = k[d];
      for_each(c, depth, [&](const number& n) {
        i[1] = first + n;
        j[1] = n;
        assign(c, sum, plus_product(sum, static_cast<sum_type>(x(i)), static_cast<sum_type>(weight(j))));
      });
    });
    return sum;
  }
  constexpr dim flops(const inference& c) const {
    extent products = c.number(1);  // summed for one element, which a bias is added to
    for (std::size_t i = 1; i < c.rank(1); ++i) products = products * c.size(1, i);
    const extent elements{&c.table(), element_count(c.table(), c.outputs()[0].dims)};
    return elements * (products * 2 + (c.has(2) ? 1 : 0));
  }
};

}  // namespace op

inline constexpr function<op::conv> conv;

}  // namespace dnnkit
