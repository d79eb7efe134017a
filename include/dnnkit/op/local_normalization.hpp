// SPDX-License-Identifier: MIT
// Normalisations by neighbours, norms and moments: ONNX's LRN, LpNormalization, MeanVarianceNormalization, and
// BatchNormalization by the moments of the batch itself.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/op/arithmetic.hpp"
#include "dnnkit/op/comparison.hpp"
#include "dnnkit/op/normalization.hpp"
#include "dnnkit/op/reduction.hpp"
#include "dnnkit/operator/access.hpp"

namespace dnnkit {

namespace op {

// x / (bias + alpha / size * the sum of squares over `size` channels around)^beta, x [N, C, ...]
struct lrn {
  std::int64_t size = 1;
  float alpha = 1e-4f, beta = 0.75f, bias = 1;

  static constexpr std::string_view name = "LRN";
  static constexpr form kind = form::point;
  static constexpr std::size_t inputs = 1;
  static constexpr traits properties{.map = mapping::many_to_many, .contiguous_axis = 1};
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("size", self.size);
    visit("alpha", self.alpha);
    visit("beta", self.beta);
    visit("bias", self.bias);
  }
  constexpr void infer(inference& c) const {
    if (c.require_rank(0, 3, max_rank) && c.require(size > 0, "size must be positive")) c.out(c.type(0), c.in(0));
  }
  constexpr footprint reads(const inference& c, std::size_t) const {
    return footprint::same_except(c.rank(0), 1, needs::window(1, 1, size, 1, (size - 1) / 2));
  }
  template <class C, class O> constexpr auto at(const C& c, const O& o, auto x) const {
    using number = coordinate_of<O>;
    using real = typename C::real;
    using std::pow;
    auto sum = variable(c, real(0));
    constexpr std::int64_t most = std::int64_t{1} << 30;  // channels
    const number before(std::min((size - 1) / 2, most)), behind = o[1] + number(std::min(size / 2, most) + 1);
    const number first = select(o[1] > before, o[1] - before, number(0)), channels = c.in(0, 1);
    for_each(c, select(behind < channels, behind, channels) - first, [&](const number& k) {
      O i = o;
      i[1] = first + k;
      const auto v = static_cast<real>(x(i));
      assign(c, sum, static_cast<real>(sum + v * v));
    });
    const real scale = real(bias) + real(alpha / static_cast<float>(size)) * sum;
    return static_cast<real>(x(o)) / pow(scale, real(beta));
  }
  constexpr dim flops(const inference& c) const {
    return c.count(0) * (c.number(c.table().min(c.in(0)[1], dim(size))) * 2 + 8);
  }
};

// x divided by its norm along `axis`, the sum of absolute values (p = 1) or the root of the sum of squares (p = 2)
struct lp_normalization {
  std::int64_t axis = -1, p = 2;

  static constexpr std::string_view name = "LpNormalization";
  static constexpr form kind = form::composite;
  static constexpr std::size_t inputs = 1;
  static constexpr element_kinds accepts = element_kinds::floating;
  static constexpr traits properties = detail::normalization;
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("axis", self.axis);
    visit("p", self.p);
  }
  constexpr void infer(inference& c) const {
    if (check_axes(c, {axis}) && c.require(p == 1 || p == 2, "p must be 1 or 2")) c.out(c.type(0), c.in(0));
  }
  template <class T> constexpr T expand(const vector<T>& in) const {
    const row_axes along{axis};
    const T norm = p == 1 ? dnnkit::reduce_l1(in[0], {.axes = along}) : dnnkit::reduce_l2(in[0], {.axes = along});
    auto& owner = norm.owner();
    const T nothing = owner.scalar(0, norm.type());
    const T endless = owner.scalar(std::numeric_limits<double>::infinity(), norm.type());
    return in[0] / dnnkit::where(dnnkit::equal(norm, nothing), endless, norm);  // 0 / 0 is to be 0
  }
};

// (x - mean) / standard deviation over the given axes
struct mean_variance_normalization {
  row_axes axes = {0, 2, 3};

  static constexpr std::string_view name = "MeanVarianceNormalization";
  static constexpr form kind = form::composite;
  static constexpr std::size_t inputs = 1;
  static constexpr element_kinds accepts = element_kinds::floating;
  static constexpr traits properties = detail::normalization;
  static constexpr void attributes(auto& self, auto&& visit) { visit("axes", self.axes.list); }
  constexpr void infer(inference& c) const {
    if (check_axes(c, axes.list)) c.out(c.type(0), c.in(0));
  }
  template <class T> constexpr T expand(const vector<T>& in) const {
    constexpr float least_variance = 1e-18f;  // ONNX adds 1e-9 to the deviation
    return in[0].owner().apply(standardize{axes, least_variance}, {in[0]});
  }
};

// X [N, C, ...], scale, bias, mean, variance: normalised by the moments of X over all axes but the channels.
// output: 0 the result, 1 and 2 the given mean and variance moved towards those of X, of which they keep `momentum`.
struct batch_normalization_training {
  float epsilon = 1e-5f, momentum = 0.9f;
  std::int64_t output = 0;

  static constexpr std::string_view name = "BatchNormalization.Training";
  static constexpr std::string_view operands = "x, scale, bias, mean, variance";
  static constexpr form kind = form::composite;
  static constexpr std::size_t inputs = 5;
  static constexpr element_kinds accepts = element_kinds::floating;
  static constexpr traits properties = detail::normalization;
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("epsilon", self.epsilon);
    visit("momentum", self.momentum);
    visit("output", self.output);
  }
  constexpr void infer(inference& c) const {
    if (output == 0) return detail::infer_channel_normalization(c, 2);
    if (c.require_rank(0, 2, max_rank)) c.out(c.type(0), {c.in(0)[1]});
  }
  template <class T> constexpr T expand(const vector<T>& in) const {
    const T x = in[0];
    row_axes over{0};
    for (std::int64_t d = 2; d < x.rank(); ++d) over.list.push_back(d);
    if (output == 0) {
      const T y = x.owner().apply(standardize{over, epsilon}, {x});
      return y * detail::along_channels(in[1], x) + detail::along_channels(in[2], x);
    }
    T moment = dnnkit::reduce_mean(x, {.axes = over, .keepdims = output == 2});
    if (output == 2) {
      const T rest = x - moment;
      moment = dnnkit::reduce_mean(rest * rest, {.axes = over, .keepdims = false});
    }
    const double kept = static_cast<double>(momentum);
    return in[output == 1 ? 3 : 4] * kept + moment * (1 - kept);
  }
};

}  // namespace op

inline constexpr function<op::lrn> lrn;
inline constexpr function<op::lp_normalization> lp_normalization;
inline constexpr function<op::mean_variance_normalization> mean_variance_normalization;

}  // namespace dnnkit
