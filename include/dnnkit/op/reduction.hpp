// SPDX-License-Identifier: MIT
// Reductions along axes: ONNX's ReduceSum ... ReduceSumSquare. Each is a fold (operator/statistics.hpp) put into the
// one operator template `reduce`.
#pragma once

#include <cmath>
#include <cstddef>
#include <string_view>

#include "dnnkit/op/arithmetic.hpp"
#include "dnnkit/operator/function.hpp"
#include "dnnkit/operator/scalar.hpp"
#include "dnnkit/operator/statistics.hpp"

namespace dnnkit {

namespace detail {
inline constexpr traits reduction{.map = mapping::many_to_many};

// The shape with the given axes made 1 or left out.
constexpr void infer_reduction(inference& c, const int_list& list, bool keepdims) {
  if (!check_axes(c, list)) return;
  const axis_set axes = axes_of(list, c.rank(0));
  shape s;
  for (std::size_t d = 0; d < c.rank(0); ++d)
    if (!axes.has(d)) s.push_back(c.in(0)[d]);
    else if (keepdims) s.push_back(1);
  c.out(c.type(0), s);
}
}  // namespace detail

// What the folds below have in common: one pass that sums, unless they say otherwise.
namespace fold {
struct summing {
  static constexpr std::size_t passes = 1;
  static constexpr element_kinds accepts = element_kinds::floating;
  static constexpr bool symbolic = false;
  template <class T, std::size_t P> static constexpr T start(pass<P>) { return T(0); }
  template <class T, std::size_t P> static constexpr T merge(pass<P>, T a, T b) { return T(modular(a) + modular(b)); }
  template <class T, std::size_t P, std::size_t N>
  static constexpr T close(pass<P>, T sum, T, const statistics<T, N>&) {
    return sum;
  }
};

struct sum : summing {
  static constexpr std::string_view name = "ReduceSum";
  static constexpr element_kinds accepts = element_kinds::number;
  static constexpr bool symbolic = true;
  template <class T, std::size_t P> static constexpr T accumulate(pass<P>, T sum, T x, const statistics<T, 1>&) {
    return T(modular(sum) + modular(x));
  }
};

struct mean : sum {
  static constexpr std::string_view name = "ReduceMean";
  template <class T, std::size_t P> static constexpr T close(pass<P>, T sum, T n, const statistics<T, 1>&) {
    return quotient(sum, n);
  }
};

struct sum_square : summing {
  static constexpr std::string_view name = "ReduceSumSquare";
  static constexpr element_kinds accepts = element_kinds::number;
  template <class T, std::size_t P> static constexpr T accumulate(pass<P>, T sum, T x, const statistics<T, 1>&) {
    return T(modular(sum) + modular(x) * modular(x));
  }
};

struct l1 : summing {
  static constexpr std::string_view name = "ReduceL1";
  static constexpr element_kinds accepts = element_kinds::number;
  template <class T, std::size_t P> static constexpr T accumulate(pass<P>, T sum, T x, const statistics<T, 1>&) {
    return T(modular(sum) + modular(op::abs::apply(x)));
  }
};

struct l2 : sum_square {
  static constexpr std::string_view name = "ReduceL2";
  static constexpr element_kinds accepts = element_kinds::floating;
  template <class T, std::size_t P> static constexpr T close(pass<P>, T sum, T, const statistics<T, 1>&) {
    using std::sqrt;
    return sqrt(sum);
  }
};

struct log_sum : sum {
  static constexpr std::string_view name = "ReduceLogSum";
  static constexpr bool symbolic = false;
  static constexpr element_kinds accepts = element_kinds::floating;
  template <class T, std::size_t P> static constexpr T close(pass<P>, T sum, T, const statistics<T, 1>&) {
    using std::log;
    return log(sum);
  }
};

struct product : summing {
  static constexpr std::string_view name = "ReduceProd";
  static constexpr element_kinds accepts = element_kinds::number;
  static constexpr bool symbolic = true;
  template <class T, std::size_t P> static constexpr T start(pass<P>) { return T(1); }
  template <class T, std::size_t P> static constexpr T accumulate(pass<P>, T product, T x, const statistics<T, 1>&) {
    return T(modular(product) * modular(x));
  }
  template <class T, std::size_t P> static constexpr T merge(pass<P>, T a, T b) { return T(modular(a) * modular(b)); }
};

struct max : summing {
  static constexpr std::string_view name = "ReduceMax";
  static constexpr element_kinds accepts = element_kinds::any;
  template <class T, std::size_t P> static constexpr T start(pass<P>) { return lowest<T>(); }
  template <class T, std::size_t P> static constexpr T accumulate(pass<P>, T best, T x, const statistics<T, 1>&) {
    return maximum(best, x);
  }
  template <class T, std::size_t P> static constexpr T merge(pass<P>, T a, T b) { return maximum(a, b); }
};

struct min : summing {
  static constexpr std::string_view name = "ReduceMin";
  static constexpr element_kinds accepts = element_kinds::any;
  template <class T, std::size_t P> static constexpr T start(pass<P>) { return highest<T>(); }
  template <class T, std::size_t P> static constexpr T accumulate(pass<P>, T best, T x, const statistics<T, 1>&) {
    return minimum(best, x);
  }
  template <class T, std::size_t P> static constexpr T merge(pass<P>, T a, T b) { return minimum(a, b); }
};

// max + log(sum of exp(x - max)); where max is infinite, log(sum of exp(x))
struct log_sum_exp : summing {
  static constexpr std::string_view name = "ReduceLogSumExp";
  static constexpr std::size_t passes = 2;
  template <class T, std::size_t P> static constexpr T start(pass<P>) { return P == 0 ? lowest<T>() : T(0); }
  template <class T, std::size_t P> static constexpr T accumulate(pass<P>, T sum, T x, const statistics<T, 2>& s) {
    using std::exp;
    if constexpr (P == 0) return maximum(sum, x);
    else return sum + exp(x - s[0]);
  }
  template <class T, std::size_t P> static constexpr T merge(pass<P>, T a, T b) {
    if constexpr (P == 0) return maximum(a, b);
    else return a + b;
  }
  template <class T, std::size_t P> static constexpr T close(pass<P>, T sum, T, const statistics<T, 2>& s) {
    using std::log;
    if constexpr (P == 0) return select(sum == lowest<T>(), T(0), select(sum == highest<T>(), T(0), sum));
    else return s[0] + log(sum);
  }
};
}  // namespace fold

namespace op {

// The fold of all elements along `axes` (an empty list: all axes), which become 1, or vanish without keepdims.
template <class Fold> struct reduce {
  row_axes axes = {};
  bool keepdims = true;

  static constexpr std::string_view name = Fold::name;
  static constexpr form kind = form::reduction;
  static constexpr element_kinds accepts = Fold::accepts;
  static constexpr bool symbolic = Fold::symbolic;
  static constexpr traits properties = detail::reduction;
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("axes", self.axes.list);
    visit("keepdims", self.keepdims);
  }
  constexpr void infer(inference& c) const { detail::infer_reduction(c, axes.list, keepdims); }

