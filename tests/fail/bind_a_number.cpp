// SPDX-License-Identifier: MIT
// Binding values without saying which symbol each is for.
// EXPECT-GCC: no known conversion for argument 1 from '<brace-enclosed initializer list>'
// EXPECT-CLANG: no matching member function for call to 'bind'
#include <dnnkit/graph.hpp>

namespace dk = dnnkit;

struct model {
  static constexpr void build(dk::builder& g) {
    g.output("y", dk::relu(g.input("x", dk::f32, {dk::sym("N", {1, 8})})));
  }
};

void bind(dk::session<dk::compile<model>>& s) {
#ifdef PASSING_TWIN
  s.bind({{"N", 4}});
#else
  s.bind({4});
#endif
}
