// SPDX-License-Identifier: MIT
// Operators of the domain com.microsoft that ONNX Runtime's quantiser writes: 8-bit tensors between real functions,
// 8-bit products with real results, and weights of 2, 4 and 8 bits. Each is said by QuantizeLinear, DequantizeLinear,
// DynamicQuantizeLinear and MatMulInteger.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "dnnkit/onnx/import/convert_microsoft_fused.hpp"
#include "dnnkit/onnx/import/convert_rows.hpp"
#include "dnnkit/onnx/import/convert_signal.hpp"
#include "dnnkit/op/builtin.hpp"

namespace dnnkit::onnx::detail {

// --- 8-bit tensors between real functions

// Input i with scale i + 1 and zero point i + 2, which may be missing, as reals.
inline tensor dequantized(node_context& c, std::size_t i) {
  std::vector<tensor> parts{c.in(i), c.in(i + 1)};
  if (c.has(i + 2)) parts.push_back(c.in(i + 2));
  return c.apply(op::dequantize_linear{}, parts);
}
// Reals in the units of scale i and zero point i + 1; where that is missing, of type `to`.
inline tensor requantized(node_context& c, tensor y, std::size_t i, dtype to) {
  op::quantize_linear quantize;
  quantize.to = to;
  std::vector<tensor> parts{y, c.in(i)};
  if (c.has(i + 1)) parts.push_back(c.in(i + 1));
  return c.apply(quantize, parts);
}

template <class Op> void convert_qlinear_binary(node_context& c) {
  const tensor y = c.apply(Op{}, {dequantized(c, 0), dequantized(c, 3)});
  c.out(0, requantized(c, y, 6, c.type(0)));
}
template <class Op> void convert_qlinear_unary(node_context& c) {
  const tensor y = c.apply(attributes_from<Op>(c), {dequantized(c, 0)});
  c.out(0, requantized(c, y, 3, c.type(0)));
}

inline void convert_qlinear_softmax(node_context& c) {
  const std::int64_t since = c.integer("opset"), rank = static_cast<std::int64_t>(c.rank(0));
  std::int64_t axis = c.integer("axis", -1);
  if (axis < 0) axis += rank;
  node_context::require(axis >= 0 && axis < rank, "axis is outside the input");
  const tensor x = dequantized(c, 0);
  const bool along_axis = since >= 13 || axis + 1 == rank;  // else all axes from this one on are one row
  const tensor y = along_axis
                       ? c.apply(op::softmax{axis}, {x})
                       : c.apply(op::reshape{x.dims()}, {c.apply(op::softmax{1}, {c.apply(op::flatten{axis}, {x})})});
  c.out(0, requantized(c, y, 3, c.type(0)));
}

// A pool of reals, its channels in front of the spatial axes or behind them.
template <class Pool> void convert_qlinear_pool(node_context& c, const Pool& pool, bool last) {
  const tensor x = dequantized(c, 0);
  const tensor y = last ? c.apply(op::transpose{channels_last(x.rank())},
                                  {c.apply(pool, {c.apply(op::transpose{channels_first(x.rank())}, {x})})})
                        : c.apply(pool, {x});
  c.out(0, requantized(c, y, 3, c.type(0)));
}
// With ceil_mode, ONNX Runtime's pool counts what the last window has behind the padding as if it were padding, too.
inline void count_what_is_behind(node_context& c, op::average_pool& pool, std::size_t first) {
  const std::size_t axes = pool.kernel_shape.size();
  if (pool.pads.empty()) pool.pads = int_list::filled(2 * axes, 0);
  std::vector<dim> pooled;
  for (std::size_t i = 0; i < axes; ++i) pooled.push_back(c.dims(0)[first + i]);
  node_context::require_known(pooled, "'ceil_mode' with 'count_include_pad' needs known extents");
  for (std::size_t i = 0; i < axes; ++i) {
    const dim n = pooled[i];
    const std::int64_t stride = pool.strides.empty() ? 1 : pool.strides[i];
    const std::int64_t dilation = pool.dilations.empty() ? 1 : pool.dilations[i];
    const std::int64_t reach = (pool.kernel_shape[i] - 1) * dilation + 1;
    const std::int64_t extent = n.value() + pool.pads[i] + pool.pads[axes + i];
    node_context::require(stride > 0 && reach > 0 && extent >= reach, "a window is larger than the padded input");
    std::int64_t steps = (extent - reach + stride - 1) / stride;
    if (steps * stride >= n.value() + pool.pads[i]) --steps;  // no window begins in the padding
    const std::int64_t behind = steps * stride + reach - extent;
    if (behind > 0) pool.pads[axes + i] += behind;
  }
}
inline void convert_qlinear_average_pool(node_context& c) {
  const bool last = c.flag("channels_last", false);
  op::average_pool pool = attributes_from<op::average_pool>(c);
  check_window_lists(c, pool);
  apply_auto_pad(c, pool, last ? 1 : 2);
  if (pool.ceil_mode && pool.count_include_pad) count_what_is_behind(c, pool, last ? 1 : 2);
  convert_qlinear_pool(c, pool, last);
}
inline void convert_qlinear_global_average_pool(node_context& c) {
  convert_qlinear_pool(c, op::global_average_pool{}, c.flag("channels_last", false));
}

// Scale and zero point of the result, then each part with its own.
inline void convert_qlinear_concat(node_context& c) {
  node_context::require(c.inputs() >= 5 && c.inputs() % 3 == 2, "takes a scale, a zero point and threes of inputs");
  std::vector<tensor> parts;
  for (std::size_t i = 2; i < c.inputs(); i += 3) parts.push_back(dequantized(c, i));
  c.out(0, requantized(c, c.apply(op::concat{c.integer("axis")}, parts), 0, c.type(1)));
}

// --- 8-bit products with real results

// One number, whatever its shape; or as it is.
inline tensor scalar_if_one(node_context& c, tensor x) {
  return x.rank() > 0 && element_count(c.table(), x.dims()) == dim(1) ? c.apply(op::reshape{shape{}}, {x}) : x;
}
// (a - its zero point) (b - its zero point), times the scales, of which b's may be one a column.
inline tensor scaled_product(node_context& c, std::vector<tensor> operands, tensor a_scale, tensor b_scale) {
  while (!operands.back().present()) operands.pop_back();
  const tensor product = c.apply(op::matmul_integer{}, operands);
  a_scale = scalar_if_one(c, a_scale);
  node_context::require(a_scale.rank() == 0, "the scale of A must be one number");
  const tensor scale = c.apply(op::mul{}, {a_scale, scalar_if_one(c, b_scale)});
  return c.apply(op::mul{}, {cast_to(c, product, scale.type()), scale});
}
inline tensor optional_input(node_context& c, std::size_t i) { return c.has(i) ? c.in(i) : tensor{}; }
inline tensor plus_input(node_context& c, tensor y, std::size_t i) {
  return c.has(i) ? c.apply(op::add{}, {y, c.in(i)}) : y;
}

inline void convert_matmul_integer_to_float(node_context& c) {
  const tensor y = scaled_product(c, {c.in(0), c.in(1), optional_input(c, 4), optional_input(c, 5)}, c.in(2), c.in(3));
  c.out(0, plus_input(c, y, 6));
}

// A (real), B, its scale, optional zero point and bias: A is quantised over the range of its elements.
inline void convert_dynamic_quantize_matmul(node_context& c) {
  const tensor a = c.in(0);
  tensor part[3];
  for (std::int64_t i = 0; i < 3; ++i) part[i] = c.apply(op::dynamic_quantize_linear{i}, {a});
  const tensor y = scaled_product(c, {part[0], c.in(1), part[2], optional_input(c, 3)}, part[1], c.in(2));
  c.out(0, plus_input(c, y, 4));
}

// A, scale, zero point, B, scales, zero points, optional C (i32, in units of the product), optional scale and zero
// point of the result, which is real without them.
inline void convert_qgemm(node_context& c) {
  const tensor a = fused_operand(c, 0, false, c.flag("transA", false));
  const tensor b = fused_operand(c, 3, false, c.flag("transB", false));
  node_context::require(c.rank(0) == 2 && c.rank(3) == 2, "A and B must be matrices");
  tensor sum = c.apply(op::matmul_integer{}, {a, b, c.in(2), c.in(5)});
  sum = plus_input(c, sum, 6);
  const tensor a_scale = scalar_if_one(c, c.in(1)), b_scale = scalar_if_one(c, c.in(4));
  node_context::require(a_scale.rank() == 0, "the scale of A must be one number");
  tensor scale = c.apply(op::mul{}, {a_scale, b_scale});
  const auto alpha = static_cast<double>(c.real_attribute("alpha", 1));
  if (alpha != 1) scale = c.apply(op::mul{}, {scale, c.graph().scalar(alpha, scale.type())});
  if (c.has(7)) scale = c.apply(op::div{}, {scale, scalar_if_one(c, c.in(7))});
  const tensor y = c.apply(op::mul{}, {cast_to(c, sum, scale.type()), scale});
  if (!c.has(7)) return c.out(0, y);
  c.out(0, dnnkit::detail::rounded_to(y, optional_input(c, 8), c.has(8) ? c.type(8) : c.type(0), 1));
}

// X, W and R [directions, n, 4 hidden] of 8 bits, then as LSTM, then scales and zero points of W and R.
inline void convert_dynamic_quantize_lstm(node_context& c) {
  const op::lstm plain = recurrent_from<op::lstm>(c);
  op::dynamic_quantize_lstm layer{plain.hidden_size,     plain.direction, plain.activations,  plain.activation_alpha,
                                  plain.activation_beta, plain.clip,      plain.input_forget, plain.layout};
  std::vector<tensor> inputs{c.in(0), c.in(1), c.in(2)};
  for (std::size_t i = 8; i < 12; ++i) inputs.push_back(c.in(i));
  for (std::size_t i = 3; i < 8; ++i) inputs.push_back(optional_input(c, i));
  while (!inputs.back().present()) inputs.pop_back();
  out_of_recurrent(c, layer, inputs);
}

// --- weights of few bits

// Numbers of `bits` packed into the bytes of the last axis, the lowest first: one element each, `count` along the axis.
inline tensor unpacked_bits(node_context& c, tensor bytes, std::int64_t bits, dim count) {
  const std::int64_t each = 8 / bits, last = bytes.rank() - 1;
  tensor all = bytes;
  if (each > 1) {
    std::vector<tensor> parts;
    for (std::int64_t i = 0; i < each; ++i) {
      tensor part = bytes;
      if (i > 0) {
        const tensor distance = c.graph().scalar(static_cast<double>(i * bits), u8);
        part = c.apply(op::bit_shift{shift_direction::right}, {part, distance});
      }
      if (i + 1 < each)
        part = c.apply(op::bitwise_and{}, {part, c.graph().scalar(static_cast<double>((1 << bits) - 1), u8)});
      parts.push_back(c.apply(op::unsqueeze{{last + 1}}, {part}));
    }
    shape dims = bytes.dims();
    dims[static_cast<std::size_t>(last)] = c.table().mul(bytes.size(last), dim(each));
    all = c.apply(op::reshape{dims}, {c.apply(op::concat{last + 1}, parts)});
  }
  return all.size(last) == count ? all : c.apply(op::split{last, 0, count}, {all});
}

// A [..., K], B [N, blocks, bytes] with scales [N, blocks] and optional zero points, packed like B or real, and bias.
inline void convert_matmul_n_bits(node_context& c) {
  const std::int64_t n = c.integer("N"), k = c.integer("K"), bits = c.integer("bits", 4),
                     block = c.integer("block_size");
  c.ignore("accuracy_level");
  node_context::require(bits == 2 || bits == 4 || bits == 8, "attribute 'bits' must be 2, 4 or 8");
  node_context::require(block >= 16 && (block & (block - 1)) == 0 && block < std::int64_t{1} << 20,
                        "attribute 'block_size' must be a power of two, 16 or more");
  node_context::require(n > 0 && k > 0 && n < std::int64_t{1} << 40 && k < std::int64_t{1} << 40,
                        "attributes 'N' and 'K' must be positive");
  node_context::require(c.integer("weight_prepacked", 0) == 0, "attribute 'weight_prepacked' is not supported");
  node_context::require(!c.has(4), "input 4 (g_idx) is not supported");
  node_context::require(c.type(1) == u8, "B must be packed into bytes (u8)");
  const std::int64_t blocks = (k + block - 1) / block;
  const dtype type = c.type(0);
  const tensor bytes = c.apply(op::reshape{shape{n, blocks, block * bits / 8}}, {c.in(1)});
  tensor b = cast_to(c, unpacked_bits(c, bytes, bits, block), type), zero = c.graph().scalar(1 << (bits - 1), type);
  if (c.has(3)) {
    const bool packed = c.type(3) == u8;
    const std::int64_t row = packed ? (blocks * bits + 7) / 8 : blocks;
    zero = c.apply(op::reshape{shape{n, row}}, {c.in(3)});
    if (packed) zero = unpacked_bits(c, zero, bits, blocks);
    zero = c.apply(op::reshape{shape{n, blocks, 1}}, {cast_to(c, zero, type)});
  }
  const tensor scales = c.apply(op::reshape{shape{n, blocks, 1}}, {c.in(2)});
  b = c.apply(op::mul{}, {c.apply(op::sub{}, {b, zero}), scales});
  b = c.apply(op::reshape{shape{n, blocks * block}}, {b});
  if (blocks * block != k) b = c.apply(op::split{1, 0, k}, {b});
  const tensor y = c.apply(op::matmul{}, {c.in(0), c.apply(op::transpose{{1, 0}}, {b})});
  c.out(0, plus_input(c, y, 5));
}

}  // namespace dnnkit::onnx::detail
