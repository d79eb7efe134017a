// SPDX-License-Identifier: MIT
// Winograd's F(4x4, 3x3) against direct convolution, both in per cent of what direct convolution could do at the
// multiply-add peak of one core: the 3x3 layers of VGG-16, U-Net, ResNet-50 and YOLOv8n, and groups as RegNet has them.
// bench_winograd [part of a name] [--threads N], one JSON object a line.
#include "convolutions.hpp"

#include <dnnkit/cpu/micro/winograd.hpp>

namespace {

using namespace bench;

// A convolution with the interface of measure(), which gives each range room of its own.
template <winograd_attributes A, index_t Size>
struct in_tiles
    : winograd<A, constant<1>, constant<1>, constant<Size>, constant<Size>, constant<(Size + 2) * A.in_channels>> {
  using base =
      winograd<A, constant<1>, constant<1>, constant<Size>, constant<Size>, constant<(Size + 2) * A.in_channels>>;
  static constexpr index_t out_channels = A.out_channels;

  void run(const float* input, const float* packed, const float* bias, index_t first, index_t last,
           auto&& epilogue) const {
    thread_local const buffer room(base::room(), false);
    base::run(input, packed, bias, first, last, epilogue, room.data());
  }
};

template <index_t In, index_t Out, index_t Size, int Block, index_t Groups = 1>
void both(const options& o, const std::string& layer) {
  known<attributes(In, Out, 3, 1, Groups), Size, Size>(o, "direct_" + layer);
  constexpr winograd_attributes a{.in_channels = In, .out_channels = Out, .groups = Groups, .block = Block};
  channels_last(o, fmt::format("winograd_{}_by_{}", layer, Block), {attributes(In, Out, 3, 1, Groups), Size, Size},
                in_tiles<a, Size>{});
}

}  // namespace

int main(int argc, char** argv) {
  const options o(argc, argv);
  constexpr int block = 2 * tile_rows(2);
  both<64, 64, 224, block>(o, "vgg_64x224");
  both<128, 128, 112, block>(o, "vgg_128x112");
  both<256, 256, 56, block>(o, "vgg_256x56");
  both<512, 512, 28, block>(o, "vgg_512x28");
  both<512, 512, 14, block>(o, "vgg_512x14");
  both<16, 16, 256, block>(o, "unet_16x256");
  both<32, 32, 128, block>(o, "unet_32x128");
  both<64, 64, 64, block>(o, "unet_64x64");
  both<64, 64, 56, block>(o, "resnet_64x56");
  both<128, 128, 28, block>(o, "resnet_128x28");
  both<256, 256, 14, block>(o, "resnet_256x14");
  both<64, 64, 40, block>(o, "yolo_64x40");
  both<128, 128, 20, block>(o, "yolo_128x20");
  both<72, 72, 56, block, 3>(o, "regnet_72x56_groups_of_24");
  both<216, 216, 28, block, 9>(o, "regnet_216x28_groups_of_24");
}
