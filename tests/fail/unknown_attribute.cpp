// SPDX-License-Identifier: MIT
// An attribute the operator does not have.
// EXPECT: strides
#include <dnnkit/graph.hpp>

namespace dk = dnnkit;

struct model {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", dk::f32, {4, 8});
#ifdef PASSING_TWIN
    g.output("y", dk::softmax(x, {.axis = 1}));
#else
    g.output("y", dk::softmax(x, {.strides = 2}));
#endif
  }
};

static_assert(dk::compile<model>::kernels > 0);
