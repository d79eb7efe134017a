// SPDX-License-Identifier: MIT
// Convolution against the multiply-add peak of one core: bench_conv [part of a name] [--threads N], one JSON object a
// line.
#include "convolutions.hpp"

int main(int argc, char** argv) {
  using namespace bench;
  const options o(argc, argv);
  known<attributes(64, 64, 3, 1), 56, 56>(o, "conv_3x3_64x56x56_64");
  known<attributes(256, 1024, 1, 1), 14, 14>(o, "conv_1x1_256x14x14_1024");
  known<attributes(3, 64, 7, 2), 224, 224>(o, "conv_7x7s2_3x224x224_64");
  symbolic<attributes(64, 64, 3, 1)>(o, "conv_3x3_64x56x56_64", 56, 56);
  symbolic<attributes(256, 1024, 1, 1)>(o, "conv_1x1_256x14x14_1024", 14, 14);
  symbolic<attributes(3, 64, 7, 2)>(o, "conv_7x7s2_3x224x224_64", 224, 224);
}
