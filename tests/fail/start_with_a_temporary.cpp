// SPDX-License-Identifier: MIT
// A run that is not waited for, of elements that are gone by then.
// EXPECT: dnnkit: start() is given a temporary, which is gone before the run has ended; give it a name
#include <dnnkit/opencl.hpp>

#include <vector>

namespace dk = dnnkit;

struct model {
  static constexpr void build(dk::builder& g) { g.output("y", dk::relu(g.input("x", dk::f32, {2, 3}))); }
};

dk::cl_run start(dk::session<dk::compile<model, dk::targets::opencl>>& s, std::vector<float>& x,
                 std::vector<float>& y) {
#ifdef PASSING_TWIN
  return s.start(dk::in<"x">(x), dk::out<"y">(y));
#else
  return s.start(dk::in<"x">(std::vector<float>(x)), dk::out<"y">(y));
#endif
}
