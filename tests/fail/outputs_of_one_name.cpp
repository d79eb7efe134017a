// SPDX-License-Identifier: MIT
// Two outputs of the same name.
// EXPECT: two outputs have this name: f32 [2] and f32 [3]
#include <dnnkit/graph.hpp>

namespace dk = dnnkit;

struct model {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", dk::f32, {2});
    const dk::tensor z = g.input("z", dk::f32, {3});
    g.output("y", dk::relu(x));
#ifdef PASSING_TWIN
    g.output("z", dk::relu(z));
#else
    g.output("y", dk::relu(z));
#endif
  }
};

static_assert(sizeof(dk::compile<model>) > 0);
