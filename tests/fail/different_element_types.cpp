// SPDX-License-Identifier: MIT
// Operands of different element types: ONNX converts nothing silently.
// EXPECT: input 0 is f32, input 1 is f64
#include <dnnkit/graph.hpp>

namespace dk = dnnkit;

struct model {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", dk::f32, {4});
#ifdef PASSING_TWIN
    const dk::tensor z = g.weight("z", {4}, dk::f32);
#else
    const dk::tensor z = g.weight("z", {4}, dk::f64);
#endif
    g.output("y", x * z);
  }
};

static_assert(sizeof(dk::compile<model>) > 0);
