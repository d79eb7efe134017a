// SPDX-License-Identifier: MIT
// An extent of an input that is neither known nor named.
// EXPECT: input_of_unknown_extent.cpp:13: input 'x': extent 0 is not known; name it with dk::sym{
#include <dnnkit/graph.hpp>

namespace dk = dnnkit;

struct model {
  static constexpr void build(dk::builder& g) {
#ifdef PASSING_TWIN
    const dk::tensor x = g.input("x", dk::f32, {dk::sym{"N"}, 3});
#else
    const dk::tensor x = g.input("x", dk::f32, {-1, 3});
#endif
    g.output("y", dk::relu(x));
  }
};

static_assert(sizeof(dk::compile<model>) > 0);
