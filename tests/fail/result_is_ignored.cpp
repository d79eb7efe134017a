// SPDX-License-Identifier: MIT
// Results that are the point of a call, and that nobody looks at: of a run that may have been stopped, of a check.
// OPTIONS: -Werror=unused-result
// ERRORS: 2
// EXPECT-GCC: session<Net, Observer>::run_result dnnkit::session<Net, Observer>::run(
// EXPECT-GCC: constexpr dnnkit::text dnnkit::verify(const graph&)
// EXPECT-CLANG: ignoring return value of function declared with 'nodiscard' attribute
#include <dnnkit/graph.hpp>
#include <dnnkit/graph/verify.hpp>

namespace dk = dnnkit;

struct model {
  static constexpr void build(dk::builder& g) { g.output("y", dk::relu(g.input("x", dk::f32, {2, 3}))); }
};
struct impatient {
  bool before(const dk::plan_view&, std::size_t) noexcept { return false; }
  void after(const dk::plan_view&, std::size_t) noexcept {}
};

bool run(dk::session<dk::compile<model>, impatient>& s, std::array<float, 6>& x, std::array<float, 6>& y) {
#ifdef PASSING_TWIN
  return s.run(x, y) && dk::verify(dk::graph_of<model>()).empty();
#else
  s.run(x, y);
  dk::verify(dk::graph_of<model>());
  return true;
#endif
}
// Where nothing can stop it, there is nothing to look at.
void run(dk::session<dk::compile<model>>& s, std::array<float, 6>& x, std::array<float, 6>& y) { s.run(x, y); }
