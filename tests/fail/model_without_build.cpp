// SPDX-License-Identifier: MIT
// A type that is no model.
// EXPECT: a model is a type with a member `static constexpr void build(dnnkit::builder&)`
#include <dnnkit/graph.hpp>

namespace dk = dnnkit;

struct model {
#ifdef PASSING_TWIN
  static constexpr void build(dk::builder& g) { g.output("y", dk::relu(g.input("x", dk::f32, {2, 3}))); }
#endif
};

static_assert(sizeof(dk::compile<model>) > 0);
