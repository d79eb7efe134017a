// SPDX-License-Identifier: MIT
// ONNX's Layer-, RMS-, Instance-, Group- and BatchNormalization. The two cores (Standardize, RootMeanSquare) are row
// operators; the normalisations are said in terms of them, so that scale and bias are element-wise like any other.
#pragma once

#include <cmath>
#include <source_location>
#include <string_view>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/op/arithmetic.hpp"
#include "dnnkit/op/movement.hpp"
#include "dnnkit/op/softmax.hpp"
#include "dnnkit/op/transcendental.hpp"
#include "dnnkit/operator/statistics.hpp"

namespace dnnkit {

namespace detail {

// X, and scale and bias that broadcast to it; the row begins at `axis`
constexpr void infer_row_normalization(inference& c, std::int64_t axis) {
  if (!c.normalise_axis(axis, c.rank(0))) return;
  for (std::size_t i = 1; i < c.inputs(); ++i) {
    shape s = c.in(0);
    if (!c.has(i)) continue;
    if (!c.broadcast(s, c.in(i))) return;
    if (!c.require(s == c.in(0), "scale and bias must broadcast to the input")) return;
  }
  c.out(c.type(0), c.in(0));
}
// X [N, C, ...] of a least rank, and parameters [C]
constexpr void infer_channel_normalization(inference& c, std::size_t least_rank) {
  if (!c.require_rank(0, least_rank, max_rank)) return;
  for (std::size_t i = 1; i < c.inputs(); ++i)
    if (!c.require_rank(i, 1, 1) ||
        !c.require_equal(c.in(0)[1], "the input's channel count", c.in(i)[0], "a parameter's length"))
      return;
  c.out(c.type(0), c.in(0));
}

constexpr row_axes axes_from(std::int64_t first, std::int64_t rank) {
  row_axes axes;
  for (std::int64_t a = first < 0 ? first + rank : first; a < rank; ++a) axes.list.push_back(a);
  return axes;
}
// A parameter [C] as [C, 1, ...], which broadcasts along everything behind the channel axis of x.
template <class T> constexpr T along_channels(T parameter, T x) {
  shape s{x.size(1)};
  while (static_cast<std::int64_t>(s.size()) + 1 < x.rank()) s.push_back(1);
  return parameter.owner().apply(op::reshape{s}, {parameter});
}

}  // namespace detail

namespace op {

// (x - mean) / sqrt(variance + epsilon) over the given axes: the core of Layer-, Instance- and GroupNormalization
struct standardize {
  row_axes axes = {-1};
  float epsilon = 1e-5f;

  static constexpr std::string_view name = "Standardize";
  static constexpr form kind = form::row;
  static constexpr traits properties = detail::normalization;
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("axes", self.axes.list);
    visit("epsilon", self.epsilon);
  }
  constexpr void infer(inference& c) const {
    if (check_axes(c, axes.list)) c.out(c.type(0), c.in(0));
  }

  static constexpr std::size_t passes = 2;
  template <class T, std::size_t P> static constexpr T start(pass<P>) { return T(0); }
  template <class T, std::size_t P> static constexpr T accumulate(pass<P>, T sum, T x, const statistics<T, passes>& s) {
    if constexpr (P == 0) return sum + x;
    else return sum + (x - s[0]) * (x - s[0]);
  }
  template <class T, std::size_t P> static constexpr T merge(pass<P>, T a, T b) { return a + b; }
  template <class T, std::size_t P> constexpr T close(pass<P>, T sum, T n, const statistics<T, passes>&) const {
    if constexpr (P == 0) return sum / n;
    else return reciprocal_sqrt(sum / n + T(epsilon));
  }
  template <class T> static constexpr T finish(T x, const statistics<T, passes>& s) { return (x - s[0]) * s[1]; }
};

// x / sqrt(mean of squares + epsilon) over the given axes: the core of RMSNormalization
struct root_mean_square {
  row_axes axes = {-1};
  float epsilon = 1e-5f;

  static constexpr std::string_view name = "RootMeanSquare";
  static constexpr form kind = form::row;
  static constexpr traits properties = detail::normalization;
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("axes", self.axes.list);
    visit("epsilon", self.epsilon);
  }
  constexpr void infer(inference& c) const {
    if (check_axes(c, axes.list)) c.out(c.type(0), c.in(0));
  }

