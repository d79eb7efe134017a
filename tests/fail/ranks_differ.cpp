// SPDX-License-Identifier: MIT
// A convolution whose weight has more axes than what it is applied to.
// EXPECT: ranks_differ.cpp:18: Conv (node 0, weight 'w'): x has rank 3 (shape [1, 3, 8]), but
// EXPECT: but weight has rank 4 (shape [4, 3, 3, 3])
#include <dnnkit/graph.hpp>

namespace dk = dnnkit;

struct model {
  static constexpr void build(dk::builder& g) {
#ifdef PASSING_TWIN
    const dk::tensor x = g.input("x", dk::f32, {1, 3, 8, 8});
#else
    const dk::tensor x = g.input("x", dk::f32, {1, 3, 8});
#endif
    const dk::tensor w = g.weight("w", {4, 3, 3, 3});

    g.output("y", dk::conv(x, w));
  }
};

static_assert(sizeof(dk::compile<model>) > 0);
