// SPDX-License-Identifier: MIT
// A weight comes from a file, and has the shape it has there.
// EXPECT: weight_of_symbolic_shape.cpp:14: weight 'w': its shape must be known, not [N, 5]
#include <dnnkit/graph.hpp>

namespace dk = dnnkit;

struct model {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", dk::f32, {dk::sym{"N"}, 5});
#ifdef PASSING_TWIN
    const dk::tensor w = g.weight("w", {1, 5});
#else
    const dk::tensor w = g.weight("w", {dk::sym{"N"}, 5});
#endif
    g.output("y", x * w);
  }
};

static_assert(sizeof(dk::compile<model>) > 0);
