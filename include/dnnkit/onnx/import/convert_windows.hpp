// SPDX-License-Identifier: MIT
// ONNX's convolutions and pools: automatic padding, and the default of strides and windows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "dnnkit/onnx/import/convert_attributes.hpp"
#include "dnnkit/op/builtin.hpp"

namespace dnnkit::onnx::detail {

// kernel_shape of a convolution that does not say it: the weight's.
template <class Op> void kernel_from_weight(node_context& c, Op& op, std::size_t weight = 1) {
  if (!op.kernel_shape.empty() || !c.has(weight) || c.rank(weight) < 3) return;
  for (std::size_t d = 2; d < c.rank(weight); ++d) {
    node_context::require_known({c.dims(weight)[d]}, "the weight's shape must be known");
    op.kernel_shape.push_back(c.dims(weight)[d].value());
  }
}

// Pads so that the output's extent is the input's divided by the stride, rounded up; `first` is the first spatial axis.
template <class Op> void apply_auto_pad(node_context& c, Op& op, std::size_t first = 2) {
  const std::string mode = c.word("auto_pad", "NOTSET");
  if (mode == "NOTSET" || mode.empty()) return;
  const std::size_t axes = op.kernel_shape.size();
  if (mode == "VALID") {
    op.pads = int_list::filled(2 * axes, 0);
    return;
  }
  if (mode != "SAME_UPPER" && mode != "SAME_LOWER")
    node_context::refuse("attribute 'auto_pad' is '" + mode + "', which is not supported");
  node_context::require(c.rank(0) == axes + 2, "kernel_shape does not fit the input's rank");
  op.pads = int_list::filled(2 * axes, 0);
  std::vector<dim> divided;
  for (std::size_t i = 0; i < axes; ++i)
    if (!op.strides.empty() && op.strides[i] > 1) divided.push_back(c.dims(0)[i + first]);
  node_context::require_known(divided, "auto_pad with a stride needs a known extent");
  for (std::size_t i = 0; i < axes; ++i) {
    const std::int64_t stride = op.strides.empty() ? 1 : op.strides[i];
    const std::int64_t dilation = op.dilations.empty() ? 1 : op.dilations[i];
    node_context::require(stride > 0 && dilation > 0 && op.kernel_shape[i] > 0,
                          "kernel_shape, strides and dilations must be positive");
    const std::int64_t reach = (op.kernel_shape[i] - 1) * dilation + 1;
    std::int64_t total = reach - 1;
    if (stride > 1) {
      const dim n = c.dims(0)[i + first];
      total = ((n.value() + stride - 1) / stride - 1) * stride + reach - n.value();
    }
    if (total < 0) total = 0;
    const bool upper = mode == "SAME_UPPER";
    op.pads[i] = upper ? total / 2 : total - total / 2;
    op.pads[i + axes] = total - op.pads[i];
  }
}

template <class Op> void check_window_lists(node_context& c, const Op& op) {
  const std::size_t axes = op.kernel_shape.size();
  node_context::require(c.rank(0) == axes + 2, "kernel_shape does not fit the input's rank");
  node_context::require((op.strides.empty() || op.strides.size() == axes) &&
                            (op.dilations.empty() || op.dilations.size() == axes) &&
                            (op.pads.empty() || op.pads.size() == 2 * axes),
                        "strides, dilations and pads do not fit kernel_shape");
  constexpr std::int64_t most = std::int64_t{1} << 20;  // so that what is computed of them stays in range
  for (const int_list* list : {&op.kernel_shape, &op.strides, &op.dilations, &op.pads})
    for (std::int64_t n : *list)
      node_context::require(n <= most && n >= -most, "kernel_shape, strides, dilations or pads are too large");
  for (dim d : c.dims(0))
    node_context::require(!d.is_known() || d.value() < std::int64_t{1} << 40, "an extent is too large");
}

inline void convert_conv(node_context& c) {
  op::conv conv = attributes_from<op::conv>(c);
  kernel_from_weight(c, conv);
  check_window_lists(c, conv);
  apply_auto_pad(c, conv);
  c.out(0, c.apply(conv, given_inputs(c)));
}

// output_shape says how large the output is, and the pads follow.
inline void convert_conv_transpose(node_context& c) {
  op::conv_transpose conv = attributes_from<op::conv_transpose>(c);
  kernel_from_weight(c, conv);
  check_window_lists(c, conv);
  const std::size_t axes = conv.kernel_shape.size();
  node_context::require(conv.output_padding.empty() || conv.output_padding.size() == axes,
                        "output_padding does not fit kernel_shape");
  const std::string mode = c.word("auto_pad", "NOTSET");
  auto wanted = c.integers("output_shape");
  const bool same = mode == "SAME_UPPER" || mode == "SAME_LOWER";
  if (!same && mode != "NOTSET" && mode != "VALID")
    node_context::refuse("attribute 'auto_pad' is '" + mode + "', which is not supported");
  if (wanted || same) {
    if (wanted)
      for (std::int64_t n : *wanted)
        node_context::require(n >= 0 && n < std::int64_t{1} << 40, "output_shape is negative or too large");
    if (wanted && wanted->size() == axes + 2) wanted->erase(wanted->begin(), wanted->begin() + 2);
    node_context::require(!wanted || wanted->size() == axes, "output_shape does not fit kernel_shape");
    conv.pads = int_list::filled(2 * axes, 0);
    if (wanted)
      node_context::require_known({c.dims(0).begin() + 2, c.dims(0).end()}, "output_shape needs a known extent");
    for (std::size_t i = 0; i < axes; ++i) {
      const std::int64_t stride = conv.strides.empty() ? 1 : conv.strides[i];
      const std::int64_t dilation = conv.dilations.empty() ? 1 : conv.dilations[i];
      const std::int64_t more = conv.output_padding.empty() ? 0 : conv.output_padding[i];
      const dim n = c.dims(0)[i + 2];
      const std::int64_t reach = (conv.kernel_shape[i] - 1) * dilation + 1;
      std::int64_t total = reach + more - stride;  // of an output as large as the input times the stride
      if (wanted) { total = stride * (n.value() - 1) + more + reach - (*wanted)[i]; }
      if (total < 0) {  // the output reaches beyond the last window
        if (conv.output_padding.empty()) conv.output_padding = int_list::filled(axes, 0);
        conv.output_padding[i] -= total;
        total = 0;
      }
      // before opset 11's text was clarified, both ways of rounding were in use; this one is ONNX's reference
      const bool begin_larger = mode == "SAME_UPPER" ? false : true;
      conv.pads[i] = begin_larger ? total - total / 2 : total / 2;
      conv.pads[i + axes] = total - conv.pads[i];
    }
  }
  c.out(0, c.apply(conv, given_inputs(c)));
}

inline void convert_gemm(node_context& c) {
  c.ignore("broadcast");  // of C, up to opset 6; it broadcasts anyway
  c.out(0, c.apply(attributes_from<op::gemm>(c), given_inputs(c)));
}

inline void convert_average_pool(node_context& c) {
  op::average_pool pool = attributes_from<op::average_pool>(c);
  check_window_lists(c, pool);
  apply_auto_pad(c, pool);
  c.out(0, c.apply(pool, {c.in(0)}));
}

}  // namespace dnnkit::onnx::detail
