// SPDX-License-Identifier: MIT
// The library's families of kernels for the CPU. A model may say its own list, in a member
//   static constexpr auto families = dnnkit::cpu::default_families + dnnkit::family_list<mine>{};
// What was measured of their kernels is another member (cost/tuned.hpp).
#pragma once

#include "dnnkit/cpu/families/arg_rows.hpp"
#include "dnnkit/cpu/families/attention.hpp"
#include "dnnkit/cpu/families/by_point.hpp"
#include "dnnkit/cpu/families/byte_convolution.hpp"
#include "dnnkit/cpu/families/byte_lookup.hpp"
#include "dnnkit/cpu/families/byte_matrix_product.hpp"
#include "dnnkit/cpu/families/byte_recurrent_steps.hpp"
#include "dnnkit/cpu/families/concat_parts.hpp"
#include "dnnkit/cpu/families/conv_nchw.hpp"
#include "dnnkit/cpu/families/conv_nhwc.hpp"
#include "dnnkit/cpu/families/conv_wide_winograd.hpp"
#include "dnnkit/cpu/families/conv_winograd.hpp"
#include "dnnkit/cpu/families/conv_winograd_pool.hpp"
#include "dnnkit/cpu/families/elementwise_map.hpp"
#include "dnnkit/cpu/families/matrix_product.hpp"
#include "dnnkit/cpu/families/normalised_product.hpp"
#include "dnnkit/cpu/families/pool_nchw.hpp"
#include "dnnkit/cpu/families/pool_nhwc.hpp"
#include "dnnkit/cpu/families/recurrent_steps.hpp"
#include "dnnkit/cpu/families/resize_lines.hpp"
#include "dnnkit/cpu/families/resize_pixels.hpp"
#include "dnnkit/cpu/families/row_passes.hpp"
#include "dnnkit/cpu/families/row_stages.hpp"
#include "dnnkit/cpu/families/thin_stages.hpp"
#include "dnnkit/cpu/families/transposition.hpp"
#include "dnnkit/cpu/families/whole_operator.hpp"
#include "dnnkit/plan/kernel_family.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

inline constexpr auto default_families =
    family_list<elementwise_map, transposition, conv_nhwc, conv_depthwise, conv_nchw, conv_winograd, conv_wide_winograd,
                matrix_product, byte_matrix_product, byte_convolution, byte_lookup, row_passes, arg_rows, pool_nhwc,
                pool_nchw, concat_parts, attention_tiles, row_stages, thin_stages, normalised_product,
                conv_winograd_pool, recurrent_steps, byte_recurrent_steps, resize_lines, resize_pixels, by_point,
                whole_operator>{};

// Those of a model, within the accuracy that it asks for in a member (cost/accuracy.hpp).
template <class Model> constexpr auto families_of_model() {
  constexpr auto all = [] {
    if constexpr (requires { Model::families; }) return Model::families;
    else return default_families;
  }();
  if constexpr (has_accuracy<Model>) return all.template within<accuracy_of<Model>()>();
  else return all;
}

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
