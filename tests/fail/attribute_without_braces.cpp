// SPDX-License-Identifier: MIT
// An attribute's value that stands by itself.
// EXPECT: dnnkit: attributes stand in braces with their names, as in {.alpha = 0.1f}
// EXPECT-GCC: attributes_of<dnnkit::fixed_string<10>{"LeakyRelu"}, dnnkit::fixed_string<6>{"alpha"}>
#include <dnnkit/graph.hpp>

namespace dk = dnnkit;

struct model {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", dk::f32, {1, 3, 8, 8});
#ifdef PASSING_TWIN
    g.output("y", dk::leaky_relu(x, {.alpha = 0.1f}));
#else
    g.output("y", dk::leaky_relu(x, 0.1f));
#endif
  }
};

static_assert(sizeof(dk::compile<model>) > 0);
