// SPDX-License-Identifier: MIT
// A policy for layouts stores what the network gives out in an order of its own.
// EXPECT: the pass 'features last' stores values as no kernel can:
// EXPECT: the result of Softmax has the order 0 2 3 1, but the caller's memory is row-major
#include <dnnkit/graph.hpp>

namespace dk = dnnkit;

struct features_last {
  static constexpr std::string_view name = "features last";
  static constexpr void run(dk::schedule& s) {
    for (std::size_t v = 0; v < s.layouts.size(); ++v) {
#ifdef PASSING_TWIN
      if (dk::is_output(s.g, static_cast<dk::value_id>(v))) continue;
#endif
      if (s.g.values[v].from == dk::origin::node && s.g.values[v].type.dims.size() == 4)
        s.layouts[v].order = {0, 2, 3, 1};
    }
  }
};
struct model {
  static constexpr void build(dk::builder& g) {
    const auto x = dk::max_pool(g.input("x", dk::f32, {2, 3, 4, 5}), {.kernel_shape = {2, 2}});
    g.output("y", dk::softmax(x, {.axis = 1}));
  }
};
using passes =
    dk::replaced<dk::default_pipeline, dk::passes::select_layouts, dk::passes::select_layouts, features_last>;

static_assert(sizeof(dk::compile<model, dk::targets::native, passes>) > 0);