  static constexpr std::size_t passes = Fold::passes;
  template <class T, std::size_t P> static constexpr T start(pass<P> p) { return Fold::template start<T>(p); }
  template <class T, std::size_t P>
  static constexpr T accumulate(pass<P> p, T sum, T x, const statistics<T, passes>& s) {
    return Fold::template accumulate<T>(p, sum, x, s);
  }
  template <class T, std::size_t P> static constexpr T merge(pass<P> p, T a, T b) {
    return Fold::template merge<T>(p, a, b);
  }
  template <class T, std::size_t P> static constexpr T close(pass<P> p, T sum, T n, const statistics<T, passes>& s) {
    return Fold::template close<T>(p, sum, n, s);
  }
  constexpr dim flops(const inference& c) const { return c.count(0) * static_cast<std::int64_t>(passes); }
};

using reduce_sum = reduce<fold::sum>;
using reduce_mean = reduce<fold::mean>;
using reduce_max = reduce<fold::max>;
using reduce_min = reduce<fold::min>;
using reduce_prod = reduce<fold::product>;
using reduce_l1 = reduce<fold::l1>;
using reduce_l2 = reduce<fold::l2>;
using reduce_log_sum = reduce<fold::log_sum>;
using reduce_log_sum_exp = reduce<fold::log_sum_exp>;
using reduce_sum_square = reduce<fold::sum_square>;

}  // namespace op

inline constexpr function<op::reduce_sum> reduce_sum;
inline constexpr function<op::reduce_mean> reduce_mean;
inline constexpr function<op::reduce_max> reduce_max;
inline constexpr function<op::reduce_min> reduce_min;
inline constexpr function<op::reduce_prod> reduce_prod;
inline constexpr function<op::reduce_l1> reduce_l1;
inline constexpr function<op::reduce_l2> reduce_l2;
inline constexpr function<op::reduce_log_sum> reduce_log_sum;
inline constexpr function<op::reduce_log_sum_exp> reduce_log_sum_exp;
inline constexpr function<op::reduce_sum_square> reduce_sum_square;

}  // namespace dnnkit
