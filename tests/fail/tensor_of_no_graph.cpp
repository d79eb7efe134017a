// SPDX-License-Identifier: MIT
// A tensor that nothing was assigned to.
// EXPECT-GCC: build_must_be_a_constant_expression<model>
// EXPECT: there is no tensor (tensor{} stands for an optional input left out)
#include <dnnkit/graph.hpp>

namespace dk = dnnkit;

struct model {
  static constexpr void build(dk::builder& g) {
#ifdef PASSING_TWIN
    const dk::tensor x = g.input("x", dk::f32, {2, 3});
#else
    const dk::tensor x;
#endif
    g.output("y", dk::relu(x));
  }
};

static_assert(sizeof(dk::compile<model>) > 0);
