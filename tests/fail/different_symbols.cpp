// SPDX-License-Identifier: MIT
// Two different symbols are not the same extent, whatever their bounds.
// EXPECT: shapes [H] and [W] do not broadcast
#include <dnnkit/graph.hpp>

namespace dk = dnnkit;

struct model {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", dk::f32, {dk::sym{"H"}});
#ifdef PASSING_TWIN
    const dk::tensor z = g.input("z", dk::f32, {dk::sym{"H"}});
#else
    const dk::tensor z = g.input("z", dk::f32, {dk::sym{"W"}});
#endif
    g.output("y", x + z);
  }
};

static_assert(sizeof(dk::compile<model>) > 0);
