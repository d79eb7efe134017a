// SPDX-License-Identifier: MIT
// The convolutions of whole networks against the multiply-add peak of one core, as bench_conv; planar and depthwise
// kernels among them: bench_layers [part of a name] [--threads N].
#include <fmt/format.h>

#include <dnnkit/cpu/micro/depthwise.hpp>
#include <dnnkit/cpu/micro/planar.hpp>

#include "convolutions.hpp"

namespace {

using namespace bench;

template <conv_attributes A> void depthwise_symbolic(const options& o, const std::string& name, index_t h, index_t w) {
  const problem p{A, h, w};
  channels_last(o, name + "_symbolic", p,
                depthwise<A>{.out_h = p.out_h(), .out_w = p.out_w(), .row_stride = (w + 2 * p.pad()) * A.in_channels});
}

// Channels first.
template <conv_attributes A> void planar_symbolic(const options& o, const std::string& name, index_t h, index_t w) {
  if (!o.wants(name + "_planar_symbolic")) return;
  const problem p{A, h, w};
  const index_t row = w + 2 * p.pad(), plane = (h + 2 * p.pad()) * row, oh = p.out_h(), ow = p.out_w();
  const buffer input(A.in_channels * plane + float_lanes, false), out(A.out_channels * oh * ow, false);
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

template <index_t In, index_t Size, index_t Out, index_t Kernel, index_t Stride> void resnet(const options& o) {
  known<attributes(In, Out, Kernel, Stride), Size, Size>(
      o, fmt::format("resnet50_{}x{}_{}_k{}s{}", In, Size, Out, Kernel, Stride));
}

template <index_t In, index_t Out, index_t Kernel> void super_resolution(const options& o, index_t h, index_t w) {
  const std::string name = fmt::format("super_resolution_{}_{}_k{}_{}x{}", In, Out, Kernel, h, w);
  symbolic<attributes(In, Out, Kernel, 1)>(o, name, h, w);
  planar_symbolic<attributes(In, Out, Kernel, 1)>(o, name, h, w);
}

}  // namespace

int main(int argc, char** argv) {
  const options o(argc, argv);
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
