// SPDX-License-Identifier: MIT
// Runs a channels-last convolution kernel over random data and compares every output with plain loops in double.
#pragma once

#include <doctest/doctest.h>
#include <dnnkit/cpu/micro/conv.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include "../reference.hpp"

namespace reference {

using namespace dnnkit::cpu;

constexpr conv_attributes square(index_t in, index_t out, index_t kernel, index_t stride = 1, index_t dilation = 1,
                                 index_t groups = 1) {
  return {.in_channels = in,
          .out_channels = out,
          .groups = groups,
          .kernel_h = kernel,
          .kernel_w = kernel,
          .stride_h = stride,
          .stride_w = stride,
          .dilation_h = dilation,
          .dilation_w = dilation};
}

template <conv_attributes A>
conv_problem problem(index_t images, index_t d, index_t h, index_t w, index_t pad_d, index_t pad_h, index_t pad_w) {
  return {.images = images,
          .in_c = A.in_channels,
          .in_d = d,
          .in_h = h,
          .in_w = w,
          .out_c = A.out_channels,
          .groups = A.groups,
          .kernel = {A.kernel_d, A.kernel_h, A.kernel_w},
          .stride = {A.stride_d, A.stride_h, A.stride_w},
          .dilation = {A.dilation_d, A.dilation_h, A.dilation_w},
          .pad = {pad_d, pad_h, pad_w}};
}

// The activation as the kernel wants it: channels last, zero halo, `extra` unused channels a pixel; not one float
// longer than needed.
struct haloed {
  index_t pixel_stride, row_stride, depth_stride, image_stride;
  std::vector<float> data;

