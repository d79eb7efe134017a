// SPDX-License-Identifier: MIT
// Running a network on a column-major matrix.
// EXPECT: dnnkit: this Eigen matrix is column-major; declare it with Eigen::RowMajor
#include <dnnkit/graph.hpp>

#include <dnnkit/eigen.hpp>

namespace dk = dnnkit;

struct model {
  static constexpr void build(dk::builder& g) { g.output("y", dk::relu(g.input("x", dk::f32, {3, 4}))); }
};

void run(dk::session<dk::compile<model>>& s, const Eigen::MatrixXf& x, float (&y)[12]) {
#ifdef PASSING_TWIN
  return s.run(dk::row_major(x), y);
#else
  return s.run(x, y);
#endif
}
