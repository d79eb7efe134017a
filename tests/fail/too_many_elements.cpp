// SPDX-License-Identifier: MIT
// A tensor of more elements than can be counted.
// EXPECT: has too many elements for any memory
#include <dnnkit/graph.hpp>

namespace dk = dnnkit;

struct model {
  static constexpr void build(dk::builder& g) {
#ifdef PASSING_TWIN
    constexpr std::int64_t n = 1 << 10;
#else
    constexpr std::int64_t n = std::int64_t{1} << 40;
#endif
    g.output("y", dk::relu(g.input("x", dk::f32, {dk::sym{"L"}, n, n})));
  }
};

static_assert(sizeof(dk::compile<model>) > 0);
