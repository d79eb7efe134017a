// SPDX-License-Identifier: MIT
// Convolution against the multiply-add peak of one core: bench_conv [part of a name] [--threads N], one JSON object a
// line.
#include <dnnkit/cpu/conv.hpp>
#include <dnnkit/cpu/depthwise.hpp>
#include <dnnkit/cpu/planar.hpp>

#include "peak.hpp"

namespace {

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
    return std::to_string(a.in_channels) + "x" + std::to_string(h) + "x" + std::to_string(w) + "->" +
           std::to_string(a.out_channels) + " k" + std::to_string(a.kernel_h) + " s" + std::to_string(a.stride_h);
  }
  double expected(const bench::buffer& x, const bench::buffer& weight, index_t oc, index_t y, index_t column) const {
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
void measure(const bench::options& o, const std::string& name, const problem& p, const Kernel& kernel, Input&& fill,
             const bench::buffer& input, Store&& store, OutAt&& out_at) {
  const bench::buffer x(p.a.in_channels * p.h * p.w), weight(p.a.out_channels * p.a.reduction());
  const bench::buffer packed(kernel.packed_size(), false);
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
    bench::expect_close(name, static_cast<double>(out_at(oc, y, column)), p.expected(x, weight, oc, y, column),
                        static_cast<double>(p.a.reduction()));
  }
  bench::report(o, name, p.shape(), kernel.units(), p.flops(), work);
}

// Channels last.
template <class Conv>
void channels_last(const bench::options& o, const std::string& name, const problem& p, Conv conv) {
  if (!o.wants(name)) return;
  const index_t c = p.a.in_channels, row = (p.w + 2 * p.pad()) * c, oc = p.a.out_channels, ow = p.out_w();
  const bench::buffer input((p.h + 2 * p.pad()) * row, false), out(p.out_h() * ow * oc, false);
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

template <conv_attributes A, index_t H, index_t W> void known(const bench::options& o, const std::string& name) {
  constexpr index_t pad = A.kernel_h / 2, oh = (H + 2 * pad - A.kernel_h) / A.stride_h + 1,
                    ow = (W + 2 * pad - A.kernel_w) / A.stride_w + 1;
  channels_last(o, name, {A, H, W}, conv<A, constant<oh>, constant<ow>, constant<(W + 2 * pad) * A.in_channels>>{});
}

template <conv_attributes A> void symbolic(const bench::options& o, const std::string& name, index_t h, index_t w) {
  const problem p{A, h, w};
  channels_last(o, name + "_symbolic", p,
                conv<A>{.out_h = p.out_h(), .out_w = p.out_w(), .row_stride = (w + 2 * p.pad()) * A.in_channels});
}

template <conv_attributes A>
void depthwise_symbolic(const bench::options& o, const std::string& name, index_t h, index_t w) {
  const problem p{A, h, w};
  channels_last(o, name + "_symbolic", p,
                depthwise<A>{.out_h = p.out_h(), .out_w = p.out_w(), .row_stride = (w + 2 * p.pad()) * A.in_channels});
}

// Channels first.
template <conv_attributes A>
void planar_symbolic(const bench::options& o, const std::string& name, index_t h, index_t w) {
  if (!o.wants(name + "_planar_symbolic")) return;
  const problem p{A, h, w};
  const index_t row = w + 2 * p.pad(), plane = (h + 2 * p.pad()) * row, oh = p.out_h(), ow = p.out_w();
  const bench::buffer input(A.in_channels * plane + float_lanes, false), out(A.out_channels * oh * ow, false);
  measure(
      o, name + "_planar_symbolic", p,
      planar_conv<A>{.out_h = oh, .out_w = ow, .row_stride = row, .plane_stride = plane},
      [&](index_t c, index_t y, index_t x) -> float& { return input[c * plane + (y + p.pad()) * row + x + p.pad()]; },
      input,
      [to = out.data(), oh, ow](float_vec acc, index_t, index_t oc, index_t y, index_t x, auto lanes) {
        float* at = to + (oc * oh + y) * ow + x;
        if constexpr (is_constant<decltype(lanes)>) {
          acc.store(at);
        } else {
          acc.store(at, lanes);
        }
      },
      [&](index_t oc, index_t y, index_t x) { return out[(oc * oh + y) * ow + x]; });
}

template <index_t In, index_t Size, index_t Out, index_t Kernel, index_t Stride> void resnet(const bench::options& o) {
  known<attributes(In, Out, Kernel, Stride), Size, Size>(
      o, "resnet50_" + std::to_string(In) + "x" + std::to_string(Size) + "_" + std::to_string(Out) + "_k" +
             std::to_string(Kernel) + "s" + std::to_string(Stride));
}

template <index_t In, index_t Out, index_t Kernel>
void super_resolution(const bench::options& o, index_t h, index_t w) {
  const std::string name = "super_resolution_" + std::to_string(In) + "_" + std::to_string(Out) + "_k" +
                           std::to_string(Kernel) + "_" + std::to_string(h) + "x" + std::to_string(w);
  symbolic<attributes(In, Out, Kernel, 1)>(o, name, h, w);
  planar_symbolic<attributes(In, Out, Kernel, 1)>(o, name, h, w);
}

}  // namespace

