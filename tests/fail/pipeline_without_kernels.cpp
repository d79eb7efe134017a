// SPDX-License-Identifier: MIT
// A session of a network for whose recipes no kernels were chosen.
// EXPECT: no kernels have been chosen: the pipeline lacks the pass choose_kernels
#include <dnnkit/graph.hpp>

namespace dk = dnnkit;

struct model {
  static constexpr void build(dk::builder& g) { g.output("y", dk::relu(g.input("x", dk::f32, {4}))); }
};
#ifdef PASSING_TWIN
using passes = dk::default_pipeline;
#else
using passes = dk::without<dk::default_pipeline, dk::passes::choose_kernels>;
#endif

void run(const float* x, float* y) {
  dk::session<dk::compile<model, dk::targets::native, passes>> net;
  net.run(std::span<const float, 4>(x, 4), std::span<float, 4>(y, 4));
}
