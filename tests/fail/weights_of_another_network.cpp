// SPDX-License-Identifier: MIT
// A session made of another network's packed weights.
// EXPECT-CLANG: no matching constructor for initialization of 'dk::session<dk::compile<large>>'
// EXPECT-GCC: packed_weights<dnnkit::compile<small> >
#include <dnnkit/graph.hpp>

namespace dk = dnnkit;

template <int Size> struct product {
  static constexpr void build(dk::builder& g) {
    g.output("y", dk::matmul(g.input("x", dk::f32, {2, Size}), g.weight("w", {Size, 3})));
  }
};
struct small : product<4> {};
struct large : product<8> {};
#ifdef PASSING_TWIN
using other = large;
#else
using other = small;
#endif

void open(const dk::packed_weights<dk::compile<other>>& weights) { dk::session<dk::compile<large>> s(weights); }
