// SPDX-License-Identifier: MIT
// A pooling window larger than the padded input.
// EXPECT: a window of 5 does not fit a padded extent of 4
#include <dnnkit/graph.hpp>

namespace dk = dnnkit;

struct model {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", dk::f32, {1, 2, 4, 4});
#ifdef PASSING_TWIN
    g.output("y", dk::max_pool(x, {.kernel_shape = {4, 4}}));
#else
    g.output("y", dk::max_pool(x, {.kernel_shape = {5, 5}}));
#endif
  }
};

static_assert(sizeof(dk::compile<model>) > 0);
