// SPDX-License-Identifier: MIT
// An array that is too short for the output.
// EXPECT: output 'y' has 6 elements, its range 5
#include <dnnkit/graph.hpp>

#include <array>
#include <cstddef>

namespace dk = dnnkit;

struct model {
  static constexpr void build(dk::builder& g) { g.output("y", dk::relu(g.input("x", dk::f32, {2, 3}))); }
};
#ifdef PASSING_TWIN
constexpr std::size_t size = 6;
#else
constexpr std::size_t size = 5;
#endif

void run(dk::session<dk::compile<model>>& s, std::array<float, 6>& x, std::array<float, size>& y) {
  return s.run(x, y);
}
