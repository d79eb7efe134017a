// SPDX-License-Identifier: MIT
// A model with an operator of its own that it does not list.
// EXPECT: the model uses the operator Twice, which is in no op_set; give the model a member
#include <dnnkit/graph.hpp>

namespace dk = dnnkit;

struct twice {
  static constexpr std::string_view name = "Twice";
  static constexpr dk::form kind = dk::form::elementwise;
  static constexpr dk::traits properties{};
  template <class T> static constexpr T apply(T x) { return x + x; }
};
struct model {
#ifdef PASSING_TWIN
  static constexpr auto ops = dk::builtin_ops + dk::op_set<twice>{};
#endif
  static constexpr void build(dk::builder& g) { g.output("y", dk::apply(twice{}, g.input("x", dk::f32, {4}))); }
};

static_assert(sizeof(dk::compile<model>) > 0);
