// SPDX-License-Identifier: MIT
// Losses of classifiers: ONNX's NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/op/cast.hpp"
#include "dnnkit/op/comparison.hpp"
#include "dnnkit/op/gather.hpp"
#include "dnnkit/op/gather_elements.hpp"
#include "dnnkit/op/movement.hpp"
#include "dnnkit/op/reduction.hpp"
#include "dnnkit/op/softmax.hpp"

namespace dnnkit {

// Of the losses of all elements: each by itself, their weighted mean, their sum.
enum class loss_reduction : std::int64_t { each, average, total };

namespace detail {

inline constexpr std::int64_t no_class_ignored = std::numeric_limits<std::int64_t>::min();

// scores [N, C, ...], targets [N, ...], optional weights [C]
constexpr bool check_loss(inference& c) {
  if (!c.require_rank(0, 2, max_rank) || !c.require_rank(1, c.rank(0) - 1, c.rank(0) - 1)) return false;
  for (std::size_t d = 0; d < c.rank(1); ++d)
    if (!c.require_equal(c.in(1)[d], "an extent of the targets", c.in(0)[d == 0 ? 0 : d + 1], "that of the scores"))
      return false;
  return !c.has(2) || (c.require_rank(2, 1, 1) &&
                       c.require_equal(c.in(2)[0], "the number of weights", c.in(0)[1], "that of classes"));
}

// -scores[n, target, ...] times the target's weight, which is 0 for the class to ignore
template <class T>
constexpr T log_likelihood_loss(T scores, T targets, T weights, std::int64_t ignored, loss_reduction how) {
  auto& owner = scores.owner();
  const dtype type = scores.type();
  T target = targets, is_ignored, counts;  // counts[n, ...]: 0 where it is ignored, else 1
  if (ignored != no_class_ignored) {
    is_ignored = dnnkit::equal(target, owner.scalar(static_cast<double>(ignored), target.type()));
    target = dnnkit::where(is_ignored, owner.scalar(0, target.type()), target);
    counts = dnnkit::cast(dnnkit::logical_not(is_ignored), {.to = type});
  }
  const T chosen = dnnkit::gather_elements(scores, dnnkit::unsqueeze(target, {.axes = {1}}), {.axis = 1});
  T loss = -dnnkit::squeeze(chosen, {.axes = {1}});
  T weight = weights.present() ? dnnkit::gather(weights, target) : T{};
  if (counts.present()) weight = weight.present() ? weight * counts : counts;
  if (weights.present()) loss = loss * weight;
  if (counts.present()) loss = dnnkit::where(is_ignored, owner.scalar(0, type), loss);  // whatever its score is
  if (how == loss_reduction::each) return loss;
  if (how == loss_reduction::average && !weight.present()) return dnnkit::reduce_mean(loss, {.keepdims = false});
  const T total = dnnkit::reduce_sum(loss, {.keepdims = false});
  return how == loss_reduction::total ? total : total / dnnkit::reduce_sum(weight, {.keepdims = false});
}

}  // namespace detail

namespace op {

// Logarithms of probabilities [N, C, ...], targets [N, ...], optional weights [C].
struct negative_log_likelihood_loss {
  std::int64_t ignore_index = detail::no_class_ignored;
  loss_reduction reduction = loss_reduction::average;

  static constexpr std::string_view name = "NegativeLogLikelihoodLoss";
  static constexpr std::string_view operands = "scores, targets, weights";
  static constexpr form kind = form::composite;
  static constexpr std::size_t inputs = 3, optional_inputs = 1;
  static constexpr element_kinds accepts = element_kinds::floating;
  static constexpr std::array<element, 3> elements{element::common, element::index, element::common};
  static constexpr traits properties = detail::reduction;
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("ignore_index", self.ignore_index);
    visit("reduction", self.reduction);
  }
  constexpr void infer(inference& c) const {
    if (detail::check_loss(c)) c.out(c.type(0), reduction == loss_reduction::each ? c.in(1) : shape{});
  }
  template <class T> constexpr T expand(const vector<T>& in) const {
    return detail::log_likelihood_loss(in[0], in[1], in.size() > 2 ? in[2] : T{}, ignore_index, reduction);
  }
};

// Scores [N, C, ...], targets [N, ...], optional weights [C]: the loss of LogSoftmax along the classes (output 0), or
// that LogSoftmax itself (output 1).
struct softmax_cross_entropy_loss {
  std::int64_t ignore_index = detail::no_class_ignored;
  loss_reduction reduction = loss_reduction::average;
  std::int64_t output = 0;

  static constexpr std::string_view name = "SoftmaxCrossEntropyLoss";
  static constexpr std::string_view operands = "scores, targets, weights";
  static constexpr form kind = form::composite;
  static constexpr std::size_t inputs = 3, optional_inputs = 1;
  static constexpr element_kinds accepts = element_kinds::floating;
  static constexpr std::array<element, 3> elements{element::common, element::index, element::common};
  static constexpr traits properties = detail::reduction;
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("ignore_index", self.ignore_index);
    visit("reduction", self.reduction);
    visit("output", self.output);
  }
  constexpr void infer(inference& c) const {
    if (!detail::check_loss(c)) return;
    c.out(c.type(0), output == 1 ? c.in(0) : reduction == loss_reduction::each ? c.in(1) : shape{});
  }
  template <class T> constexpr T expand(const vector<T>& in) const {
    const T logarithm = dnnkit::log_softmax(in[0], {.axis = 1});
    if (output == 1) return logarithm;
    return detail::log_likelihood_loss(logarithm, in[1], in.size() > 2 ? in[2] : T{}, ignore_index, reduction);
  }
};

}  // namespace op

inline constexpr function<op::negative_log_likelihood_loss> negative_log_likelihood_loss;
inline constexpr function<op::softmax_cross_entropy_loss> softmax_cross_entropy_loss;

}  // namespace dnnkit
