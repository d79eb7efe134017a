// SPDX-License-Identifier: MIT
// Pooling over spatial windows: ONNX's MaxPool, AveragePool, GlobalAveragePool, GlobalMaxPool.
#pragma once

#include "dnnkit/op/convolution.hpp"

namespace dnnkit {

namespace detail {
inline constexpr traits pooling{.map = mapping::many_to_many,
                                .layout = layout_class::ild_variable,
                                .load = load_class::reusable,
                                .split = partition::height_or_channels,
                                .contiguous_axis = 1};

// [N, C, spatial...] -> [N, C, windows...]
constexpr void infer_pool(inference& c, const window& w, bool ceil_mode) {
  if (!c.require_rank(0, 3, 5) || !w.check(c, c.rank(0) - 2)) return;
  shape s{c.in(0)[0], c.in(0)[1]};
  for (std::size_t i = 0; i + 2 < c.rank(0); ++i) {
    dim d;
    if (!w.output_extent(c, i, c.size(0, i + 2), ceil_mode, d)) return;
    s.push_back(d);
  }
  c.out(c.type(0), s);
}

// Calls visit(element) for each tap of the window at output coordinates o that lies inside the input; returns their
// number.
template <class C, class X, class Visit>
constexpr std::int64_t for_each_tap(const C& c, const window& w, const coordinates& o, X x, Visit visit) {
  const std::size_t axes = c.rank(0) - 2;
  std::int64_t n = 0;
  coordinates k{};
  do {
    coordinates i{o[0], o[1]};
    bool inside = true;
    for (std::size_t d = 0; d < axes; ++d) {
      i[d + 2] = w.position(d, o[d + 2], k[d]);
      inside = inside && i[d + 2] >= 0 && i[d + 2] < c.in(0, d + 2);
    }
    if (!inside) continue;
    visit(x(i));
    ++n;
  } while (next(k, w.kernel_shape, axes));
  return n;
}
}  // namespace detail

namespace op {

struct max_pool {
  int_list kernel_shape = {}, strides = {}, pads = {}, dilations = {};
  bool ceil_mode = false;

  static constexpr std::string_view name = "MaxPool";
  static constexpr form kind = form::point;
  static constexpr traits properties = detail::pooling;
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("kernel_shape", self.kernel_shape);
    visit("strides", self.strides);
    visit("pads", self.pads);
    visit("dilations", self.dilations);
    visit("ceil_mode", self.ceil_mode);
  }

  constexpr window over() const { return {kernel_shape, strides, pads, dilations}; }
  constexpr void infer(inference& c) const { detail::infer_pool(c, over(), ceil_mode); }
  constexpr auto at(const auto& c, const coordinates& o, auto x) const {
    using T = decltype(x(o));
    T best = std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
    detail::for_each_tap(c, over(), o, x, [&](T v) { best = maximum(best, v); });
    return best;
  }
};

}  // namespace op

inline constexpr function<op::max_pool> max_pool;

}  // namespace dnnkit