int main(int argc, char** argv) {
  const bench::options o(argc, argv);
  known<attributes(64, 64, 3, 1), 56, 56>(o, "conv_3x3_64x56x56_64");
  known<attributes(256, 1024, 1, 1), 14, 14>(o, "conv_1x1_256x14x14_1024");
  known<attributes(3, 64, 7, 2), 224, 224>(o, "conv_7x7s2_3x224x224_64");
  symbolic<attributes(64, 64, 3, 1)>(o, "conv_3x3_64x56x56_64", 56, 56);
  symbolic<attributes(256, 1024, 1, 1)>(o, "conv_1x1_256x14x14_1024", 14, 14);
  symbolic<attributes(3, 64, 7, 2)>(o, "conv_7x7s2_3x224x224_64", 224, 224);

  resnet<64, 56, 64, 1, 1>(o);
  resnet<64, 56, 256, 1, 1>(o);
  resnet<256, 56, 64, 1, 1>(o);
  resnet<256, 56, 128, 1, 1>(o);
  resnet<128, 56, 128, 3, 2>(o);
  resnet<128, 28, 512, 1, 1>(o);
  resnet<256, 56, 512, 1, 2>(o);
  resnet<512, 28, 128, 1, 1>(o);
  resnet<128, 28, 128, 3, 1>(o);
  resnet<512, 28, 256, 1, 1>(o);
  resnet<256, 28, 256, 3, 2>(o);
  resnet<512, 28, 1024, 1, 2>(o);
  resnet<1024, 14, 256, 1, 1>(o);
  resnet<256, 14, 256, 3, 1>(o);
  resnet<1024, 14, 512, 1, 1>(o);
  resnet<512, 14, 512, 3, 2>(o);
  resnet<512, 7, 2048, 1, 1>(o);
  resnet<1024, 14, 2048, 1, 2>(o);
  resnet<2048, 7, 512, 1, 1>(o);
  resnet<512, 7, 512, 3, 1>(o);

  super_resolution<20, 24, 3>(o, 150, 225);
  super_resolution<24, 144, 1>(o, 150, 225);
  super_resolution<144, 20, 1>(o, 150, 225);
  super_resolution<24, 12, 3>(o, 150, 225);
  super_resolution<3, 12, 5>(o, 150, 225);
  super_resolution<20, 24, 3>(o, 400, 600);

  depthwise_symbolic<attributes(96, 96, 7, 1, 96)>(o, "depthwise_7x7_96x56x56", 56, 56);
  depthwise_symbolic<attributes(32, 32, 3, 1, 32)>(o, "depthwise_3x3_32x112x112", 112, 112);
  depthwise_symbolic<attributes(480, 480, 5, 1, 480)>(o, "depthwise_5x5_480x14x14", 14, 14);
}
