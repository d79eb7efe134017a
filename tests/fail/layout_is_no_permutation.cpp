// SPDX-License-Identifier: MIT
// A policy for layouts names an axis twice.
// EXPECT: the pass 'features last' stores values as no kernel can:
// EXPECT: the result of Softmax has the order 0 2 2 1, which does not name each of 4 axes once
#include <dnnkit/graph.hpp>

namespace dk = dnnkit;

struct features_last {
  static constexpr std::string_view name = "features last";
  static constexpr void run(dk::schedule& s) {
    for (const dk::node& n : s.g.nodes)
      if (n.op->name == "Softmax")
#ifdef PASSING_TWIN
        s.layouts[n.output].order = {0, 2, 3, 1};
#else
        s.layouts[n.output].order = {0, 2, 2, 1};
#endif
  }
};
struct model {
  static constexpr void build(dk::builder& g) {
    const auto x = dk::softmax(g.input("x", dk::f32, {2, 3, 4, 5}), {.axis = 1});
    g.output("y", dk::reduce_mean(x, {.axes = {1}}));
  }
};
using passes =
    dk::replaced<dk::default_pipeline, dk::passes::select_layouts, dk::passes::select_layouts, features_last>;

static_assert(sizeof(dk::compile<model, dk::targets::native, passes>) > 0);
