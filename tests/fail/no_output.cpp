// SPDX-License-Identifier: MIT
// A model that names no output.
// EXPECT: the model names no output
#include <dnnkit/graph.hpp>

namespace dk = dnnkit;

struct model {
  static constexpr void build(dk::builder& g) {
    const dk::tensor y = dk::relu(g.input("x", dk::f32, {4}));
#ifdef PASSING_TWIN
    g.output("y", y);
#else
    static_cast<void>(y);
#endif
  }
};

static_assert(sizeof(dk::compile<model>) > 0);
