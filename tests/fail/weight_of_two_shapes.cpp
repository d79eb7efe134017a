// SPDX-License-Identifier: MIT
// A weight asked for twice, the second time with another shape.
// EXPECT: it is asked for twice, with different types: f32 [8, 5] and f32 [4, 10]
#include <dnnkit/graph.hpp>

namespace dk = dnnkit;

struct model {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", dk::f32, {1, 8}), z = g.input("z", dk::f32, {1, 4});
    const dk::tensor y = dk::matmul(x, g.weight("w", {8, 5}));
#ifdef PASSING_TWIN
    g.output("y", dk::concat({y, dk::matmul(z, g.weight("v", {4, 10}))}, {.axis = 1}));
#else
    g.output("y", dk::concat({y, dk::matmul(z, g.weight("w", {4, 10}))}, {.axis = 1}));
#endif
  }
};

static_assert(sizeof(dk::compile<model>) > 0);
