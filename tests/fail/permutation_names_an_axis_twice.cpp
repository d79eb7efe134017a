// SPDX-License-Identifier: MIT
// A transposition must name every axis once.
// EXPECT: perm names an axis twice
#include <dnnkit/graph.hpp>

namespace dk = dnnkit;

struct model {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", dk::f32, {4, 8});
#ifdef PASSING_TWIN
    g.output("y", dk::relu(dk::transpose(x, {.perm = {1, 0}})));
#else
    g.output("y", dk::relu(dk::transpose(x, {.perm = {0, 0}})));
#endif
  }
};

static_assert(sizeof(dk::compile<model>) > 0);
