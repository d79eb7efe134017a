// SPDX-License-Identifier: MIT
// An extent is a number of elements; only -1, for one that is not known, may be negative.
// EXPECT: negative_extent.cpp:13: an extent is -3; only -1, for one that is not known, may be negative
#include <dnnkit/graph.hpp>

namespace dk = dnnkit;

struct model {
  static constexpr void build(dk::builder& g) {
#ifdef PASSING_TWIN
    const dk::tensor x = g.input("x", dk::f32, {4, 3});
#else
    const dk::tensor x = g.input("x", dk::f32, {4, -3});
#endif
    g.output("y", dk::relu(x));
  }
};

static_assert(sizeof(dk::compile<model>) > 0);
