// SPDX-License-Identifier: MIT
// A list of kernel families in which none carries out the product.
// EXPECT: no family of kernels carries out MatMul: the list has none for it
#include <dnnkit/graph.hpp>

namespace dk = dnnkit;

struct model {
#ifdef PASSING_TWIN
  static constexpr auto families = dk::cpu::default_families;
#else
  static constexpr auto families = dk::family_list<dk::cpu::elementwise_map>{};
#endif
  static constexpr void build(dk::builder& g) {
    g.output("y", dk::matmul(g.input("a", dk::f32, {4, 5}), g.input("b", dk::f32, {5, 6})));
  }
};

static_assert(sizeof(dk::compile<model>) > 0);
