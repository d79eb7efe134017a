// SPDX-License-Identifier: MIT
// A tensor is given a shape of another number of elements.
// EXPECT: [2, 6] has 12 elements, which do not fit shape [5, ?]
#include <dnnkit/graph.hpp>

namespace dk = dnnkit;

struct model {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", dk::f32, {2, 6});
#ifdef PASSING_TWIN
    g.output("y", dk::relu(dk::reshape(x, {4, -1})));
#else
    g.output("y", dk::relu(dk::reshape(x, {5, -1})));
#endif
  }
};

static_assert(sizeof(dk::compile<model>) > 0);
