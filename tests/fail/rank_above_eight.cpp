// SPDX-License-Identifier: MIT
// Tensors have at most eight dimensions.
// EXPECT: rank_above_eight.cpp:13: a tensor has at most 8 axes, not 9
#include <dnnkit/graph.hpp>

namespace dk = dnnkit;

struct model {
  static constexpr void build(dk::builder& g) {
#ifdef PASSING_TWIN
    const dk::tensor x = g.input("x", dk::f32, {1, 1, 1, 1, 1, 1, 1, 2});
#else
    const dk::tensor x = g.input("x", dk::f32, {1, 1, 1, 1, 1, 1, 1, 1, 2});
#endif
    g.output("y", dk::relu(x));
  }
};

static_assert(sizeof(dk::compile<model>) > 0);
