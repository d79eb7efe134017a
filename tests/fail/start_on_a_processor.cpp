// SPDX-License-Identifier: MIT
// A run that is not waited for, on a target whose runs are always waited for.
// EXPECT: dnnkit: start() is for networks on a device, such as those of targets::opencl; on a processor there is run()
#include <dnnkit/graph.hpp>

#include <array>

namespace dk = dnnkit;

struct model {
  static constexpr void build(dk::builder& g) { g.output("y", dk::relu(g.input("x", dk::f32, {2, 3}))); }
};

void run(dk::session<dk::compile<model>>& s, std::array<float, 6>& x, std::array<float, 6>& y) {
#ifdef PASSING_TWIN
  static_cast<void>(s.run(x, y));
#else
  static_cast<void>(s.start(x, y));
#endif
}
