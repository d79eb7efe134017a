// SPDX-License-Identifier: MIT
// Softmax and LogSoftmax along one axis: row operators of two passes, the maximum and the sum of exponentials.
#pragma once

#include <cmath>
#include <cstdint>
#include <string_view>

#include "dnnkit/operator/function.hpp"
#include "dnnkit/operator/scalar.hpp"
#include "dnnkit/operator/statistics.hpp"

namespace dnnkit {

namespace detail {
inline constexpr traits normalization{.map = mapping::many_to_many};
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
  template <class T, std::size_t P> static constexpr T start(pass<P>) { return P == 0 ? lowest<T>() : T(0); }
  template <class T> static constexpr T shared(T x, const statistics<T, passes>& s) {
    return exp_of_nonpositive(x - s[0]);
  }
  template <class T, std::size_t P> static constexpr T accumulate(pass<P>, T sum, T x, const statistics<T, passes>& s) {
    if constexpr (P == 0) return larger(sum, x);  // of rows with a NaN the sum is NaN anyway
    else return accumulate_shared(sum, shared(x, s));
  }
  template <class T> static constexpr T accumulate_shared(T sum, T e) { return sum + e; }
  template <class T, std::size_t P> static constexpr T merge(pass<P>, T a, T b) {
    if constexpr (P == 0) return larger(a, b);
    else return a + b;
  }
  template <class T, std::size_t P> static constexpr T close(pass<P>, T sum, T, const statistics<T, passes>&) {
    if constexpr (P == 0) return sum;
    else return T(1) / sum;
  }
  template <class T> static constexpr T finish(T x, const statistics<T, passes>& s) {
    return finish_shared(shared(x, s), s);
  }
  template <class T> static constexpr T finish_shared(T e, const statistics<T, passes>& s) { return e * s[1]; }
};

// x - max - log(sum of exp(x - max)), along one axis
struct log_softmax {
  std::int64_t axis = -1;

  static constexpr std::string_view name = "LogSoftmax";
  static constexpr form kind = form::row;
  static constexpr traits properties = detail::normalization;
  static constexpr void attributes(auto& self, auto&& visit) { visit("axis", self.axis); }
  constexpr void infer(inference& c) const { softmax{axis}.infer(c); }

  static constexpr std::size_t passes = softmax::passes;
  constexpr axis_set axes(std::size_t rank) const { return axes_of({axis}, rank); }
  template <class T, std::size_t P> static constexpr T start(pass<P> p) { return softmax::start<T>(p); }
  template <class T, std::size_t P>
  static constexpr T accumulate(pass<P> p, T sum, T x, const statistics<T, passes>& s) {
    return softmax::accumulate<T>(p, sum, x, s);
  }
  template <class T, std::size_t P> static constexpr T merge(pass<P> p, T a, T b) { return softmax::merge<T>(p, a, b); }
  template <class T, std::size_t P> static constexpr T close(pass<P>, T sum, T, const statistics<T, passes>&) {
    using std::log;
    if constexpr (P == 0) return sum;
    else return log(sum);
  }
  template <class T> static constexpr T finish(T x, const statistics<T, passes>& s) { return x - s[0] - s[1]; }
};

}  // namespace op

inline constexpr function<op::softmax> softmax;
inline constexpr function<op::log_softmax> log_softmax;

}  // namespace dnnkit