  static constexpr std::size_t passes = 1;
  template <class T, std::size_t P> static constexpr T start(pass<P>) { return T(0); }
  template <class T, std::size_t P> static constexpr T accumulate(pass<P>, T sum, T x, const statistics<T, passes>&) {
    return sum + x * x;
  }
  template <class T, std::size_t P> static constexpr T merge(pass<P>, T a, T b) { return a + b; }
  template <class T, std::size_t P> constexpr T close(pass<P>, T sum, T n, const statistics<T, passes>&) const {
    return reciprocal_sqrt(sum / n + T(epsilon));
  }
  template <class T> static constexpr T finish(T x, const statistics<T, passes>& s) { return x * s[0]; }
};

// X, scale, optional bias; normalised over axis ... rank-1
struct layer_normalization {
  std::int64_t axis = -1;
  float epsilon = 1e-5f;

  static constexpr std::string_view name = "LayerNormalization";
  static constexpr std::string_view operands = "x, scale, bias";
  static constexpr form kind = form::composite;
  static constexpr std::size_t inputs = 3, optional_inputs = 1;
  static constexpr element_kinds accepts = element_kinds::floating;
  static constexpr traits properties = detail::normalization;
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("axis", self.axis);
    visit("epsilon", self.epsilon);
  }
  constexpr void infer(inference& c) const { detail::infer_row_normalization(c, axis); }
  template <class T> constexpr T expand(const vector<T>& in) const {
    const T y = in[0].owner().apply(standardize{detail::axes_from(axis, in[0].rank()), epsilon}, {in[0]}) * in[1];
    return in.size() > 2 && in[2].present() ? y + in[2] : y;
  }
};

// X, scale; divided by the root of the mean square over axis ... rank-1
struct rms_normalization {
  std::int64_t axis = -1;
  float epsilon = 1e-5f;

  static constexpr std::string_view name = "RMSNormalization";
  static constexpr std::string_view operands = "x, scale";
  static constexpr form kind = form::composite;
  static constexpr std::size_t inputs = 2;
  static constexpr element_kinds accepts = element_kinds::floating;
  static constexpr traits properties = detail::normalization;
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("axis", self.axis);
    visit("epsilon", self.epsilon);
  }
  constexpr void infer(inference& c) const { detail::infer_row_normalization(c, axis); }
  template <class T> constexpr T expand(const vector<T>& in) const {
    return in[0].owner().apply(root_mean_square{detail::axes_from(axis, in[0].rank()), epsilon}, {in[0]}) * in[1];
  }
};

// X [N, C, spatial...], scale [C], bias [C]; normalised over the spatial axes
struct instance_normalization {
  float epsilon = 1e-5f;

  static constexpr std::string_view name = "InstanceNormalization";
  static constexpr std::string_view operands = "x, scale, bias";
  static constexpr form kind = form::composite;
  static constexpr std::size_t inputs = 3;
  static constexpr element_kinds accepts = element_kinds::floating;
  static constexpr traits properties = detail::normalization;
  static constexpr void attributes(auto& self, auto&& visit) { visit("epsilon", self.epsilon); }
  constexpr void infer(inference& c) const { detail::infer_channel_normalization(c, 3); }
  template <class T> constexpr T expand(const vector<T>& in) const {
    const T y = in[0].owner().apply(standardize{detail::axes_from(2, in[0].rank()), epsilon}, {in[0]});
    return y * detail::along_channels(in[1], in[0]) + detail::along_channels(in[2], in[0]);
  }
};

// X [N, C, spatial...], scale [C], bias [C]; normalised over the spatial axes and C / num_groups channels at a time
struct group_normalization {
  std::int64_t num_groups = 1;
  float epsilon = 1e-5f;

