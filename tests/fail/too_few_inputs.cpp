// SPDX-License-Identifier: MIT
// An operator applied to fewer tensors than it takes.
// EXPECT: has 1 input, takes 2
#include <dnnkit/graph.hpp>

namespace dk = dnnkit;

struct model {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", dk::f32, {4});
#ifdef PASSING_TWIN
    g.output("y", dk::apply(dk::op::add{}, x, x));
#else
    g.output("y", dk::apply(dk::op::add{}, x));
#endif
  }
};

static_assert(sizeof(dk::compile<model>) > 0);
