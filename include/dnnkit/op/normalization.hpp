// SPDX-License-Identifier: MIT
// Softmax, LogSoftmax and the normalisations. Softmax and the two cores (Standardize, RootMeanSquare) are row operators;
// ONNX's normalisations are said in terms of them, so that scale and bias are element-wise operators like any other.
#pragma once

#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

#include "dnnkit/op/elementwise.hpp"
#include "dnnkit/op/movement.hpp"
#include "dnnkit/op/statistics.hpp"

namespace dnnkit {

namespace detail {
inline constexpr traits normalization{.map = mapping::many_to_many,
                                      .layout = layout_class::ild_variable,
                                      .load = load_class::hierarchical};
}  // namespace detail

namespace op {

// exp(x - max) / sum of exp(x - max), along one axis
struct softmax {
  std::int64_t axis = -1;

  static constexpr std::string_view name = "Softmax";
  static constexpr form kind = form::row;
  static constexpr traits properties = detail::normalization;
  static constexpr void attributes(auto& self, auto&& visit) { visit("axis", self.axis); }
  constexpr void infer(inference& c) const {
    if (check_axes(c, {axis})) c.out(c.type(0), c.in(0));
  }

  static constexpr std::size_t passes = 2;
  constexpr axis_set axes(std::size_t rank) const { return axes_of({axis}, rank); }
  template <class T, std::size_t P>
  static constexpr T start(pass<P>) {
    return P == 0 ? T(-std::numeric_limits<float>::infinity()) : T(0);
  }
  template <class T, std::size_t P>
  static T accumulate(pass<P>, T sum, T x, const statistics<T, passes>& s) {
    using std::exp;
    if constexpr (P == 0) return maximum(sum, x);
    else return sum + exp(x - s[0]);
  }
  template <class T, std::size_t P>
  static T merge(pass<P>, T a, T b) {
    if constexpr (P == 0) return maximum(a, b);
    else return a + b;
  }
  template <class T, std::size_t P>
  static T close(pass<P>, T sum, T, const statistics<T, passes>&) {
    if constexpr (P == 0) return sum;
    else return T(1) / sum;
  }
  template <class T>
  static T finish(T x, const statistics<T, passes>& s) {
    using std::exp;
    return exp(x - s[0]) * s[1];
  }
};

// (x - mean) / sqrt(variance + epsilon) over the given axes: the core of Layer-, Instance- and GroupNormalization
struct standardize {
  int_list axes_of_row = {-1};
  float epsilon = 1e-5f;

  static constexpr std::string_view name = "Standardize";
  static constexpr form kind = form::row;
  static constexpr traits properties = detail::normalization;
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("axes", self.axes_of_row);
    visit("epsilon", self.epsilon);
  }
  constexpr void infer(inference& c) const {
    if (check_axes(c, axes_of_row)) c.out(c.type(0), c.in(0));
  }

  static constexpr std::size_t passes = 2;
  constexpr axis_set axes(std::size_t rank) const { return dnnkit::axes_of(axes_of_row, rank); }
  template <class T, std::size_t P>
  static constexpr T start(pass<P>) {
    return T(0);
  }
  template <class T, std::size_t P>
  static T accumulate(pass<P>, T sum, T x, const statistics<T, passes>& s) {
    if constexpr (P == 0) return sum + x;
    else return sum + (x - s[0]) * (x - s[0]);
  }
  template <class T, std::size_t P>
  static T merge(pass<P>, T a, T b) {
    return a + b;
  }
  template <class T, std::size_t P>
  T close(pass<P>, T sum, T n, const statistics<T, passes>&) const {
    if constexpr (P == 0) return sum / n;
    else return reciprocal_sqrt(sum / n + T(epsilon));
  }
  template <class T>
  static T finish(T x, const statistics<T, passes>& s) {
    return (x - s[0]) * s[1];
  }
};

// X, scale, optional bias; normalised over axis .. rank-1
struct layer_normalization {
  std::int64_t axis = -1;
  float epsilon = 1e-5f;

