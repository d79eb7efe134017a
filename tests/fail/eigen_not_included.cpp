// SPDX-License-Identifier: MIT
// Running a network on a matrix without the header that knows what it is.
// EXPECT: dnnkit: include <dnnkit/eigen.hpp> to run a network on Eigen's matrices and tensors
#include <dnnkit/graph.hpp>
#ifdef PASSING_TWIN
#include <dnnkit/eigen.hpp>
#endif

#include <Eigen/Core>

namespace dk = dnnkit;

struct model {
  static constexpr void build(dk::builder& g) { g.output("y", dk::relu(g.input("x", dk::f32, {3, 4}))); }
};

void run(dk::session<dk::compile<model>>& s, const Eigen::Matrix<float, 3, 4, Eigen::RowMajor>& x, float (&y)[12]) {
  return s.run(x, y);
}
