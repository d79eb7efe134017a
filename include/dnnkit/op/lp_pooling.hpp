// SPDX-License-Identifier: MIT
// Pooling by norms, the positions of largest elements, and the way back: ONNX's LpPool, GlobalLpPool, the indices of
// MaxPool, MaxUnpool.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/op/arithmetic.hpp"
#include "dnnkit/op/pooling.hpp"
#include "dnnkit/op/reduction.hpp"
#include "dnnkit/operator/access.hpp"

namespace dnnkit {

namespace op {

// (sum of |x|^p)^(1/p) over each window
struct lp_pool {
  int_list kernel_shape = {}, strides = {}, pads = {}, dilations = {};
  bool ceil_mode = false;
  std::int64_t p = 2;

  static constexpr std::string_view name = "LpPool";
  static constexpr form kind = form::point;
  static constexpr std::size_t inputs = 1;
  static constexpr traits properties = detail::pooling;
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("kernel_shape", self.kernel_shape);
    visit("strides", self.strides);
    visit("pads", self.pads);
    visit("dilations", self.dilations);
    visit("ceil_mode", self.ceil_mode);
    visit("p", self.p);
  }

  constexpr window over() const { return {kernel_shape, strides, pads, dilations}; }
  constexpr void infer(inference& c) const {
    if (c.require(p > 0, "p must be positive")) detail::infer_pool(c, over(), ceil_mode);
  }
  constexpr footprint reads(const inference& c, std::size_t) const { return detail::pool_reads(c, over()); }
  template <class C, class O> constexpr auto at(const C& c, const O& o, auto x) const {
    using real = typename C::real;
    using std::abs;
    using std::pow;
    auto sum = variable(c, real(0));
    const real exponent(static_cast<float>(p));
    detail::visit_taps(c, over(), o, [&](const O& i, const O&) {
      assign(c, sum, static_cast<real>(sum + pow(abs(static_cast<real>(x(i))), exponent)));
    });
    return pow(sum, real(1) / exponent);
  }
  constexpr dim flops(const inference& c) const {
    return extent{&c.table(), element_count(c.table(), c.outputs()[0].dims)} * over().taps() * 4;
  }
};

// The same over all spatial axes of [N, C, spatial...]
struct global_lp_pool {
  std::int64_t p = 2;

  static constexpr std::string_view name = "GlobalLpPool";
  static constexpr form kind = form::composite;
  static constexpr std::size_t inputs = 1;
  static constexpr element_kinds accepts = element_kinds::floating;
  static constexpr traits properties = detail::reduction;
  static constexpr void attributes(auto& self, auto&& visit) { visit("p", self.p); }
  constexpr void infer(inference& c) const {
    if (c.require(p > 0, "p must be positive")) detail::infer_global_pool(c);
  }
  template <class T> constexpr T expand(const vector<T>& in) const {
    const row_axes over = detail::spatial_axes(in[0]);
    if (p == 1) return dnnkit::reduce_l1(in[0], {.axes = over});
    if (p == 2) return dnnkit::reduce_l2(in[0], {.axes = over});
    auto& owner = in[0].owner();
    const dtype type = in[0].type();
    const T power = dnnkit::pow(dnnkit::abs(in[0]), owner.scalar(static_cast<double>(p), type));
    return dnnkit::pow(dnnkit::reduce_sum(power, {.axes = over}), owner.scalar(1 / static_cast<double>(p), type));
  }
};

// Where MaxPool found each element: its number among all of the input's (i64), spatial axes last to first if
// storage_order is 1.
struct max_pool_indices {
  int_list kernel_shape = {}, strides = {}, pads = {}, dilations = {};
  bool ceil_mode = false;
  std::int64_t storage_order = 0;

  static constexpr std::string_view name = "MaxPool.Indices";
  static constexpr form kind = form::point;
  static constexpr std::size_t inputs = 1;
  static constexpr element_kinds accepts = element_kinds::number;
  static constexpr traits properties = detail::pooling;
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("kernel_shape", self.kernel_shape);
    visit("strides", self.strides);
    visit("pads", self.pads);
    visit("dilations", self.dilations);
    visit("ceil_mode", self.ceil_mode);
    visit("storage_order", self.storage_order);
  }

