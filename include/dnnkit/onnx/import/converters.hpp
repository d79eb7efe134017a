// SPDX-License-Identifier: MIT
// Which converter imports which ONNX operator: those with inputs and attributes of their own by name, every other
// operator of the set by reflection.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "dnnkit/onnx/import/convert_attention.hpp"
#include "dnnkit/onnx/import/convert_attributes.hpp"
#include "dnnkit/onnx/import/convert_composed.hpp"
#include "dnnkit/onnx/import/convert_elementwise.hpp"
#include "dnnkit/onnx/import/convert_microsoft_attention.hpp"
#include "dnnkit/onnx/import/convert_microsoft_fused.hpp"
#include "dnnkit/onnx/import/convert_microsoft_quantized.hpp"
#include "dnnkit/onnx/import/convert_movement.hpp"
#include "dnnkit/onnx/import/convert_random.hpp"
#include "dnnkit/onnx/import/convert_resize.hpp"
#include "dnnkit/onnx/import/convert_rows.hpp"
#include "dnnkit/onnx/import/convert_selection.hpp"
#include "dnnkit/onnx/import/convert_sequence.hpp"
#include "dnnkit/onnx/import/convert_signal.hpp"
#include "dnnkit/onnx/import/convert_state.hpp"
#include "dnnkit/onnx/import/convert_windows.hpp"
#include "dnnkit/onnx/import/domains.hpp"
#include "dnnkit/op/builtin.hpp"

