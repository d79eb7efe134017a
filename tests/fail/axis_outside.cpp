// SPDX-License-Identifier: MIT
// Softmax along an axis the tensor does not have.
// EXPECT: axis 2 is outside a tensor of rank 2
#include <dnnkit/graph.hpp>

namespace dk = dnnkit;

struct model {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", dk::f32, {4, 8});
#ifdef PASSING_TWIN
    g.output("y", dk::softmax(x, {.axis = 1}));
#else
    g.output("y", dk::softmax(x, {.axis = 2}));
#endif
  }
};

static_assert(sizeof(dk::compile<model>) > 0);
