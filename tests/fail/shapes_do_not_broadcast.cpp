// SPDX-License-Identifier: MIT
// Two tensors whose shapes do not broadcast are added; the message names both.
// EXPECT: shapes [2, 3] and [2] do not broadcast
#include <dnnkit/graph.hpp>

namespace dk = dnnkit;

struct model {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", dk::f32, {2, 3});
#ifdef PASSING_TWIN
    const dk::tensor b = g.weight("b", {3});
#else
    const dk::tensor b = g.weight("b", {2});
#endif
    g.output("y", x + b);
  }
};

static_assert(sizeof(dk::compile<model>) > 0);
