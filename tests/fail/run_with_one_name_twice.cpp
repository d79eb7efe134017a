// SPDX-License-Identifier: MIT
// Running a network with one input twice and another one not at all.
// EXPECT: input 'ids' is given two ranges
#include <dnnkit/graph.hpp>

#include <array>

namespace dk = dnnkit;

struct model {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("ids", dk::f32, {3}), y = g.input("mask", dk::f32, {3});
    g.output("y", x * y);
  }
};

void run(dk::session<dk::compile<model>>& s, const std::array<float, 3>& x, std::array<float, 3>& y) {
#ifdef PASSING_TWIN
  return s.run(dk::in<"ids">(x), dk::in<"mask">(x), dk::out<"y">(y));
#else
  return s.run(dk::in<"ids">(x), dk::in<"ids">(x), dk::out<"y">(y));
#endif
}