  haloed(const conv_problem& p, const std::vector<float>& x, index_t extra) {
    const index_t d = p.in_d + 2 * p.pad[0], h = p.in_h + 2 * p.pad[1], w = p.in_w + 2 * p.pad[2];
    pixel_stride = p.in_c + extra;
    row_stride = w * pixel_stride;
    depth_stride = h * row_stride;
    image_stride = d * depth_stride;
    data.assign(static_cast<std::size_t>(p.images * image_stride - extra), 0.0f);
    std::size_t from = 0;
    for (index_t n = 0; n < p.images; ++n)
      for (index_t c = 0; c < p.in_c; ++c)
        for (index_t z = 0; z < p.in_d; ++z)
          for (index_t y = 0; y < p.in_h; ++y)
            for (index_t column = 0; column < p.in_w; ++column)
              data[static_cast<std::size_t>(n * image_stride + (z + p.pad[0]) * depth_stride +
                                            (y + p.pad[1]) * row_stride + (column + p.pad[2]) * pixel_stride + c)] =
                  x[from++];
  }
};

template <class Kernel>
void check(const conv_problem& p, const Kernel& conv, const haloed& input, const std::vector<float>& x) {
  CAPTURE(p.in_h);
  CAPTURE(p.in_w);
  CAPTURE(p.in_c);
  CAPTURE(p.out_c);
  CAPTURE(p.kernel[2]);
  CAPTURE(p.stride[2]);
  const index_t od = p.out(0), oh = p.out(1), ow = p.out(2);
  const auto weight = values(p.out_c * (p.in_c / p.groups) * p.kernel[0] * p.kernel[1] * p.kernel[2]);
  const auto bias = values(p.out_c);
  std::vector<float> packed(static_cast<std::size_t>(conv.packed_size())),
      start(static_cast<std::size_t>(conv.bias_size()));
  conv.pack(weight.data(), packed.data());
  conv.pack_bias(bias.data(), start.data());

  std::vector<float> out(static_cast<std::size_t>(p.images * od * oh * ow * p.out_c),
                         std::numeric_limits<float>::quiet_NaN());
  std::vector<index_t> cuts{0, conv.units(), pick(0, conv.units()), pick(0, conv.units())};
  std::sort(cuts.begin(), cuts.end());
  index_t twice = 0;
  for (std::size_t i = cuts.size() - 1; i > 0; --i)
    conv.run(input.data.data(), packed.data(), start.data(), cuts[i - 1], cuts[i],
             [&](float_vec acc, index_t n, index_t y, index_t column, index_t oc, auto lanes) {
               float* to = out.data() + ((n * oh + y) * ow + column) * p.out_c + oc;
               store_once(acc, to, lanes, twice);
             });
  index_t wrong = 0;
  std::size_t at = 0;
  const double reduction = static_cast<double>(p.in_c / p.groups * p.kernel[0] * p.kernel[1] * p.kernel[2]);
  for (index_t n = 0; n < p.images; ++n)
    for (index_t z = 0; z < od; ++z)
      for (index_t y = 0; y < oh; ++y)
        for (index_t column = 0; column < ow; ++column)
          for (index_t oc = 0; oc < p.out_c; ++oc) {
            const double want =
                p.at(x, weight, n, oc, z, y, column) + static_cast<double>(bias[static_cast<std::size_t>(oc)]);
            if (!(std::abs(static_cast<double>(out[at++]) - want) <= 1e-6 * (2 + reduction))) ++wrong;
          }
  CHECK(wrong == 0);
  CHECK(twice == 0);
}

// All sizes at run time, the pixel stride known or not.
template <template <conv_attributes, class, class, class, class> class Kernel, conv_attributes A>
void check_run_time(index_t images, index_t d, index_t h, index_t w, index_t pad_d, index_t pad_h, index_t pad_w) {
  const auto p = problem<A>(images, d, h, w, pad_d, pad_h, pad_w);
  const auto x = values(images * A.in_channels * d * h * w);
  const haloed close(p, x, 0), wide(p, x, 3);
  check(p,
        Kernel<A, index_t, index_t, index_t, constant<A.in_channels>>{.out_h = p.out(1),
                                                                      .out_w = p.out(2),
                                                                      .row_stride = close.row_stride,
                                                                      .images = images,
                                                                      .image_stride = close.image_stride,
                                                                      .out_d = p.out(0),
                                                                      .depth_stride = close.depth_stride},
        close, x);
  check(p,
        Kernel<A, index_t, index_t, index_t, index_t>{.out_h = p.out(1),
                                                      .out_w = p.out(2),
                                                      .row_stride = wide.row_stride,
                                                      .pixel_stride = wide.pixel_stride,
                                                      .images = images,
                                                      .image_stride = wide.image_stride,
                                                      .out_d = p.out(0),
                                                      .depth_stride = wide.depth_stride},
        wide, x);
}

template <template <conv_attributes, class, class, class, class> class Kernel, conv_attributes A, index_t H, index_t W,
          index_t Pad>
void check_known(index_t images) {
  const auto p = problem<A>(images, 1, H, W, 0, Pad, Pad);
  const auto x = values(images * A.in_channels * H * W);
  const haloed close(p, x, 0);
  constexpr index_t oh = (H + 2 * Pad - A.dilation_h * (A.kernel_h - 1) - 1) / A.stride_h + 1;
  constexpr index_t ow = (W + 2 * Pad - A.dilation_w * (A.kernel_w - 1) - 1) / A.stride_w + 1;
  check(p,
        Kernel<A, constant<oh>, constant<ow>, constant<(W + 2 * Pad) * A.in_channels>, constant<A.in_channels>>{
            .images = images, .image_stride = close.image_stride},
        close, x);
}

// Sizes from the smallest that gives one output on.
template <template <conv_attributes, class, class, class, class> class Kernel, conv_attributes A>
void check_random(int rounds) {
  for (int round = 0; round < rounds; ++round) {
    const index_t pad = pick(0, A.kernel_h / 2 * A.dilation_h);
    const index_t least = std::max<index_t>(1, A.dilation_h * (A.kernel_h - 1) + 1 - 2 * pad);
    check_run_time<Kernel, A>(pick(1, 2), 1, least + pick(0, 9), least + pick(0, 40), 0, pad, pad);
  }
}

}  // namespace reference