namespace dnnkit::onnx {

using converter = void (*)(node_context&);

namespace detail {

// Operators of dnnkit's own, which ONNX does not have.
inline constexpr std::array<std::string_view, 9> not_of_onnx{"Standardize",      "RootMeanSquare", "NormalizingScale",
                                                             "NormalizingShift", "Dims",           "If",
                                                             "Inverse",          "AssumeShape",    "RepeatedBorder"};

template <class Op> void add_converter(std::map<std::string_view, converter>& table) {
  for (std::string_view name : not_of_onnx)
    if (name == Op::name || Op::name.find('.') != std::string_view::npos) return;
  table.emplace(Op::name, &convert_as<Op>);
}
template <class... Ops> std::map<std::string_view, converter> reflected(op_set<Ops...>) {
  std::map<std::string_view, converter> table;
  (add_converter<Ops>(table), ...);
  return table;
}

inline const std::map<std::string_view, converter>& special_converters() {
  static const std::map<std::string_view, converter> table{
      {"Add", convert_binary<op::add>},
      {"Sub", convert_binary<op::sub>},
      {"Mul", convert_binary<op::mul>},
      {"Div", convert_binary<op::div>},
      {"Pow", convert_pow},
      {"And", convert_binary<op::logical_and>},
      {"Or", convert_binary<op::logical_or>},
      {"Xor", convert_binary<op::logical_xor>},
      {"Equal", convert_binary<op::equal>},
      {"Greater", convert_binary<op::greater>},
      {"Less", convert_binary<op::less>},
      {"Sum", convert_chain<op::add>},
      {"Min", convert_chain<op::min>},
      {"Max", convert_chain<op::max>},
      {"Mean", convert_mean},
      {"Identity", convert_identity},
      {"Cast", convert_cast},
      {"CastLike", convert_cast_like},
      {"BitCast", convert_bit_cast},
      {"Clip", convert_clip},
      {"Dropout", convert_dropout},
      {"PRelu", convert_prelu},
      {"SwiGLU", convert_swiglu},
      {"Constant", convert_constant},
      {"Reshape", convert_reshape},
      {"Squeeze", convert_squeeze},
      {"Unsqueeze", convert_unsqueeze},
      {"Slice", convert_slice},
      {"Split", convert_split},
      {"Expand", convert_expand},
      {"Tile", convert_tile},
      {"Concat", convert_concat},
      {"Pad", convert_pad},
      {"CenterCropPad", convert_center_crop_pad},
      {"Col2Im", convert_col2im},
      {"AffineGrid", convert_affine_grid},
      {"TfIdfVectorizer", convert_tf_idf_vectorizer},
      {"RMSNormalization", convert_rms_normalization},
      {"RotaryEmbedding", convert_rotary_embedding},
      {"Attention", convert_attention},
      {"TensorScatter", convert_tensor_scatter},
      {"CausalConvWithState", convert_causal_conv_with_state},
      {"LinearAttention", convert_linear_attention},
      {"SequenceEmpty", convert_sequence_empty},
      {"SequenceConstruct", convert_sequence_construct},
      {"SequenceInsert", convert_sequence_insert},
      {"SequenceErase", convert_sequence_erase},
      {"SequenceAt", convert_sequence_at},
      {"SequenceLength", convert_sequence_length},
      {"ConcatFromSequence", convert_concat_from_sequence},
      {"SplitToSequence", convert_split_to_sequence},
      {"OptionalHasElement", convert_optional_has_element},
      {"OptionalGetElement", convert_optional_get_element},
      {"Conv", convert_conv},
      {"ConvTranspose", convert_conv_transpose},
      {"AveragePool", convert_average_pool},
      {"MaxPool", convert_max_pool},
      {"ReduceSum", convert_reduction<op::reduce_sum, 13>},
      {"ReduceMean", convert_reduction<op::reduce_mean>},
      {"ReduceMax", convert_reduction<op::reduce_max>},
      {"ReduceMin", convert_reduction<op::reduce_min>},
      {"ReduceProd", convert_reduction<op::reduce_prod>},
      {"ReduceL1", convert_reduction<op::reduce_l1>},
      {"ReduceL2", convert_reduction<op::reduce_l2>},
      {"ReduceLogSum", convert_reduction<op::reduce_log_sum>},
      {"ReduceLogSumExp", convert_reduction<op::reduce_log_sum_exp>},
      {"ReduceSumSquare", convert_reduction<op::reduce_sum_square>},
      {"Softmax", convert_softmax<op::softmax>},
      {"LogSoftmax", convert_softmax<op::log_softmax>},
      {"Hardmax", convert_softmax<op::hardmax>},
      {"BatchNormalization", convert_batch_normalization},
      {"LayerNormalization", convert_layer_normalization},
      {"InstanceNormalization", convert_instance_normalization},
      {"GroupNormalization", convert_group_normalization},
      {"Upsample", convert_upsample},
      {"Resize", convert_resize},
      {"Range", convert_range},
      {"CumSum", convert_cumulative<op::cum_sum>},
      {"CumProd", convert_cumulative<op::cum_prod>},
      {"Trilu", convert_trilu},
      {"EyeLike", convert_eye_like},
      {"OneHot", convert_one_hot},
      {"TopK", convert_top_k},
      {"Compress", convert_compress},
      {"Unique", convert_unique},
      {"NonMaxSuppression", convert_non_max_suppression},
      {"Scatter", convert_scatter_elements},
      {"ScatterElements", convert_scatter_elements},
      {"ScatterND", convert_scatter_nd},
      {"NegativeLogLikelihoodLoss", convert_negative_log_likelihood},
      {"SoftmaxCrossEntropyLoss", convert_softmax_cross_entropy},
      {"HannWindow", convert_window<op::hann_window>},
      {"HammingWindow", convert_window<op::hamming_window>},
      {"BlackmanWindow", convert_window<op::blackman_window>},
      {"MelWeightMatrix", convert_mel_weight_matrix},
      {"RandomUniform", convert_random<op::random_uniform, false>},
      {"RandomUniformLike", convert_random<op::random_uniform, true>},
      {"RandomNormal", convert_random<op::random_normal, false>},
      {"RandomNormalLike", convert_random<op::random_normal, true>},
      {"Bernoulli", convert_bernoulli},
      {"Multinomial", convert_multinomial},
      {"DFT", convert_dft},
      {"STFT", convert_stft},
      {"GridSample", convert_grid_sample},
      {"RoiAlign", convert_roi_align},
      {"Einsum", convert_einsum},
      {"RNN", convert_recurrent<op::rnn>},
      {"GRU", convert_recurrent<op::gru>},
      {"LSTM", convert_recurrent<op::lstm>},
      {"LpPool", convert_lp_pool},
      {"MaxUnpool", convert_max_unpool},
      {"DynamicQuantizeLinear", convert_dynamic_quantize_linear},
      {"QuantizeLinear", convert_quantize_linear},
      {"DequantizeLinear", convert_dequantize_linear},
      {"ConvInteger", convert_conv_integer},
      {"QLinearConv", convert_qlinear_conv},
      {"Gemm", convert_gemm},
      {"SimplifiedLayerNormalization", convert_simplified_layer_normalization},
  };
  return table;
}

// The operators of the domain com.microsoft: ONNX Runtime's own.
inline const std::map<std::string_view, converter>& microsoft_converters() {
  static const std::map<std::string_view, converter> table{
      {"Gelu", convert_microsoft_gelu},
      {"BiasGelu", convert_bias_gelu<gelu_approximation::exact>},
      {"FastGelu", convert_bias_gelu<gelu_approximation::by_tanh>},
      {"QuickGelu", convert_quick_gelu},
      {"FusedConv", convert_fused_conv},
      {"FusedGemm", convert_fused_gemm},
      {"FusedMatMul", convert_fused_matmul},
      {"TransposeMatMul", convert_fused_matmul},
      {"SkipLayerNormalization", convert_skip_layer_normalization},
      {"SkipSimplifiedLayerNormalization", convert_skip_simplified_layer_normalization},
      {"EmbedLayerNormalization", convert_embed_layer_normalization},
      {"Attention", convert_microsoft_attention},
      {"QAttention", convert_qattention},
      {"MultiHeadAttention", convert_multi_head_attention},
      {"GroupQueryAttention", convert_group_query_attention},
      {"RotaryEmbedding", convert_microsoft_rotary_embedding},
      {"BiasSoftmax", convert_bias_softmax},
      {"NhwcMaxPool", convert_nhwc_max_pool},
      {"CDist", convert_cdist},
      {"Inverse", convert_as<op::inverse>},
      {"Trilu", convert_trilu},
      {"QuantizeLinear", convert_quantize_linear},
      {"DequantizeLinear", convert_dequantize_linear},
      {"QLinearAdd", convert_qlinear_binary<op::add>},
      {"QLinearMul", convert_qlinear_binary<op::mul>},
      {"QLinearSigmoid", convert_qlinear_unary<op::sigmoid>},
      {"QLinearLeakyRelu", convert_qlinear_unary<op::leaky_relu>},
      {"QLinearSoftmax", convert_qlinear_softmax},
      {"QLinearAveragePool", convert_qlinear_average_pool},
      {"QLinearGlobalAveragePool", convert_qlinear_global_average_pool},
      {"QLinearConcat", convert_qlinear_concat},
      {"QGemm", convert_qgemm},
      {"MatMulIntegerToFloat", convert_matmul_integer_to_float},
      {"DynamicQuantizeMatMul", convert_dynamic_quantize_matmul},
      {"DynamicQuantizeLSTM", convert_dynamic_quantize_lstm},
      {"MatMulNBits", convert_matmul_n_bits},
  };
  return table;
}

// Operators with subgraphs, which the walk imports.
inline constexpr std::array<std::string_view, 3> control_flow{"If", "Loop", "Scan"};
inline bool has_subgraphs(const onnx::node& n) {
  if (is_preview(n.domain)) return n.op_type == "FlexAttention";
  return is_onnx(n.domain) && std::find(control_flow.begin(), control_flow.end(), n.op_type) != control_flow.end();
}

// Operators that are only ever computed while importing.
inline constexpr std::array<std::string_view, 3> computed_while_importing{"Shape", "Size", "ConstantOfShape"};
inline void convert_never(node_context&) { node_context::refuse("an element that decides a shape is not known"); }

// Operators whose work is not bounded by the elements they read and write, and one whose result is no tensor: these are
// never computed while importing.
inline constexpr std::array<std::string_view, 16> with_unbounded_work{
    "AveragePool", "CausalConvWithState", "Col2Im",       "Conv",           "ConvInteger", "ConvTranspose",
    "DeformConv",  "GlobalAveragePool",   "GlobalLpPool", "GlobalMaxPool",  "LRN",         "LpPool",
    "MaxPool",     "QLinearConv",         "RoiAlign",     "SplitToSequence"};

// Operators whose extents depend on elements, and which have no more elements than a few times what they read.
inline constexpr std::array<std::string_view, 3> selecting{"Compress", "NonZero", "Unique"};

inline const std::map<std::string_view, converter>& reflected_converters() {
  static const std::map<std::string_view, converter> table = reflected(builtin_ops);
  return table;
}

// Every name of ONNX's own for which converter_of() has a converter.
inline std::vector<std::string_view> converted_operators() {
  std::set<std::string_view> names(computed_while_importing.begin(), computed_while_importing.end());
  for (const auto& [name, convert] : special_converters()) names.insert(name);
  for (const auto& [name, convert] : reflected_converters()) names.insert(name);
  return {names.begin(), names.end()};
}

inline std::vector<std::string_view> microsoft_operators() {
  std::vector<std::string_view> names;
  for (const auto& [name, convert] : microsoft_converters()) names.push_back(name);
  return names;
}

}  // namespace detail

// The converter of an operator of ONNX's own domain or of com.microsoft, null when it is not supported.
inline converter converter_of(std::string_view domain, std::string_view operator_type) {
  if (!is_onnx(domain)) {
    if (!is_microsoft(domain)) return nullptr;
    const auto found = detail::microsoft_converters().find(operator_type);
    return found == detail::microsoft_converters().end() ? nullptr : found->second;
  }
  const auto& never = detail::computed_while_importing;
  if (std::find(never.begin(), never.end(), operator_type) != never.end()) return detail::convert_never;
  const auto& special = detail::special_converters();
  if (const auto found = special.find(operator_type); found != special.end()) return found->second;
  const auto& reflected = detail::reflected_converters();
  const auto found = reflected.find(operator_type);
  return found == reflected.end() ? nullptr : found->second;
}

}  // namespace dnnkit::onnx
