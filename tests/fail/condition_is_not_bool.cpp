// SPDX-License-Identifier: MIT
// The condition of Where is a tensor of truth values.
// EXPECT: Where (node 1): condition is f32, expected bool
#include <dnnkit/graph.hpp>

namespace dk = dnnkit;

struct model {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", dk::f32, {4});
#ifdef PASSING_TWIN
    const dk::tensor c = dk::greater(x, g.scalar(0));
#else
    const dk::tensor c = x;
#endif
    g.output("y", dk::where(c, x, -x));
  }
};

static_assert(sizeof(dk::compile<model>) > 0);
