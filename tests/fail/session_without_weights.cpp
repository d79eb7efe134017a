// SPDX-License-Identifier: MIT
// A session without a weight file, of a network that has weights.
// EXPECT: dnnkit: this network has weights; give its session a weight file
#include <dnnkit/graph.hpp>

namespace dk = dnnkit;

struct model {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", dk::f32, {2});
#ifdef PASSING_TWIN
    g.output("y", x + 1);
#else
    g.output("y", x + g.weight("w", {2}));
#endif
  }
};

std::size_t bytes() {
  const dk::session<dk::compile<model>> s;
  return s.arena_bytes();
}
