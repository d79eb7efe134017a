// SPDX-License-Identifier: MIT
// Memory of a GPU as an argument of a network that runs on the processor.
// EXPECT: dnnkit: the range is in memory of a device, and this network runs on the processor
#include <dnnkit/graph.hpp>
#include <dnnkit/runtime/cl_buffer.hpp>

#include <vector>

namespace dk = dnnkit;

struct model {
  static constexpr void build(dk::builder& g) { g.output("y", dk::relu(g.input("x", dk::f32, {4}))); }
};

#ifdef PASSING_TWIN
using range = std::vector<float>;
#else
using range = dk::cl_buffer<float>;
#endif

void run(dk::session<dk::compile<model>>& s, const range& x, float (&y)[4]) { return s.run(x, y); }
