// SPDX-License-Identifier: MIT
// Two inputs of the same name.
// EXPECT: two inputs have this name: f32 [2] and f32 [3]
#include <dnnkit/graph.hpp>

namespace dk = dnnkit;

struct model {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", dk::f32, {2});
#ifdef PASSING_TWIN
    const dk::tensor z = g.input("z", dk::f32, {3});
#else
    const dk::tensor z = g.input("x", dk::f32, {3});
#endif
    g.output("y", dk::relu(x));
    g.output("z", dk::relu(z));
  }
};

static_assert(sizeof(dk::compile<model>) > 0);
