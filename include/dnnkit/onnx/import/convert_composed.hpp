// SPDX-License-Identifier: MIT
// ONNX's losses, quantised convolutions and pools with two outputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "dnnkit/onnx/import/convert_attributes.hpp"
#include "dnnkit/onnx/import/convert_windows.hpp"
#include "dnnkit/onnx/import/narrow_values.hpp"
#include "dnnkit/op/builtin.hpp"

namespace dnnkit::onnx {

template <> struct words_of<text_weighting> { static constexpr std::string_view list[] = {"TF", "IDF", "TFIDF"}; };
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

// Scale and zero point i of a real x as they lie along the axis, in shapes that broadcast to x.
class quantisation_parameters {
 public:
  quantisation_parameters(node_context& c, tensor x, std::int64_t axis, std::int64_t block)
      : c_(c), x_(x), axis_(axis), block_(block) {
    const tensor_type types[] = {{x.type(), x.dims()}, c.value(1).type, {u8, c.has(2) ? c.dims(2) : shape{}}};
    inference shapes(c.table());  // refuses those that do not fit
    for (std::size_t k = 0; k < (c.has(2) ? 3U : 2U); ++k) shapes.add_input(types[k]);
    op::quantize_linear{axis, u8, block}.infer(shapes);
    if (!shapes.error().empty()) node_context::refuse(shapes.error().str());
  }
  tensor at(std::size_t i) {
    const tensor spread = dnnkit::detail::for_blocks(c_.in(i), x_, axis_, block_);
    const tensor y = dnnkit::detail::along_axis(spread, x_, axis_);
    c_.check();
    return y;
  }

 private:
  node_context& c_;
  tensor x_;
  std::int64_t axis_, block_;
};

// The type in which elements are divided by their scale: before opset 23, which names it or takes the scale's, floats
// of 16 bits are divided in 32, as in ONNX Runtime.
inline dtype precision_of_quantisation(node_context& c) {
  dtype precision = c.opset < 23 && is_half(c.type(1)) ? f32 : c.type(1);
  if (c.integer("precision", 0) != 0) read_attribute(c, "precision", precision);
  node_context::require(is_floating(precision), "attribute 'precision' must be a type of floats");
  return precision;
}
// The type is that of the zero point, else the one the node names.
inline void convert_quantize_linear(node_context& c) {
  op::quantize_linear quantize = attributes_from<op::quantize_linear>(c);
  c.ignore("saturate");  // of 8-bit floats
  const std::int64_t named = c.integer("output_dtype", 0);
  const narrow_type* const narrow = c.has(2) ? c.value(2).narrow : narrow_type_of(named);
  if (narrow != nullptr) quantize.to = narrow->held_in;
  else if (named != 0) read_attribute(c, "output_dtype", quantize.to);
  const dtype precision = precision_of_quantisation(c);
  std::vector<tensor> inputs = given_inputs(c);
  inputs[1] = cast_to(c, inputs[1], precision);
  if (narrow == nullptr) return c.out(0, c.apply(quantize, inputs));
  if (!narrow->is_real()) {
    const auto bound = [&](std::int64_t n) { return c.graph().scalar(static_cast<double>(n), narrow->held_in); };
    const tensor y = c.apply(op::max{}, {c.apply(quantize, inputs), bound(narrow->least_integer())});
    return c.out(0, c.apply(op::min{}, {y, bound(narrow->largest_integer())}));
  }
  const tensor x = cast_to(c, inputs[0], precision);
  quantisation_parameters parameters(c, x, quantize.axis, quantize.block_size);
  tensor y = c.apply(op::div{}, {x, cast_to(c, parameters.at(1), x.type())});
  if (c.has(2)) y = c.apply(op::add{}, {y, cast_to(c, parameters.at(2), x.type())});
  c.out(0, cast_to_narrow(c, y, *narrow));
}
inline void convert_dequantize_linear(node_context& c) {
  const op::dequantize_linear dequantize = attributes_from<op::dequantize_linear>(c);
  dtype type = c.type(1);
  if (c.integer("output_dtype", 0) != 0) read_attribute(c, "output_dtype", type);
  const narrow_type* const narrow = c.value(0).narrow;
  if (narrow == nullptr || !narrow->is_real()) return c.out(0, cast_to(c, c.apply(dequantize, given_inputs(c)), type));
  const tensor x = c.in(0);
  quantisation_parameters parameters(c, x, dequantize.axis, dequantize.block_size);
  const tensor centred = c.has(2) ? c.apply(op::sub{}, {x, parameters.at(2)}) : x;
  c.out(0, cast_to(c, c.apply(op::mul{}, {centred, cast_to(c, parameters.at(1), f32)}), type));
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

// The attributes that are lists of any length become tensors.
inline void convert_tf_idf_vectorizer(node_context& c) {
  op::tf_idf_vectorizer count;
  count.min_gram_length = c.integer("min_gram_length");
  count.max_gram_length = c.integer("max_gram_length");
  count.max_skip_count = c.integer("max_skip_count");
  count.mode = enumerator<text_weighting>("mode", c.word("mode", "TF"));
  const auto list = [&](const char* name) {
    const auto given = c.integers(name);
    if (!given) node_context::refuse("attribute '" + std::string(name) + "' is missing");
    for (std::int64_t n : *given)
      if (name == std::string_view("ngram_indexes") && n >= count.size) count.size = n + 1;
    vector<std::int64_t> codes;
    for (std::int64_t n : *given) codes.push_back(n);
    return c.graph().constant_from_codes(codes, {static_cast<std::int64_t>(given->size())}, i64);
  };
  if (c.has_attribute("pool_strings")) node_context::refuse("attribute 'pool_strings' is not supported");
  std::vector<tensor> inputs{c.in(0), list("ngram_counts"), list("ngram_indexes"), list("pool_int64s")};
  if (const auto weights = c.reals("weights")) {
    vector<double> elements;
    for (float w : *weights) elements.push_back(static_cast<double>(w));
    inputs.push_back(c.graph().constant(elements, {static_cast<std::int64_t>(weights->size())}, f32));
  }
  c.out(0, c.apply(count, inputs));
}

}  // namespace detail

}  // namespace dnnkit::onnx
