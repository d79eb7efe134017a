// SPDX-License-Identifier: MIT
// Transposed convolution in 1, 2 and 3 dimensions: ONNX's ConvTranspose, the gradient of Conv by its input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dnnkit/operator/access.hpp"
#include "dnnkit/operator/function.hpp"
#include "dnnkit/operator/window.hpp"

namespace dnnkit {

namespace op {

// X [N, C, spatial...], W [C, M / group, kernel...], optional B [M] -> [N, M, spatial...]; each input element adds its
// window to the output, at stride times its position; output_padding lengthens the output at the end.
struct conv_transpose {
  int_list kernel_shape = {}, strides = {}, pads = {}, dilations = {}, output_padding = {};
  std::int64_t group = 1;

  static constexpr std::string_view name = "ConvTranspose";
  static constexpr std::string_view operands = "x, weight, bias";
  static constexpr form kind = form::point;
  static constexpr std::size_t inputs = 3, optional_inputs = 1;
  static constexpr traits properties{.map = mapping::many_to_many};
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("kernel_shape", self.kernel_shape);
    visit("strides", self.strides);
    visit("pads", self.pads);
    visit("dilations", self.dilations);
    visit("output_padding", self.output_padding);
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
    if (!c.require(output_padding.empty() || output_padding.size() == axes,
                   "output_padding must fit the number of spatial axes"))
      return;
    for (std::size_t i = 0; i < axes; ++i)
      if (!c.require_equal(w.kernel(i), "kernel_shape", c.in(1)[i + 2], "the weight's kernel extent")) return;
    if (!c.require_equal(c.in(0)[1], "the input's channel count", c.in(1)[0], "the weight's input channels") ||
        !c.require(c.in(1)[0].value() % group == 0, "group does not divide the input channels"))
      return;
    const dim channels = c.size(1, 1) * group;
    if (c.has(2) && (!c.require_rank(2, 1, 1) ||
                     !c.require_equal(c.in(2)[0], "the bias's length", channels, "the number of output channels")))
      return;
    shape s{c.in(0)[0], channels};
    for (std::size_t i = 0; i < axes; ++i) {
      const std::int64_t more = output_padding.empty() ? 0 : output_padding[i];
      if (!c.require(more >= 0 && (more < w.stride(i) || more < w.dilation(i)),
                     "output_padding must be less than the stride or the dilation"))
        return;
      const extent n = (c.size(0, i + 2) - 1) * w.stride(i) + (w.reach(i) + more - w.pad_begin(i) - w.pad_end(i));
      if (!c.require(c.table().range(n).max >= 0, "pads are larger than the output")) return;
      s.push_back(n);
    }
    c.out(c.type(0), s);
  }
  template <class C, class O, class X, class W, class B = absent>
  constexpr auto at(const C& c, const O& o, X x, W weight, B bias = {}) const {
    using number = coordinate_of<O>;
    using real = typename C::real;
    const std::size_t axes = c.rank(0) - 2;
    const window w = over([&](std::size_t i) { return known_number(c.in(1, i)); }, axes);
    const number channels = c.in(1, 1), depth = c.in(0, 1) / number(group), first = o[1] / channels * depth;
    auto sum = variable(c, [&] {
      if constexpr (is_present<B>) return static_cast<real>(bias(O{o[1]}));
      else return real(0);
    }());
    const auto add = [&](O i, const O& k) {
      O j{number(0), o[1] % channels};
      for (std::size_t d = 0; d < axes; ++d) j[d + 2] = k[d];
      for_each(c, depth, [&](const number& n) {
        i[1] = j[0] = first + n;
        assign(c, sum, plus_product(sum, static_cast<real>(x(i)), static_cast<real>(weight(j))));
      });
    };
    detail::visit_sources(
        c, w, [&](std::size_t axis) { return c.in(0, axis + 2); }, o, add);
    return sum;
  }
  constexpr dim flops(const inference& c) const {
    extent n = c.count(0);
    for (std::size_t i = 1; i < c.rank(1); ++i) n = n * c.size(1, i);
    return n * 2;
  }
};

}  // namespace op

inline constexpr function<op::conv_transpose> conv_transpose;

}  // namespace dnnkit
