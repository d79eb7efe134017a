// SPDX-License-Identifier: MIT
// Mod of floating-point numbers has only one meaning, and must ask for it.
// EXPECT: floating-point numbers need fmod = true
#include <dnnkit/graph.hpp>

namespace dk = dnnkit;

struct model {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", dk::f32, {4});
#ifdef PASSING_TWIN
    g.output("y", dk::mod(x, g.scalar(3), {.fmod = true}));
#else
    g.output("y", dk::mod(x, g.scalar(3)));
#endif
  }
};

static_assert(dk::compile<model>::kernels > 0);
