// SPDX-License-Identifier: MIT
// Convolutions with wide windows by Winograd's algorithm, of sizes that are known, and the error that is allowed them.
#pragma once

#include "dnnkit/cpu/micro/wide_winograd.hpp"
#include "winograd_check.hpp"

namespace reference {

using namespace dnnkit::cpu;

constexpr double allowed_of(const wide_winograd_attributes& a) {
  return largest_wide_winograd_error(a.taps_h > 1 && a.taps_w > 1).largest_error();
}
constexpr conv_attributes convolution_of(const wide_winograd_attributes& a) {
  conv_attributes c = square(a.in_channels, a.out_channels, 1);
  c.kernel_h = a.taps_h;
  c.kernel_w = a.taps_w;
  return c;
}

template <wide_winograd_attributes A, index_t H, index_t W> double error_of_known(index_t images, index_t every = 1) {
  const auto p = problem<convolution_of(A)>(images, 1, H, W, 0, 0, 0);
  const auto x = values(images * A.in_channels * H * W);
  const haloed close(p, x, 0);
  wide_winograd<A, constant<H - A.taps_h + 1>, constant<W - A.taps_w + 1>, constant<W * A.in_channels>> kernel;
  kernel.images = images;
  kernel.image_stride = close.image_stride;
  return error_of(p, kernel, close, x, true, every);
}

}  // namespace reference
