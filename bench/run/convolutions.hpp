// SPDX-License-Identifier: MIT
// What benchmarks of convolutions share: a problem, its check against sums in double precision, its measurement.
#pragma once

#include <fmt/format.h>

#include <dnnkit/cpu/micro/conv.hpp>

#include "peak.hpp"

namespace bench {

using namespace dnnkit::cpu;

// A square kernel over an image of size h x w with "same" padding; x is logical NCHW, weight OIHW.
struct problem {
  conv_attributes a;
  index_t h, w;

  index_t pad() const { return a.kernel_h / 2; }
  index_t out_h() const { return (h + 2 * pad() - a.kernel_h) / a.stride_h + 1; }
  index_t out_w() const { return (w + 2 * pad() - a.kernel_w) / a.stride_w + 1; }
  double flops() const {
    return 2.0 * static_cast<double>(out_h() * out_w()) * static_cast<double>(a.out_channels * a.reduction());
  }
  std::string shape() const {
    return fmt::format("{}x{}x{}->{} k{} s{}", a.in_channels, h, w, a.out_channels, a.kernel_h, a.stride_h);
  }
  double expected(const buffer& x, const buffer& weight, index_t oc, index_t y, index_t column) const {
    double sum = 0;
    const index_t group = oc / a.group_out();
    for (index_t c = 0; c < a.group_in(); ++c)
      for (index_t ky = 0; ky < a.kernel_h; ++ky)
        for (index_t kx = 0; kx < a.kernel_w; ++kx) {
          const index_t iy = y * a.stride_h + ky - pad(), ix = column * a.stride_w + kx - pad();
          if (iy < 0 || iy >= h || ix < 0 || ix >= w) continue;
          sum += static_cast<double>(x[((group * a.group_in() + c) * h + iy) * w + ix]) *
                 static_cast<double>(weight[((oc * a.group_in() + c) * a.kernel_h + ky) * a.kernel_w + kx]);
        }
    return sum;
  }
};

// store(acc, n, ..., lanes) writes one vector; out_at(oc, y, x) reads one output back.
template <class Kernel, class Input, class Store, class OutAt>
void measure(const options& o, const std::string& name, const problem& p, const Kernel& kernel, Input&& fill,
             const buffer& input, Store&& store, OutAt&& out_at) {
  const buffer x(p.a.in_channels * p.h * p.w), weight(p.a.out_channels * p.a.reduction());
  // With room behind it, as the weights of other kernels are in a session.
  const buffer packed(2 * kernel.packed_size());
  kernel.pack(weight.data(), packed.data());
  for (index_t c = 0; c < p.a.in_channels; ++c)
    for (index_t y = 0; y < p.h; ++y)
      for (index_t column = 0; column < p.w; ++column) fill(c, y, column) = x[(c * p.h + y) * p.w + column];
  const auto work = [&](index_t first, index_t last) {
    kernel.run(input.data(), packed.data(), nullptr, first, last, store);
  };
  work(0, kernel.units());
  for (index_t sample = 0; sample < 200; ++sample) {
    const index_t oc = sample * 7919 % p.a.out_channels, y = sample * 104729 % p.out_h(),
                  column = sample * 1299709 % p.out_w();
    expect_close(name, static_cast<double>(out_at(oc, y, column)), p.expected(x, weight, oc, y, column),
                 static_cast<double>(p.a.reduction()));
  }
  report(o, name, p.shape(), kernel.units(), p.flops(), work);
}

// Channels last.
template <class Conv> void channels_last(const options& o, const std::string& name, const problem& p, Conv conv) {
  if (!o.wants(name)) return;
  const index_t c = p.a.in_channels, row = (p.w + 2 * p.pad()) * c, oc = p.a.out_channels, ow = p.out_w();
  const buffer input((p.h + 2 * p.pad()) * row, false), out(p.out_h() * ow * oc, false);
  measure(
      o, name, p, conv,
      [&](index_t channel, index_t y, index_t x) -> float& {
        return input[(y + p.pad()) * row + (x + p.pad()) * c + channel];
      },
      input,
      [to = out.data(), ow](float_vec acc, index_t, index_t y, index_t x, index_t channel, auto lanes) {
        float* at = to + (y * ow + x) * Conv::out_channels + channel;
        if constexpr (is_constant<decltype(lanes)>) {
          acc.store(at);
        } else {
          acc.store(at, lanes);
        }
      },
      [&](index_t channel, index_t y, index_t x) { return out[(y * ow + x) * oc + channel]; });
}

constexpr conv_attributes attributes(index_t in, index_t out, index_t kernel, index_t stride, index_t groups = 1) {
  return {.in_channels = in,
          .out_channels = out,
          .groups = groups,
          .kernel_h = kernel,
          .kernel_w = kernel,
          .stride_h = stride,
          .stride_w = stride,
          .dense = kernel == 1};
}

template <conv_attributes A, index_t H, index_t W> void known(const options& o, const std::string& name) {
  constexpr index_t pad = A.kernel_h / 2, oh = (H + 2 * pad - A.kernel_h) / A.stride_h + 1,
                    ow = (W + 2 * pad - A.kernel_w) / A.stride_w + 1;
  channels_last(o, name, {A, H, W}, conv<A, constant<oh>, constant<ow>, constant<(W + 2 * pad) * A.in_channels>>{});
}

template <conv_attributes A> void symbolic(const options& o, const std::string& name, index_t h, index_t w) {
  const problem p{A, h, w};
  channels_last(o, name + "_symbolic", p,
                conv<A>{.out_h = p.out_h(), .out_w = p.out_w(), .row_stride = (w + 2 * p.pad()) * A.in_channels});
}

}  // namespace bench
