// SPDX-License-Identifier: MIT
// How each operator of the library is called from C++, checked by the compiler.
#pragma once

#include <concepts>
#include <string_view>
#include <type_traits>

#include "dnnkit/graph/builder.hpp"
#include "dnnkit/op/builtin.hpp"

namespace dnnkit::detail {

// What an operator is called by: a function of the type function<Op> with the name of Op, a function template with
// parameters of its own, of which this is the whole call, or apply() of the operator itself.
struct operator_call {
  enum class kind { none, function, own, applied } by = kind::none;
  std::string_view text;
};
template <class Op> inline constexpr operator_call call_of{};

// clang-format off
#define DNNKIT_FUNCTIONS(F) \
  F(abs) F(acos) F(acosh) F(add) F(affine_grid) F(arg_max) F(arg_min) F(asin) F(asinh) F(atan) F(atanh) \
  F(average_pool) F(bit_shift) F(bitwise_and) F(bitwise_not) F(bitwise_or) F(bitwise_xor) F(cast) F(ceil) \
  F(celu) F(center_crop_pad) F(clip) F(col2im) F(combine) F(compress) F(conv) F(conv_transpose) F(cos) \
  F(cosh) F(cum_prod) F(cum_sum) F(deform_conv) F(depth_to_space) F(dequantize_linear) F(det) F(dft) \
  F(div) F(dynamic_quantize_linear) F(elu) F(equal) F(erf) F(exp) F(eye_like) F(flatten) F(floor) \
  F(gather) F(gather_elements) F(gather_nd) F(gelu) F(gemm) F(global_average_pool) F(global_lp_pool) \
  F(global_max_pool) F(greater) F(greater_or_equal) F(grid_sample) F(group_normalization) F(hard_sigmoid) \
  F(hard_swish) F(hardmax) F(identity) F(instance_normalization) F(inverse) F(is_inf) F(is_nan) \
  F(layer_normalization) F(leaky_relu) F(less) F(less_or_equal) F(log) F(log_softmax) F(logical_and) \
  F(logical_not) F(logical_or) F(logical_xor) F(lp_normalization) F(lp_pool) F(lrn) F(matmul) F(max) \
  F(max_pool) F(max_pool_indices) F(max_unpool) F(mean_variance_normalization) F(min) F(mish) F(mod) \
  F(mul) F(neg) F(negative_log_likelihood_loss) F(non_max_suppression) F(non_zero) F(one_hot) F(pad) \
  F(pow) F(prelu) F(quantize_linear) F(reciprocal) F(reduce_l1) F(reduce_l2) F(reduce_log_sum) \
  F(reduce_log_sum_exp) F(reduce_max) F(reduce_mean) F(reduce_min) F(reduce_prod) F(reduce_sum) \
  F(reduce_sum_square) F(relu) F(resize) F(reverse_sequence) F(rms_normalization) F(roi_align) F(round) \
  F(scatter_elements) F(scatter_nd) F(selu) F(shape_of) F(shrink) F(sign) F(sin) F(sinh) F(slice) F(softmax) \
  F(softmax_cross_entropy_loss) F(softplus) F(softsign) F(space_to_depth) F(sqrt) F(squeeze) F(stft) \
  F(sub) F(swish) F(tan) F(tanh) F(thresholded_relu) F(tile) F(top_k) F(transpose) F(trilu) F(unique) \
  F(unsqueeze) F(where)
#define DNNKIT_APPLIED(F) \
  F(batch_normalization_training) F(bits_of_real) F(real_of_bits) F(blackman_window) F(hamming_window) \
  F(hann_window) F(conv_integer) F(dims) F(dynamic_quantize_lstm) F(gru) F(lstm) F(rnn) F(matmul_integer) \
  F(mel_weight_matrix) F(normalizing_scale) F(normalizing_shift) F(qlinear_conv) F(qlinear_matmul) \
  F(random_normal) F(random_uniform) F(repeated_border) F(root_mean_square) F(standardize) F(tf_idf_vectorizer)
#define DNNKIT_CALL(name)                                                                            \
  static_assert(std::same_as<std::remove_cv_t<decltype(dnnkit::name)>, function<op::name>>);         \
  template <> inline constexpr operator_call call_of<op::name>{operator_call::kind::function, #name};
#define DNNKIT_APPLICATION(name) \
  template <> inline constexpr operator_call call_of<op::name>{operator_call::kind::applied, #name};
#define DNNKIT_OWN_CALL(name, example, written)                                                      \
  static_assert(requires(tensor x, dim n) { { example } -> std::convertible_to<vector<tensor>>; } || \
                requires(tensor x, dim n) { { example } -> std::same_as<tensor>; });                 \
  template <> inline constexpr operator_call call_of<op::name>{operator_call::kind::own, written};
DNNKIT_FUNCTIONS(DNNKIT_CALL)
DNNKIT_APPLIED(DNNKIT_APPLICATION)
DNNKIT_OWN_CALL(batch_normalization, (dnnkit::batch_normalization(x, x, x, x, x, {.epsilon = 1})),
                "batch_normalization(x, scale, bias, mean, variance, {...})")
DNNKIT_OWN_CALL(sigmoid, dnnkit::sigmoid(x), "sigmoid(x)")
DNNKIT_OWN_CALL(assume_shape, (dnnkit::assume_shape(x, {n, 2}, "needed by")), "assume_shape(x, dims, needed_by)")
DNNKIT_OWN_CALL(concat, (dnnkit::concat({x, x}, {.axis = 1})), "concat({x, ...}, {...})")
DNNKIT_OWN_CALL(einsum, (dnnkit::einsum("ij,jk->ik", {x, x})), "einsum(equation, {x, ...})")
DNNKIT_OWN_CALL(expand, (dnnkit::expand(x, {n, 2})), "expand(x, dims)")
DNNKIT_OWN_CALL(reshape, (dnnkit::reshape(x, {n, 2})), "reshape(x, dims)")
DNNKIT_OWN_CALL(range, (dnnkit::range(x, x, {.count = n})), "range(start, delta, {...})")
DNNKIT_OWN_CALL(split, (dnnkit::narrow(x, 1, n, n)), "narrow(x, axis, begin, size)")
DNNKIT_OWN_CALL(sum, (dnnkit::sum({x, x})), "sum({x, ...})")
DNNKIT_OWN_CALL(mean, (dnnkit::mean({x, x})), "mean({x, ...})")
#undef DNNKIT_FUNCTIONS
#undef DNNKIT_APPLIED
#undef DNNKIT_CALL
#undef DNNKIT_APPLICATION
#undef DNNKIT_OWN_CALL
// clang-format on

}  // namespace dnnkit::detail
