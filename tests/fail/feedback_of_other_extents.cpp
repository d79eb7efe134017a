// SPDX-License-Identifier: MIT
// A state that leaves a run larger than it came, where no symbol tells the next run so.
// EXPECT: are not of one type and the same extents
#include <dnnkit/graph.hpp>
#include <dnnkit/runtime/stateful_session.hpp>

#include <array>

namespace dk = dnnkit;

struct model {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", dk::f32, {2, 3}), h = g.input("h", dk::f32, {2, 3});
#ifdef PASSING_TWIN
    g.output("hn", x + h);
#else
    g.output("hn", dk::concat({x, h}, {.axis = 0}));
#endif
    g.output("y", x * h);
  }
};
using stream = dk::stateful_session<dk::session<dk::compile<model>>, dk::feedback<"hn", "h">>;

void run(stream& s, std::array<float, 6>& x, std::array<float, 6>& y) { s.run(x, y); }
