// SPDX-License-Identifier: MIT
// Tensors have at most eight dimensions.
// EXPECT: static_vector: capacity exceeded
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

static_assert(dk::compile<model>::kernels > 0);
