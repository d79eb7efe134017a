// SPDX-License-Identifier: MIT
// ONNX operators that are said in terms of others while importing: losses, LRN, windows of samples.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dnnkit/onnx/convert_attributes.hpp"
#include "dnnkit/onnx/convert_windows.hpp"
#include "dnnkit/op/builtin.hpp"

namespace dnnkit::onnx::detail {

// x / (bias + alpha * mean of x^2 over `size` neighbouring channels)^beta; channels outside count as zeros
inline void convert_lrn(node_context& c) {
  const std::int64_t size = c.integer("size");
  node_context::require(size > 0 && c.rank(0) >= 3, "needs a positive size and at least three axes");
  const tensor x = c.in(0);
  shape flat{x.size(0), 1, x.size(1)};
  dim rest = 1;
  for (std::int64_t d = 2; d < x.rank(); ++d) rest = c.table().mul(rest, x.size(d));
  flat.push_back(rest);
  op::average_pool pool;
  pool.kernel_shape = {size, 1};
  pool.pads = {(size - 1) / 2, 0, size / 2, 0};
  pool.count_include_pad = true;
  const shape dims = x.dims();
  const tensor squares = c.apply(op::reshape{flat}, {c.apply(op::mul{}, {x, x})});
  const tensor means = c.apply(op::reshape{dims}, {c.apply(pool, {squares})});
  const auto number = [&](double n) { return c.graph().scalar(n, x.type()); };
  const float alpha = c.real_attribute("alpha", 1e-4f), beta = c.real_attribute("beta", 0.75f),
              bias = c.real_attribute("bias", 1);
  const tensor base = c.apply(
      op::add{}, {c.apply(op::mul{}, {means, number(static_cast<double>(alpha))}), number(static_cast<double>(bias))});
  c.out(0, c.apply(op::div{}, {x, c.apply(op::pow{}, {base, number(static_cast<double>(beta))})}));
}

// Minus the log-probability [N, C, ...] of each target [N, ...], times its class' weight [C], joined by `reduction`.
inline tensor negative_log_likelihood(node_context& c, tensor x) {
  tensor target = c.in(1);
  const std::string reduction = c.word("reduction", "mean");
  node_context::require(x.rank() >= 2 && target.rank() + 1 == x.rank(),
                        "the target must have one axis less than the scores");
  std::optional<tensor> ignored;
  if (c.has_attribute("ignore_index")) {
    const auto number = [&](std::int64_t n) { return c.graph().constant_from_codes({n}, {}, target.type()); };
    ignored = c.apply(op::equal{}, {target, number(c.integer("ignore_index"))});
    target = c.apply(op::where{}, {*ignored, number(0), target});
  }
  const tensor chosen = c.apply(op::gather_elements{1}, {x, c.apply(op::unsqueeze{{1}}, {target})});
  tensor loss = c.apply(op::neg{}, {c.apply(op::squeeze{{1}}, {chosen})});
  const tensor one = c.graph().scalar(1, x.type()), zero = c.graph().scalar(0, x.type());
  std::optional<tensor> weight;
  if (c.has(2)) weight = c.apply(op::gather{0}, {c.in(2), target});
  if (ignored) weight = c.apply(op::where{}, {*ignored, zero, weight ? *weight : one});
  if (weight) loss = c.apply(op::mul{}, {loss, *weight});
  if (reduction == "none") return loss;
  op::reduce_sum sum;
  sum.keepdims = false;
  const tensor total = c.apply(sum, {loss});
  if (reduction == "sum") return total;
  if (reduction != "mean") node_context::refuse("attribute 'reduction' is '" + reduction + "', which is not supported");
  if (weight) return c.apply(op::div{}, {total, c.apply(sum, {*weight})});
  op::reduce_mean mean;
  mean.keepdims = false;
  return c.apply(mean, {loss});
}
inline void convert_negative_log_likelihood(node_context& c) { c.out(0, negative_log_likelihood(c, c.in(0))); }

inline void convert_softmax_cross_entropy(node_context& c) {
  const tensor log_probability = c.apply(op::log_softmax{1}, {c.in(0)});
  c.out(0, negative_log_likelihood(c, log_probability));
  if (c.wants(1)) c.out(1, log_probability);
}

// a - b cos(2 pi i / n) + d cos(4 pi i / n) with n = size, or size - 1 if the window is symmetric
inline void window_of_samples(node_context& c, double a, double b, double d) {
  const std::int64_t size = c.number(0, "the size");
  node_context::require(size >= 0 && size < 1 << 24, "the size must be a number of samples");
  const bool periodic = c.flag("periodic", true);
  dtype type = f32;
  if (c.has_attribute("output_datatype")) read_attribute(c, "output_datatype", type);
  node_context::require(is_floating(type), "only floating-point windows are supported");
  const double n = static_cast<double>(periodic ? size : size - 1);
  known_elements y{type, {size}, {}};
  for (std::int64_t i = 0; i < size; ++i) {
    const double t = 2 * std::numbers::pi * static_cast<double>(i) / n;
    y.items.push_back(known_element::of_real(round_to(type, a - b * std::cos(t) + d * std::cos(2 * t))));
  }
  c.out(0, std::move(y));
}
inline void convert_hann_window(node_context& c) { window_of_samples(c, 0.5, 0.5, 0); }
inline void convert_hamming_window(node_context& c) { window_of_samples(c, 25.0 / 46, 21.0 / 46, 0); }
inline void convert_blackman_window(node_context& c) { window_of_samples(c, 0.42, 0.5, 0.08); }

inline void convert_dynamic_quantize_linear(node_context& c) {
  const tensor x = c.in(0);
  for (std::size_t i = 0; i < 3; ++i)
    if (c.wants(i)) c.out(i, c.apply(op::dynamic_quantize_linear{static_cast<std::int64_t>(i)}, {x}));
}
inline void convert_conv_integer(node_context& c) {
  op::conv_integer conv = attributes_from<op::conv_integer>(c);
  kernel_from_weight(c, conv);
  check_window_lists(c, conv);
  apply_auto_pad(c, conv);
  c.out(0, c.apply(conv, given_inputs(c)));
}
inline void convert_qlinear_conv(node_context& c) {
  op::qlinear_conv conv = attributes_from<op::qlinear_conv>(c);
  if (conv.kernel_shape.empty() && c.has(3))
    for (std::size_t d = 2; d < c.rank(3); ++d)
      if (c.dims(3)[d].is_known()) conv.kernel_shape.push_back(c.dims(3)[d].value());
  check_window_lists(c, conv);
  apply_auto_pad(c, conv);
  c.out(0, c.apply(conv, given_inputs(c)));
}

}  // namespace dnnkit::onnx::detail