  static constexpr std::string_view name = "GroupNormalization";
  static constexpr std::string_view operands = "x, scale, bias";
  static constexpr form kind = form::composite;
  static constexpr std::size_t inputs = 3;
  static constexpr element_kinds accepts = element_kinds::floating;
  static constexpr traits properties = detail::normalization;
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("num_groups", self.num_groups);
    visit("epsilon", self.epsilon);
  }
  constexpr void infer(inference& c) const {
    if (!c.require(num_groups > 0, "num_groups must be positive")) return;
    if (!c.require_rank(0, 3, max_rank - 1)) return;
    const dim a_group = c.table().exact_div(c.in(0)[1], dim(num_groups));
    if (c.require(!a_group.is_unknown(), "num_groups does not divide the channels"))
      detail::infer_channel_normalization(c, 3);
  }
  template <class T> constexpr T expand(const vector<T>& in) const {
    const T x = in[0];
    symbol_table& table = x.owner().value().symbols;
    shape grouped{x.size(0), num_groups, table.exact_div(x.size(1), dim(num_groups))};
    for (std::int64_t d = 2; d < x.rank(); ++d) grouped.push_back(x.size(d));
    T y = x.owner().apply(reshape{grouped}, {x});
    y = x.owner().apply(standardize{detail::axes_from(2, y.rank()), epsilon}, {y});
    y = x.owner().apply(reshape{x.dims()}, {y});
    return y * detail::along_channels(in[1], x) + detail::along_channels(in[2], x);
  }
};

// What a BatchNormalization multiplies each channel by.
struct normalizing_scale {
  float epsilon = 1e-5f;

  static constexpr std::string_view name = "NormalizingScale";
  static constexpr std::string_view operands = "scale, variance";
  static constexpr form kind = form::elementwise;
  static constexpr traits properties{};
  static constexpr void attributes(auto& self, auto&& visit) { visit("epsilon", self.epsilon); }

  template <class T> constexpr T apply(T scale, T variance) const {
    using std::sqrt;
    return scale / sqrt(variance + T(epsilon));
  }
};

// And what it adds then, `factor` being that.
struct normalizing_shift {
  static constexpr std::string_view name = "NormalizingShift";
  static constexpr std::string_view operands = "bias, mean, factor";
  static constexpr form kind = form::elementwise;
  static constexpr traits properties{};

  template <class T> static constexpr T apply(T bias, T mean, T factor) { return bias - mean * factor; }
};

// X [N, C, ...], scale, bias, mean, variance, each [C]; in its inference form
struct batch_normalization {
  float epsilon = 1e-5f;

  static constexpr std::string_view name = "BatchNormalization";
  static constexpr std::string_view operands = "x, scale, bias, mean, variance";
  static constexpr form kind = form::composite;
  static constexpr std::size_t inputs = 5;
  static constexpr element_kinds accepts = element_kinds::floating;
  static constexpr traits properties{};
  static constexpr void attributes(auto& self, auto&& visit) { visit("epsilon", self.epsilon); }
  constexpr void infer(inference& c) const { detail::infer_channel_normalization(c, 2); }
  // x * s + (bias - mean * s) with s = scale / sqrt(variance + epsilon): what does not depend on x is computed once,
  // when the session is made, in two operators, since networks have many of these.
  template <class T> constexpr T expand(const vector<T>& in) const {
    const T s = factor(in[0].owner(), in), shift = in[0].owner().apply(normalizing_shift{}, {in[2], in[3], s});
    return in[0] * detail::along_channels(s, in[0]) + detail::along_channels(shift, in[0]);
  }
  // Of x it takes nothing.
  template <class T> constexpr T factor(auto& owner, const vector<T>& in) const {
    return owner.apply(normalizing_scale{epsilon}, {in[1], in[4]});
  }
};

}  // namespace op

inline constexpr function<op::layer_normalization> layer_normalization;
inline constexpr function<op::rms_normalization> rms_normalization;
inline constexpr function<op::instance_normalization> instance_normalization;
inline constexpr function<op::group_normalization> group_normalization;

namespace detail {
inline constexpr function<op::batch_normalization> batch_normalization_function;
}  // namespace detail

// The four parameters of a BatchNormalization, as a builder's batch_norm() finds them in the weight file.
template <graph_tensor T> struct batch_norm_parameters { T scale, bias, mean, variance; };

template <graph_tensor T>
constexpr T batch_normalization(T x, T scale, T bias, T mean, T variance, const op::batch_normalization& a = {},
                                std::source_location caller = std::source_location::current()) {
  return detail::batch_normalization_function(x, scale, bias, mean, variance, a, caller);
}
template <graph_tensor T>
constexpr T batch_normalization(T x, const batch_norm_parameters<T>& p, const op::batch_normalization& a = {},
                                std::source_location caller = std::source_location::current()) {
  return detail::batch_normalization_function(x, p.scale, p.bias, p.mean, p.variance, a, caller);
}

}  // namespace dnnkit
