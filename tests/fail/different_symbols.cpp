// SPDX-License-Identifier: MIT
// Two symbols of which no value is in the bounds of both are not the same extent.
// EXPECT: shapes [H] and [W] do not broadcast
#include <dnnkit/graph.hpp>

namespace dk = dnnkit;

struct model {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", dk::f32, {dk::sym{"H", {1, 8}}});
#ifdef PASSING_TWIN
    const dk::tensor z = g.input("z", dk::f32, {dk::sym{"W"}});
#else
    const dk::tensor z = g.input("z", dk::f32, {dk::sym{"W", {9, 16}}});
#endif
    g.output("y", x + z);
  }
};

static_assert(sizeof(dk::compile<model>) > 0);
