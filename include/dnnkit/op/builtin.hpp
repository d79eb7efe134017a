// SPDX-License-Identifier: MIT
// The operators that come with the library, one line each.
#pragma once

#include "dnnkit/op/convolution.hpp"
#include "dnnkit/op/elementwise.hpp"
#include "dnnkit/op/matmul.hpp"
#include "dnnkit/op/movement.hpp"
#include "dnnkit/op/normalization.hpp"
#include "dnnkit/op/op_set.hpp"
#include "dnnkit/op/pooling.hpp"

namespace dnnkit {

inline constexpr auto builtin_ops = op_set<  //
    op::add,                                 //
    op::sub,                                 //
    op::mul,                                 //
    op::div,                                 //
    op::relu,                                //
    op::clip,                                //
    op::sqrt,                                //
    op::sigmoid,                             //
    op::reshape,                             //
    op::flatten,                             //
    op::transpose,                           //
    op::depth_to_space,                      //
    op::conv,                                //
    op::max_pool,                            //
    op::matmul,                              //
    op::gemm,                                //
    op::softmax,                             //
    op::standardize,                         //
    op::layer_normalization,                 //
    op::batch_normalization                  //
    >{};
using builtin_set = std::remove_const_t<decltype(builtin_ops)>;

}  // namespace dnnkit
