// SPDX-License-Identifier: MIT
// The shape of a convolution's weight must be known while compiling.
// EXPECT: shape must be known
#include <dnnkit/graph.hpp>

namespace dk = dnnkit;

struct model {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", dk::f32, {1, 3, 8, 8});
#ifdef PASSING_TWIN
    const dk::tensor w = g.weight("w", {4, 3, 3, 3});
#else
    const dk::tensor w = g.weight("w", {dk::sym{"M"}, 3, 3, 3});
#endif
    g.output("y", dk::conv(x, w));
  }
};

static_assert(sizeof(dk::compile<model>) > 0);
