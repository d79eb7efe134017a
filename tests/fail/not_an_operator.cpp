// SPDX-License-Identifier: MIT
// An operator type without a name, a form or properties is none.
// EXPECT: an operator type is an aggregate with a name, a kind and properties
#include <dnnkit/graph.hpp>

namespace dk = dnnkit;

struct twice {
  static constexpr std::string_view name = "Twice";
  static constexpr dk::form kind = dk::form::elementwise;
#ifdef PASSING_TWIN
  static constexpr dk::traits properties{};
#endif
  template <class T> static constexpr T apply(T x) { return x + x; }
};

struct model {
#ifdef PASSING_TWIN
  static constexpr auto ops = dk::builtin_ops + dk::op_set<twice>{};
#endif
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", dk::f32, {4});
    g.output("y", dk::apply(twice{}, x));
  }
};

static_assert(sizeof(dk::compile<model>) > 0);
