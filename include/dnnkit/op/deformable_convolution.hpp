// SPDX-License-Identifier: MIT
// Convolution whose taps lie where another tensor says: ONNX's DeformConv, in two dimensions.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dnnkit/operator/access.hpp"
#include "dnnkit/operator/function.hpp"
#include "dnnkit/operator/window.hpp"

namespace dnnkit {

namespace op {

// X [N, C, H, W], W [M, C / group, kh, kw], offset [N, offset_group kh kw 2, H', W'] (down, then across, of every tap),
// optional B [M] and mask [N, offset_group kh kw, H', W'] (a factor for every tap) -> [N, M, H', W'].
struct deform_conv {
  int_list kernel_shape = {}, strides = {}, pads = {}, dilations = {};
  std::int64_t group = 1, offset_group = 1;

  static constexpr std::string_view name = "DeformConv";
  static constexpr std::string_view operands = "x, weight, offset, bias, mask";
  static constexpr form kind = form::point;
  static constexpr std::size_t inputs = 5, optional_inputs = 2;
  static constexpr traits properties{.map = mapping::many_to_many};
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("kernel_shape", self.kernel_shape);
    visit("strides", self.strides);
    visit("pads", self.pads);
    visit("dilations", self.dilations);
    visit("group", self.group);
    visit("offset_group", self.offset_group);
  }

  constexpr window over(const auto& extent_of_weight) const {
    window w{kernel_shape, strides, pads, dilations};
    if (w.kernel_shape.empty()) w.kernel_shape = {extent_of_weight(2), extent_of_weight(3)};
    return w;
  }
  constexpr void infer(inference& c) const {
    for (std::size_t i = 0; i < 3; ++i)
      if (!c.require_rank(i, 4, 4)) return;
    if (!c.require(is_known(c.in(1)), "the weight's shape must be known")) return;
    const window w = over([&](std::size_t i) { return c.in(1)[i].value(); });
    if (!w.check(c, 2) || !c.require(group > 0 && offset_group > 0, "groups must be positive")) return;
    if (!c.require_equal(c.in(0)[1], "the input's channel count", c.size(1, 1) * group,
                         "the weight's input channels times group") ||
        !c.require_equal(c.in(2)[1], "the offset's channels", offset_group * w.taps() * 2, "two for every tap"))
      return;
    shape s{c.in(0)[0], c.in(1)[0]};
    for (std::size_t i = 0; i < 2; ++i) {
      dim d;
      if (!w.output_extent(c, i, c.size(0, i + 2), false, d)) return;
      if (!c.require_equal(c.in(2)[i + 2], "an extent of the offset", d, "that of the output")) return;
      s.push_back(d);
    }
    if (c.has(3) && !c.require_rank(3, 1, 1)) return;
    if (c.has(4) && !c.require_rank(4, 4, 4)) return;
    c.out(c.type(0), s);
  }
  constexpr footprint reads(const inference& c, std::size_t input) const {
    if (input == 3) return {needs::same(1)};
    if (input == 1) return {needs::same(1), needs::whole, needs::whole, needs::whole};
    if (input != 0) return {needs::same(0), needs::whole, needs::same(2), needs::same(3)};
    const axis_reach channels = group > 1 ? needs::grouped(1, c.in(1)[0].value() / group, c.in(1)[1]) : needs::whole;
    return {needs::same(0), channels, needs::some_chosen, needs::some_chosen};
  }
  template <class C, class X, class W, class O, class B = absent, class M = absent>
  auto at(const C& c, const coordinates& o, X x, W weight, O offset, B bias = {}, M mask = {}) const {
    using real = typename C::real;
    const window w = over([&](std::size_t i) { return c.in(1, i); });
    const std::int64_t depth = c.in(1, 1), first = o[1] / (c.out(1) / group) * depth;
    const std::int64_t channels_of_offset = c.in(0, 1) / offset_group;
    real sum = 0;
    if constexpr (is_present<B>) sum = static_cast<real>(bias(coordinates{o[1]}));
    for (std::int64_t ch = 0; ch < depth; ++ch) {
      const std::int64_t shared = (first + ch) / channels_of_offset;
      for (std::int64_t i = 0; i < w.kernel(0); ++i)
        for (std::int64_t j = 0; j < w.kernel(1); ++j) {
          const std::int64_t tap = shared * w.taps() + i * w.kernel(1) + j;
          const auto moved = [&](std::size_t d, std::int64_t k) {
            const auto by =
                static_cast<real>(offset(coordinates{o[0], 2 * tap + static_cast<std::int64_t>(d), o[2], o[3]}));
            return static_cast<real>(w.position(d, o[d + 2], k)) + by;
          };
          real v = sampled<real>(c, coordinates{o[0], first + ch}, moved(0, i), moved(1, j), x);
          if constexpr (is_present<M>) v *= static_cast<real>(mask(coordinates{o[0], tap, o[2], o[3]}));
          sum += v * static_cast<real>(weight(coordinates{o[1], ch, i, j}));
        }
    }
    return sum;
  }
  constexpr dim flops(const inference& c) const {
    extent n{&c.table(), element_count(c.table(), c.outputs()[0].dims)};
    for (std::size_t i = 1; i < c.rank(1); ++i) n = n * c.size(1, i);
    return n * 12;
  }

 private:
  // Between the four elements around (down, across); outside the image there are zeros.
  template <class T> static T sampled(const auto& c, coordinates at, T down, T across, const auto& x) {
    const bool near =
        down > -1 && down < static_cast<T>(c.in(0, 2)) && across > -1 && across < static_cast<T>(c.in(0, 3));
    if (!near) return 0;  // nor is a place that is no number
    const T below = std::floor(down), before = std::floor(across);
    T sum = 0;
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j) {
        at[2] = static_cast<std::int64_t>(below) + i;
        at[3] = static_cast<std::int64_t>(before) + j;
        if (at[2] < 0 || at[2] >= c.in(0, 2) || at[3] < 0 || at[3] >= c.in(0, 3)) continue;
        const T part_down = i == 1 ? down - below : 1 - (down - below);
        const T part_across = j == 1 ? across - before : 1 - (across - before);
        sum += part_down * part_across * static_cast<T>(x(at));
      }
    return sum;
  }
};

}  // namespace op

inline constexpr function<op::deform_conv> deform_conv;

}  // namespace dnnkit
