// SPDX-License-Identifier: MIT
// What the cost model is told of a GPU that OpenCL kernels run on, and the devices whose facts the library has. Times
// are in microseconds, bandwidths in GB/s, which are a thousandth of that in bytes a nanosecond.
#pragma once

#include <cstdint>
#include <string_view>

#include "dnnkit/cost/target.hpp"

namespace dnnkit {

// The parts of the peak that kernels come to where every compute unit has a work-group.
struct gpu_shares {
  double tiles_4x4 = 0.40, tiles_8x4 = 0.49, tiles_8x8 = 0.60;  // products, by what a work-item has in registers
  double convolution = 0.85;                                    // a convolution's part of such a product
  double depthwise = 0.076;                                     // a window on each channel
  double attention = 0.20;                                      // both products and the softmax between them
  double elements = 0.25;                                       // element-wise operators
};

struct gpu_facts {
  std::string_view device = "H200";
  int compute_units = 132, lanes = 128;  // multiply-adds of 32-bit floats that each begins in a cycle
  double gigahertz = 1.98;
  int vector = 32;  // work-items that share an instruction

  // --- what a kernel costs whatever it does
  double launch = 4.2;    // on the host, however short it is: the device waits
  double gap = 1.9;       // on the device, between two kernels of which one reads what the other writes
  double start = 1;       // groups begin; first loads and last stores are on their way
  double pipeline = 1;    // a product's first slices, and its sums over slices of the reduction
  double handover = 0.9;  // between stages: groups wait for those that compute what they read
  double pass = 0.9;      // over rows: loads, and a tree of sums in local memory

  // --- memories
  std::int64_t local_bytes = 48 * 1024;      // of a work-group
  std::int64_t l2_bytes = 60 * 1024 * 1024;  // what a run computes is found there
  double l2_bandwidth = 4700, memory_bandwidth = 4800;
  memory_kind activations = memory_kind::buffer;

  // --- kernels
  int tile_rows = 8, tile_columns = 8;  // the largest register tile of a work-item
  gpu_shares shares{};
  // Times as long as stages take one by one, where the kernel has to have room for the largest of their tiles.
  double mixed_tiles = 1.25;

  // Operations in a microsecond, a multiply-add being two.
  constexpr double peak() const { return 2e3 * compute_units * lanes * gigahertz; }
};

namespace devices {

// An H200; of an H100 all but the memory, 3350 GB/s, is alike. Launch, gap, hand-over, the bandwidth of L2 and the
// shares of the peak are measured on an H200 with float32 kernels in OpenCL C: products of 96 to 4096 rows, layers of
// ResNet-50, attention of 128 and 197 keys (tests/cost/gpu_estimate.cpp has their times). Compute units, clock and
// memory are NVIDIA's data sheet; the size of L2 is what the device says.
inline constexpr gpu_facts h200{};

// Two cores of a server behind OpenCL, as PoCL 3.1 has them: vectors of 8 floats, two multiply-adds a cycle; local
// memory is cache, and what groups share is the last cache. Launch and bandwidths are measured on an AMD server with
// AVX2: 200 kernels of 64 work-items in a queue, copies of 2 and 64 MB. What products come to there, and what waiting
// costs, is not.
inline constexpr gpu_facts small{.device = "small",
                                 .compute_units = 2,
                                 .lanes = 16,
                                 .gigahertz = 3,
                                 .vector = 8,
                                 .launch = 2.4,
                                 .gap = 1.2,
                                 .start = 1.2,
                                 .pipeline = 1,
                                 .handover = 5,
                                 .pass = 1,
                                 .local_bytes = 512 * 1024,
                                 .l2_bytes = 8 * 1024 * 1024,
                                 .l2_bandwidth = 27,
                                 .memory_bandwidth = 13};

}  // namespace devices

}  // namespace dnnkit
