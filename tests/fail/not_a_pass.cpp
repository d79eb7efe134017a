// SPDX-License-Identifier: MIT
// A pass whose function has another name.
// EXPECT: a pass has a function run, from graph to graph or on a schedule&
#include <dnnkit/graph.hpp>

namespace dk = dnnkit;

struct mine {
  static constexpr std::string_view name = "mine";
#ifdef PASSING_TWIN
  static constexpr dk::graph run(dk::graph g) { return g; }
#else
  static constexpr dk::graph rewrite(dk::graph g) { return g; }
#endif
};
struct model {
  static constexpr void build(dk::builder& g) { g.output("y", dk::relu(g.input("x", dk::f32, {4}))); }
};

static_assert(sizeof(dk::compile<model, dk::targets::native, decltype(dk::pipeline<mine>{} + dk::default_pipeline{})>) >
              0);
