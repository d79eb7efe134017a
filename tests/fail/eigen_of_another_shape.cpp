// SPDX-License-Identifier: MIT
// Running a network on a matrix with as many elements, but rows and columns exchanged.
// EXPECT: input 'x' has the shape [3, 4], its range [4, 3]
#include <dnnkit/graph.hpp>

#include <dnnkit/eigen.hpp>

namespace dk = dnnkit;

struct model {
  static constexpr void build(dk::builder& g) { g.output("y", dk::relu(g.input("x", dk::f32, {3, 4}))); }
};

#ifdef PASSING_TWIN
using matrix = Eigen::Matrix<float, 3, 4, Eigen::RowMajor>;
#else
using matrix = Eigen::Matrix<float, 4, 3, Eigen::RowMajor>;
#endif

void run(dk::session<dk::compile<model>>& s, const matrix& x, float (&y)[12]) { return s.run(x, y); }
