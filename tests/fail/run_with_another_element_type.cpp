// SPDX-License-Identifier: MIT
// Running a network of floats on doubles.
// EXPECT: input 'x' is of f32, its range of f64
#include <dnnkit/graph.hpp>

#include <array>

namespace dk = dnnkit;

struct model {
  static constexpr void build(dk::builder& g) { g.output("y", dk::relu(g.input("x", dk::f32, {2, 3}))); }
};
#ifdef PASSING_TWIN
using number = float;
#else
using number = double;
#endif

void run(dk::session<dk::compile<model>>& s, std::array<number, 6>& x, std::array<float, 6>& y) { return s.run(x, y); }
