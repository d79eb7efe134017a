// SPDX-License-Identifier: MIT
// An operator that is not element-wise says what shape it has.
// EXPECT: an operator that is not element-wise needs infer()
#include <dnnkit/graph.hpp>

namespace dk = dnnkit;

struct reversed {
  static constexpr std::string_view name = "Reversed";
  static constexpr dk::form kind = dk::form::point;
  static constexpr dk::traits properties{.map = dk::mapping::shuffle};
#ifdef PASSING_TWIN
  static constexpr void infer(dk::inference& c) { c.out(c.type(0), c.in(0)); }
#endif
  static constexpr auto at(const auto& c, const dk::coordinates& o, auto x) {
    return x(dk::coordinates{c.in(0, 0) - 1 - o[0]});
  }
};

struct model {
  static constexpr auto ops = dk::builtin_ops + dk::op_set<reversed>{};

  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", dk::f32, {4});
    g.output("y", dk::apply(reversed{}, x));
  }
};

static_assert(sizeof(dk::compile<model>) > 0);