  constexpr window over() const { return {kernel_shape, strides, pads, dilations}; }
  constexpr void infer(inference& c) const {
    inference values(c.table());
    const tensor_type in{c.type(0), c.in(0)};
    values.add_input(in);
    detail::infer_pool(values, over(), ceil_mode);
    if (!values.error().empty()) c.fail(values.error());
    else c.out(i64, values.outputs()[0].dims);
  }
  constexpr footprint reads(const inference& c, std::size_t) const { return detail::pool_reads(c, over()); }
  template <class O> constexpr coordinate_of<O> at(const auto& c, const O& o, auto x) const {
    using number = coordinate_of<O>;
    auto best = variable(c, x(O{o[0], o[1]}));
    auto where = variable(c, number(-1));  // none yet
    detail::visit_taps(c, over(), o, [&](const O& i, const O&) {
      const auto v = x(i);
      when(c, either(where<number(0), v> best), [&] {
        assign(c, best, v);
        number n = i[0] * c.in(0, 1) + i[1];
        for (std::size_t k = 2; k < c.rank(0); ++k) {
          const std::size_t d = storage_order == 0 ? k : c.rank(0) + 1 - k;
          n = n * c.in(0, d) + i[d];
        }
        assign(c, where, n);
      });
    });
    return select(where < number(0), number(0), where);
  }
};

// Elements of X put back where MaxPool took them from, as I says; 0 elsewhere. The output is as large as the windows
// cover, which is what I counts in, or of output_shape.
struct max_unpool {
  int_list kernel_shape = {}, strides = {}, pads = {};
  shape output_shape = {};

  static constexpr std::string_view name = "MaxUnpool";
  static constexpr std::string_view operands = "x, indices";
  static constexpr form kind = form::whole;
  static constexpr std::size_t inputs = 2;
  static constexpr element_kinds accepts = element_kinds::number;
  static constexpr std::array<element, 2> elements{element::common, element::index};
  static constexpr traits properties{.map = mapping::one_to_many, .dynamic = dynamism::isvdos};
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("kernel_shape", self.kernel_shape);
    visit("strides", self.strides);
    visit("pads", self.pads);
    visit("output_shape", self.output_shape);
  }

  constexpr window over() const { return {kernel_shape, strides, pads, {}}; }
  // Extent of spatial axis i that the windows cover, of `in` elements of X.
  template <class N> constexpr N covered(std::size_t i, N in) const {
    const window w = over();
    return (in - 1) * w.stride(i) + (w.kernel(i) - w.pad_begin(i) - w.pad_end(i));
  }
  constexpr void infer(inference& c) const {
    if (!c.require_rank(0, 3, 5) || !over().check(c, c.rank(0) - 2)) return;
    if (!c.require_same_rank(0, 1)) return;
    if (!output_shape.empty()) {
      if (!c.require(output_shape.size() == c.rank(0), "output_shape must name every extent")) return;
      for (dim d : output_shape)
        if (!c.require_extent(d, "an extent of output_shape")) return;
      c.out(c.type(0), output_shape);
      return;
    }
    shape s{c.in(0)[0], c.in(0)[1]};
    for (std::size_t i = 0; i + 2 < c.rank(0); ++i) s.push_back(covered(i, c.size(0, i + 2)));
    c.out(c.type(0), s);
  }
  static constexpr footprint reads(const inference& c, std::size_t input) {
    return footprint::all(c.rank(0), input == 0 ? needs::one_chosen : needs::whole);
  }
  void compute(const auto& c, auto y, auto x, auto indices) const {
    using T = decltype(x[0]);
    const std::size_t rank = c.rank(0);
    const std::int64_t all = output_count(c), count = input_count(c, 0);
    for (std::int64_t n = 0; n < all; ++n) y.store(n, T(0));
    const auto extent = [&](std::size_t d) { return d < 2 ? c.in(0, d) : covered(d - 2, c.in(0, d)); };
    std::int64_t room = 1;
    for (std::size_t d = 0; d < rank; ++d) room *= extent(d);
    for (std::int64_t n = 0; n < count; ++n) {
      const std::int64_t at = position_in(c, static_cast<std::int64_t>(indices[n]), room);
      const coordinates o = coordinates_of(at, extent, rank);
      std::int64_t to = 0;
      bool inside = true;
      for (std::size_t d = 0; d < rank; ++d) {
        inside = inside && o[d] < c.out(d);
        to = to * c.out(d) + o[d];
      }
      if (inside) y.store(to, x[n]);
    }
  }
  static constexpr dim flops(const inference&) { return 0; }
};

}  // namespace op

inline constexpr function<op::lp_pool> lp_pool;
inline constexpr function<op::global_lp_pool> global_lp_pool;
inline constexpr function<op::max_pool_indices> max_pool_indices;
inline constexpr function<op::max_unpool> max_unpool;

}  // namespace dnnkit
