// SPDX-License-Identifier: MIT
// ONNX's losses, quantised convolutions and pools with two outputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "dnnkit/onnx/convert_attributes.hpp"
#include "dnnkit/onnx/convert_windows.hpp"
#include "dnnkit/op/builtin.hpp"

namespace dnnkit::onnx {

template <> struct words_of<loss_reduction> { static constexpr std::string_view list[] = {"none", "mean", "sum"}; };

namespace detail {

inline void convert_negative_log_likelihood(node_context& c) {
  c.out(0, c.apply(attributes_from<op::negative_log_likelihood_loss>(c), given_inputs(c)));
}
inline void convert_softmax_cross_entropy(node_context& c) {
  op::softmax_cross_entropy_loss loss = attributes_from<op::softmax_cross_entropy_loss>(c);
  const std::vector<tensor> inputs = given_inputs(c);
  for (std::size_t i = 0; i < 2; ++i) {
    loss.output = static_cast<std::int64_t>(i);
    if (c.wants(i)) c.out(i, c.apply(loss, inputs));
  }
}

inline void convert_dynamic_quantize_linear(node_context& c) {
  const tensor x = c.in(0);
  for (std::size_t i = 0; i < 3; ++i)
    if (c.wants(i)) c.out(i, c.apply(op::dynamic_quantize_linear{static_cast<std::int64_t>(i)}, {x}));
}
inline void convert_conv_integer(node_context& c) {
  op::conv_integer conv = attributes_from<op::conv_integer>(c);
  kernel_from_weight(c, conv, 1);
  check_window_lists(c, conv);
  apply_auto_pad(c, conv);
  c.out(0, c.apply(conv, given_inputs(c)));
}
inline void convert_qlinear_conv(node_context& c) {
  op::qlinear_conv conv = attributes_from<op::qlinear_conv>(c);
  kernel_from_weight(c, conv, 3);
  check_window_lists(c, conv);
  apply_auto_pad(c, conv);
  c.out(0, c.apply(conv, given_inputs(c)));
}

// The second output says where each element was found.
inline void convert_max_pool(node_context& c) {
  op::max_pool pool = attributes_from<op::max_pool>(c);
  const std::int64_t order = c.integer("storage_order", 0);
  check_window_lists(c, pool);
  apply_auto_pad(c, pool);
  const tensor x = c.in(0);
  if (c.wants(0)) c.out(0, c.apply(pool, {x}));
  if (!c.wants(1)) return;
  c.out(1,
        c.apply(op::max_pool_indices{pool.kernel_shape, pool.strides, pool.pads, pool.dilations, pool.ceil_mode, order},
                {x}));
}
inline void convert_lp_pool(node_context& c) {
  op::lp_pool pool = attributes_from<op::lp_pool>(c);
  check_window_lists(c, pool);
  apply_auto_pad(c, pool);
  c.out(0, c.apply(pool, {c.in(0)}));
}
inline void convert_max_unpool(node_context& c) {
  op::max_unpool pool = attributes_from<op::max_unpool>(c);
  if (c.has(2)) pool.output_shape = list_of<shape>(c.extents(2, "output_shape"), "output_shape");
  c.out(0, c.apply(pool, {c.in(0), c.in(1)}));
}

}  // namespace detail

}  // namespace dnnkit::onnx
