// SPDX-License-Identifier: MIT
// A build that the compiler cannot evaluate.
// EXPECT-GCC: build_must_be_a_constant_expression<model>
// EXPECT-GCC: call to non-'constexpr' function 'static void model::build(dnnkit::builder&)'
// EXPECT-CLANG: non-constexpr function 'build' cannot be used in a constant expression
// ERRORS: 2
#include <dnnkit/graph.hpp>

namespace dk = dnnkit;

struct model {
#ifdef PASSING_TWIN
  static constexpr void build(dk::builder& g) { g.output("y", dk::relu(g.input("x", dk::f32, {2, 3}))); }
#else
  static void build(dk::builder& g) { g.output("y", dk::relu(g.input("x", dk::f32, {2, 3}))); }
#endif
};

using net = dk::compile<model>;

void run(dk::session<net>& s, const float (&x)[6], float (&y)[6]) { return s.run(x, y); }
