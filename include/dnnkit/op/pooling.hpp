// SPDX-License-Identifier: MIT
// Pooling over spatial windows: ONNX's MaxPool, AveragePool, GlobalAveragePool, GlobalMaxPool.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/op/reduction.hpp"
#include "dnnkit/operator/function.hpp"
#include "dnnkit/operator/scalar.hpp"
#include "dnnkit/operator/window.hpp"

namespace dnnkit {

namespace detail {
inline constexpr traits pooling{.map = mapping::many_to_many, .contiguous_axis = 1};

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

constexpr footprint pool_reads(const inference& c, const window& w) {
  footprint f = footprint::same(c.rank(0));
  for (std::size_t d = 0; d + 2 < c.rank(0); ++d) f.axes[d + 2] = w.reach_along(d);
  return f;
}

// How many taps of the window at output coordinates o lie inside the input, or inside it and its padding, which a
// window rounded up may reach beyond.
template <class C, class O>
constexpr coordinate_of<O> count_taps(const C& c, const window& w, const O& o, bool with_padding) {
  using number = coordinate_of<O>;
  number n(1);
  for (std::size_t i = 0; i + 2 < c.rank(0); ++i) {
    const tap_range<number> inside = taps_along(c, w, o, i);
    const number padded = c.in(0, i + 2) + number(w.pad_end(i));
    n = n * (with_padding ? w.taps_before(i, o[i + 2], padded) : inside.last - inside.first);
  }
  return n;
}

// Global pooling reduces all spatial axes of [N, C, spatial...] to extent 1.
template <class T> constexpr row_axes spatial_axes(T x) {
  row_axes axes;
  for (std::int64_t d = 2; d < x.rank(); ++d) axes.list.push_back(d);
  return axes;
}
constexpr void infer_global_pool(inference& c) {
  if (!c.require_rank(0, 3, max_rank)) return;
  shape s{c.in(0)[0], c.in(0)[1]};
  while (s.size() < c.rank(0)) s.push_back(1);
  c.out(c.type(0), s);
}
}  // namespace detail

namespace op {

struct max_pool {
  int_list kernel_shape = {}, strides = {}, pads = {}, dilations = {};
  bool ceil_mode = false;

  static constexpr std::string_view name = "MaxPool";
  static constexpr form kind = form::point;
  static constexpr element_kinds accepts = element_kinds::number;
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
  constexpr footprint reads(const inference& c, std::size_t) const { return detail::pool_reads(c, over()); }
  template <class O> constexpr auto at(const auto& c, const O& o, auto x) const {
    using T = decltype(x(o));
    auto best = variable(c, lowest<T>());
    detail::visit_taps(c, over(), o, [&](const O& i, const O&) { assign(c, best, maximum(best, x(i))); });
    return best;
  }
  constexpr dim flops(const inference& c) const {
    return extent{&c.table(), element_count(c.table(), c.outputs()[0].dims)} * over().taps();
  }
};

// The mean over each window; padding counts as zeros if count_include_pad says so, else not at all.
struct average_pool {
  int_list kernel_shape = {}, strides = {}, pads = {}, dilations = {};
  bool ceil_mode = false, count_include_pad = false;

  static constexpr std::string_view name = "AveragePool";
  static constexpr form kind = form::point;
  static constexpr traits properties = detail::pooling;
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("kernel_shape", self.kernel_shape);
    visit("strides", self.strides);
    visit("pads", self.pads);
    visit("dilations", self.dilations);
    visit("ceil_mode", self.ceil_mode);
    visit("count_include_pad", self.count_include_pad);
  }

  constexpr window over() const { return {kernel_shape, strides, pads, dilations}; }
  constexpr void infer(inference& c) const { detail::infer_pool(c, over(), ceil_mode); }
  constexpr footprint reads(const inference& c, std::size_t) const { return detail::pool_reads(c, over()); }
  template <class C, class O> constexpr auto at(const C& c, const O& o, auto x) const {
    using real = typename C::real;
    auto sum = variable(c, real(0));
    detail::visit_taps(c, over(), o,
                       [&](const O& i, const O&) { assign(c, sum, static_cast<real>(sum + static_cast<real>(x(i)))); });
    return sum / as_element<real>(detail::count_taps(c, over(), o, count_include_pad));
  }
  constexpr dim flops(const inference& c) const {
    return extent{&c.table(), element_count(c.table(), c.outputs()[0].dims)} * over().taps();
  }
};

struct global_average_pool {
  static constexpr std::string_view name = "GlobalAveragePool";
  static constexpr form kind = form::composite;
  static constexpr std::size_t inputs = 1;
  static constexpr element_kinds accepts = element_kinds::floating;
  static constexpr traits properties = detail::reduction;
  static constexpr void infer(inference& c) { detail::infer_global_pool(c); }
  template <class T> static constexpr T expand(const vector<T>& in) {
    return dnnkit::reduce_mean(in[0], {.axes = detail::spatial_axes(in[0])});
  }
};

struct global_max_pool {
  static constexpr std::string_view name = "GlobalMaxPool";
  static constexpr form kind = form::composite;
  static constexpr std::size_t inputs = 1;
  static constexpr element_kinds accepts = element_kinds::number;
  static constexpr traits properties = detail::reduction;
  static constexpr void infer(inference& c) { detail::infer_global_pool(c); }
  template <class T> static constexpr T expand(const vector<T>& in) {
    return dnnkit::reduce_max(in[0], {.axes = detail::spatial_axes(in[0])});
  }
};

}  // namespace op

inline constexpr function<op::max_pool> max_pool;
inline constexpr function<op::average_pool> average_pool;
inline constexpr function<op::global_average_pool> global_average_pool;
inline constexpr function<op::global_max_pool> global_max_pool;

}  // namespace dnnkit