  static constexpr std::string_view name = "LayerNormalization";
  static constexpr form kind = form::composite;
  static constexpr traits properties = detail::normalization;
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("axis", self.axis);
    visit("epsilon", self.epsilon);
  }
  constexpr void infer(inference& c) const {
    std::int64_t first = axis;
    if (!c.normalise_axis(first, c.rank(0))) return;
    for (std::size_t i = 1; i < c.inputs(); ++i) {
      shape s = c.in(0);
      if (!c.has(i)) continue;
      if (!c.broadcast(s, c.in(i))) return;
      if (!c.require(s == c.in(0), "scale and bias must broadcast to the input")) return;
    }
    c.out(c.type(0), c.in(0));
  }
  template <class T>
  constexpr T expand(const std::vector<T>& in) const {
    int_list row;
    for (std::int64_t a = axis < 0 ? axis + in[0].rank() : axis; a < in[0].rank(); ++a) row.push_back(a);
    T y = in[0].owner().apply(standardize{row, epsilon}, {in[0]}) * in[1];
    return in.size() > 2 && in[2].present() ? y + in[2] : y;
  }
};

// X [N, C, ...], scale, bias, mean, variance, each [C]; in its inference form
struct batch_normalization {
  float epsilon = 1e-5f;

  static constexpr std::string_view name = "BatchNormalization";
  static constexpr form kind = form::composite;
  static constexpr traits properties{.laws = algebra::linear};
  static constexpr void attributes(auto& self, auto&& visit) { visit("epsilon", self.epsilon); }
  constexpr void infer(inference& c) const {
    if (!c.require(c.inputs() == 5, "needs X, scale, bias, mean and variance")) return;
    if (!c.require_rank(0, 2, max_rank)) return;
    for (std::size_t i = 1; i < 5; ++i)
      if (!c.require_rank(i, 1, 1) ||
          !c.require_equal(c.in(0)[1], "the input's channel count", c.in(i)[0], "a parameter's length"))
        return;
    c.out(c.type(0), c.in(0));
  }
  // x * s + (bias - mean * s) with s = scale / sqrt(variance + epsilon): what does not depend on x is computed once,
  // when the session is made.
  template <class T>
  constexpr T expand(const std::vector<T>& in) const;
};

}  // namespace op

inline constexpr function<op::softmax> softmax;
inline constexpr function<op::layer_normalization> layer_normalization;

template <class T>
constexpr T op::batch_normalization::expand(const std::vector<T>& in) const {
  shape channels{in[0].size(1)};  // [C, 1, ...]: broadcast along everything behind the channel axis
  for (std::int64_t i = 2; i < in[0].rank(); ++i) channels.push_back(1);
  const T factor = in[1] / dnnkit::sqrt(in[4] + static_cast<double>(epsilon));
  const T shift = in[2] - in[3] * factor;
  auto along_channels = [&](T t) { return t.owner().apply(reshape{channels}, {t}); };
  return in[0] * along_channels(factor) + along_channels(shift);
}

namespace detail {
inline constexpr function<op::batch_normalization> batch_normalization_function;
}  // namespace detail

// The four parameters of a BatchNormalization, as a builder's batch_norm() finds them in the weight file.
template <graph_tensor T>
struct batch_norm_parameters {
  T scale, bias, mean, variance;
};

template <graph_tensor T>
constexpr T batch_normalization(T x, T scale, T bias, T mean, T variance, const op::batch_normalization& a = {}) {
  return detail::batch_normalization_function(x, scale, bias, mean, variance, a);
}
template <graph_tensor T>
constexpr T batch_normalization(T x, const batch_norm_parameters<T>& p, const op::batch_normalization& a = {}) {
  return detail::batch_normalization_function(x, p.scale, p.bias, p.mean, p.variance, a);
}

}  // namespace dnnkit
