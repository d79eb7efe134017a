// SPDX-License-Identifier: MIT
// A convolution whose weight has another number of input channels than its input.
// EXPECT: channel count is 3, but the weight
// EXPECT: Conv (node 0, weight 'w'):
// EXPECT: mismatched_channels.cpp:18:
#include <dnnkit/graph.hpp>

namespace dk = dnnkit;

struct model {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", dk::f32, {1, 3, 8, 8});
#ifdef PASSING_TWIN
    const dk::tensor w = g.weight("w", {8, 3, 3, 3});
#else
    const dk::tensor w = g.weight("w", {8, 4, 3, 3});
#endif
    g.output("y", dk::conv(x, w));
  }
};

static_assert(sizeof(dk::compile<model>) > 0);
