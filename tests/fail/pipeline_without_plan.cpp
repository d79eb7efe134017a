// SPDX-License-Identifier: MIT
// A pipeline without the pass that makes the plan.
// EXPECT: the pipeline makes no plan: it lacks the pass make_plan
#include <dnnkit/graph.hpp>

namespace dk = dnnkit;

struct model {
  static constexpr void build(dk::builder& g) { g.output("y", dk::relu(g.input("x", dk::f32, {4}))); }
};
#ifdef PASSING_TWIN
using passes = dk::default_pipeline;
#else
using passes = dk::without<dk::default_pipeline, dk::passes::make_plan>;
#endif

static_assert(sizeof(dk::compile<model, dk::targets::native, passes>) > 0);
