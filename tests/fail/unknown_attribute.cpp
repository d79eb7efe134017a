// SPDX-License-Identifier: MIT
// An attribute the operator does not have: the compiler lists those that it has. g++ 13 then misses the output.
// EXPECT-GCC: attributes_of<dnnkit::fixed_string<5>{"Conv"}, dnnkit::fixed_string<13>{"kernel_shape"}
// EXPECT-GCC: dnnkit::fixed_string<8>{"strides"}, dnnkit::fixed_string<5>{"pads"}
// EXPECT-CLANG: attributes_of<fixed_string<5>{"Convkernel_shapestridespads
// ERRORS: 1 2
#include <dnnkit/graph.hpp>

namespace dk = dnnkit;

struct model {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", dk::f32, {1, 3, 8, 8});
#ifdef PASSING_TWIN
    g.output("y", dk::conv(x, g.weight("w", {8, 3, 3, 3}), {.pads = {1, 1, 1, 1}}));
#else
    g.output("y", dk::conv(x, g.weight("w", {8, 3, 3, 3}), {.pad = {1, 1, 1, 1}}));
#endif
  }
};

static_assert(sizeof(dk::compile<model>) > 0);
