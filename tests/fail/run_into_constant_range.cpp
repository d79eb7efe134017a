// SPDX-License-Identifier: MIT
// An output that cannot be written.
// EXPECT: run() cannot write an output to a constant range
#include <dnnkit/graph.hpp>

#include <span>

namespace dk = dnnkit;

struct model {
  static constexpr void build(dk::builder& g) { g.output("y", dk::relu(g.input("x", dk::f32, {2, 3}))); }
};
#ifdef PASSING_TWIN
using output = std::span<float>;
#else
using output = std::span<const float>;
#endif

void run(dk::session<dk::compile<model>>& s, std::span<const float> x, output y) { return s.run(x, y); }
