// SPDX-License-Identifier: MIT
// A matrix product whose inner extents differ.
// EXPECT: the inner extent of A is 6, but that of B is 5
#include <dnnkit/graph.hpp>

namespace dk = dnnkit;

struct model {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", dk::f32, {4, 6});
#ifdef PASSING_TWIN
    const dk::tensor w = g.weight("w", {6, 3});
#else
    const dk::tensor w = g.weight("w", {5, 3});
#endif
    g.output("y", dk::matmul(x, w));
  }
};

static_assert(sizeof(dk::compile<model>) > 0);
