// SPDX-License-Identifier: MIT
// Convolutions by Winograd's algorithm of sizes that are known, and the error that is allowed them.
#pragma once

#include "dnnkit/cpu/micro/winograd.hpp"
#include "winograd_check.hpp"

namespace reference {

using namespace dnnkit::cpu;

constexpr double allowed_of(const winograd_attributes& a) {
  return largest_winograd_error(a.outputs, a.taps_h > 1 && a.taps_w > 1).largest_error();
}

constexpr conv_attributes convolution_of(const winograd_attributes& a) {
  conv_attributes c = square(a.in_channels, a.out_channels, 3, 1, 1, a.groups);
  c.kernel_d = a.taps_d;
  c.stride_d = a.stride_d;
  c.kernel_h = a.taps_h;
  c.kernel_w = a.taps_w;
  c.stride_h = a.stride_h;
  c.stride_w = a.stride_w;
  return c;
}

template <winograd_attributes A, index_t Images, index_t H, index_t W, index_t D = 1>
double error_of_known(index_t every = 1) {
  constexpr index_t pad = 1;
  const auto p = problem<convolution_of(A)>(Images, D, H, W, 0, pad, pad);
  const auto x = values(Images * A.in_channels * D * H * W);
  const haloed close(p, x, 0);
  constexpr index_t out_h = (H + 2 * pad - A.taps_h) / A.stride_h + 1,
                    out_w = (W + 2 * pad - A.taps_w) / A.stride_w + 1;
  winograd<A, constant<Images>, constant<(D - A.taps_d) / A.stride_d + 1>, constant<out_h>, constant<out_w>,
           constant<(W + 2) * A.in_channels>>
      kernel;
  kernel.image_stride = close.image_stride;
  kernel.depth_stride = close.depth_stride;
  return error_of(p, kernel, close, x, true, every);
}

}  // namespace reference
