// SPDX-License-Identifier: MIT
// The operators that come with the library, one line each.
#pragma once

#include <type_traits>

#include "dnnkit/op/activation.hpp"
#include "dnnkit/op/arg_reduction.hpp"
#include "dnnkit/op/arithmetic.hpp"
#include "dnnkit/op/assume_shape.hpp"
#include "dnnkit/op/bit_cast.hpp"
#include "dnnkit/op/bits.hpp"
#include "dnnkit/op/block_rearrangement.hpp"
#include "dnnkit/op/box_selection.hpp"
#include "dnnkit/op/cast.hpp"
#include "dnnkit/op/classification.hpp"
#include "dnnkit/op/combine.hpp"
#include "dnnkit/op/comparison.hpp"
#include "dnnkit/op/concat.hpp"
#include "dnnkit/op/convolution.hpp"
#include "dnnkit/op/cumulative.hpp"
#include "dnnkit/op/deformable_convolution.hpp"
#include "dnnkit/op/determinant.hpp"
#include "dnnkit/op/dims.hpp"
#include "dnnkit/op/einsum.hpp"
#include "dnnkit/op/expand.hpp"
#include "dnnkit/op/gather.hpp"
#include "dnnkit/op/gather_elements.hpp"
#include "dnnkit/op/grid_sample.hpp"
#include "dnnkit/op/image_columns.hpp"
#include "dnnkit/op/local_normalization.hpp"
#include "dnnkit/op/losses.hpp"
#include "dnnkit/op/lp_pooling.hpp"
#include "dnnkit/op/matmul.hpp"
#include "dnnkit/op/movement.hpp"
#include "dnnkit/op/normalization.hpp"
#include "dnnkit/op/pad.hpp"
#include "dnnkit/op/pooling.hpp"
#include "dnnkit/op/quantization.hpp"
#include "dnnkit/op/quantized_recurrent.hpp"
#include "dnnkit/op/random.hpp"
#include "dnnkit/op/range.hpp"
#include "dnnkit/op/recurrent.hpp"
#include "dnnkit/op/reduction.hpp"
#include "dnnkit/op/resize.hpp"
#include "dnnkit/op/roi_align.hpp"
#include "dnnkit/op/scatter.hpp"
#include "dnnkit/op/selection.hpp"
#include "dnnkit/op/slice.hpp"
#include "dnnkit/op/softmax.hpp"
#include "dnnkit/op/spectral.hpp"
#include "dnnkit/op/text_features.hpp"
#include "dnnkit/op/threshold.hpp"
#include "dnnkit/op/top_k.hpp"
#include "dnnkit/op/transcendental.hpp"
#include "dnnkit/op/transposed_convolution.hpp"
#include "dnnkit/op/trigonometry.hpp"
#include "dnnkit/op/variadic.hpp"
#include "dnnkit/operator/op_set.hpp"

namespace dnnkit {

// clang-format off
inline constexpr auto builtin_ops = op_set<
    op::add,
    op::sub,
    op::mul,
    op::div,
    op::pow,
    op::min,
    op::max,
    op::mod,
    op::neg,
    op::abs,
    op::reciprocal,
    op::floor,
    op::ceil,
    op::round,
    op::sign,
    op::logical_and,
    op::logical_or,
    op::logical_xor,
    op::logical_not,
    op::equal,
    op::greater,
    op::greater_or_equal,
    op::less,
    op::less_or_equal,
    op::where,
    op::combine,
    op::dims,
    op::shape_of,
    op::cast,
    op::bits_of_real,
    op::real_of_bits,
    op::exp,
    op::log,
    op::sqrt,
    op::sin,
    op::cos,
    op::tanh,
    op::erf,
    op::relu,
    op::leaky_relu,
    op::prelu,
    op::clip,
    op::sigmoid,
    op::hard_sigmoid,
    op::hard_swish,
    op::swish,
    op::gelu,
    op::elu,
    op::selu,
    op::softplus,
    op::softsign,
    op::mish,
    op::reshape,
    op::flatten,
    op::squeeze,
    op::unsqueeze,
    op::transpose,
    op::identity,
    op::assume_shape,
    op::depth_to_space,
    op::space_to_depth,
    op::slice,
    op::split,
    op::expand,
    op::tile,
    op::concat,
    op::pad,
    op::repeated_border,
    op::gather,
    op::resize,
    op::matmul,
    op::gemm,
    op::conv,
    op::conv_transpose,
    op::max_pool,
    op::average_pool,
    op::global_average_pool,
    op::global_max_pool,
    op::reduce_sum,
    op::reduce_mean,
    op::reduce_max,
    op::reduce_min,
    op::reduce_prod,
    op::reduce_l1,
    op::reduce_l2,
    op::reduce_log_sum,
    op::reduce_log_sum_exp,
    op::reduce_sum_square,
    op::arg_max,
    op::arg_min,
    op::softmax,
    op::log_softmax,
    op::standardize,
    op::root_mean_square,
    op::layer_normalization,
    op::rms_normalization,
    op::instance_normalization,
    op::group_normalization,
    op::batch_normalization,
    op::normalizing_scale,
    op::normalizing_shift,
    op::tan,
    op::asin,
    op::acos,
    op::atan,
    op::sinh,
    op::cosh,
    op::asinh,
    op::acosh,
    op::atanh,
    op::is_nan,
    op::is_inf,
    op::bit_shift,
    op::bitwise_and,
    op::bitwise_or,
    op::bitwise_xor,
    op::bitwise_not,
    op::celu,
    op::thresholded_relu,
    op::shrink,
    op::sum,
    op::mean,
    op::range,
    op::eye_like,
    op::trilu,
    op::one_hot,
    op::gather_elements,
    op::gather_nd,
    op::reverse_sequence,
    op::scatter_elements,
    op::scatter_nd,
    op::cum_sum,
    op::cum_prod,
    op::top_k,
    op::hardmax,
    op::compress,
    op::non_zero,
    op::unique,
    op::non_max_suppression,
    op::quantize_linear,
    op::dequantize_linear,
    op::dynamic_quantize_linear,
    op::matmul_integer,
    op::conv_integer,
    op::qlinear_matmul,
    op::qlinear_conv,
    op::lrn,
    op::lp_normalization,
    op::mean_variance_normalization,
    op::batch_normalization_training,
    op::lp_pool,
    op::global_lp_pool,
    op::max_pool_indices,
    op::max_unpool,
    op::negative_log_likelihood_loss,
    op::softmax_cross_entropy_loss,
    op::dft,
    op::stft,
    op::hann_window,
    op::hamming_window,
    op::blackman_window,
    op::mel_weight_matrix,
    op::random_uniform,
    op::random_normal,
    op::grid_sample,
    op::roi_align,
    op::det,
    op::inverse,
    op::einsum,
    op::rnn,
    op::gru,
    op::lstm,
    op::dynamic_quantize_lstm,
    op::tf_idf_vectorizer,
    op::col2im,
    op::affine_grid,
    op::center_crop_pad,
    op::deform_conv>{};
// clang-format on
using builtin_set = std::remove_const_t<decltype(builtin_ops)>;

namespace detail {
// The operators a model may use: its own member `ops`, or the library's.
template <class Model> struct set_of_model { using type = builtin_set; };
template <class Model>
requires requires { Model::ops; }
struct set_of_model<Model> {
  using type = std::remove_cvref_t<decltype(Model::ops)>;
};
}  // namespace detail

}  // namespace dnnkit
