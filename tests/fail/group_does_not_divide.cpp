// SPDX-License-Identifier: MIT
// Groups of a convolution that do not divide the output channels.
// EXPECT: group does not divide the output channels
#include <dnnkit/graph.hpp>

namespace dk = dnnkit;

struct model {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", dk::f32, {1, 4, 8, 8});
#ifdef PASSING_TWIN
    const dk::tensor w = g.weight("w", {8, 1, 3, 3});
#else
    const dk::tensor w = g.weight("w", {6, 1, 3, 3});
#endif
    g.output("y", dk::conv(x, w, {.group = 4}));
  }
};

static_assert(sizeof(dk::compile<model>) > 0);
