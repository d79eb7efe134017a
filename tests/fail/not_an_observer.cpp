// SPDX-License-Identifier: MIT
// A session whose observer says nothing after a kernel.
// EXPECT: dnnkit: an observer has before(const plan_view&, std::size_t)
#include <dnnkit/graph.hpp>

namespace dk = dnnkit;

struct model {
  static constexpr void build(dk::builder& g) { g.output("y", dk::relu(g.input("x", dk::f32, {2}))); }
};

struct observer {
  static bool before(const dk::plan_view&, std::size_t) { return true; }
#ifdef PASSING_TWIN
  static void after(const dk::plan_view&, std::size_t) {}
#endif
};

std::size_t bytes(const dk::session<dk::compile<model>, observer>& s) { return s.arena_bytes(); }
