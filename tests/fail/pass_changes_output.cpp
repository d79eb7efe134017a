// SPDX-License-Identifier: MIT
// A pass puts something of another shape in the place of what the network gives out.
// EXPECT: the pass 'largest' changes output 'y' from f32 [4, 100] to f32 [4, 1]
#include <dnnkit/graph.hpp>

namespace dk = dnnkit;

struct largest {
  static constexpr std::string_view name = "largest";
  static constexpr dk::graph run(dk::graph g) {
    return dk::rebuild(g, [](dk::builder&, const dk::node& n, const dk::rebuilt_inputs& inputs) {
      if (n.op->id != dk::id_of<dk::op::tanh>) return dk::tensor{};
#ifdef PASSING_TWIN
      return dk::relu(inputs[0]);
#else
      return dk::reduce_max(inputs[0], {.axes = {1}, .keepdims = true});
#endif
    });
  }
};
struct model {
  static constexpr void build(dk::builder& g) { g.output("y", dk::tanh(g.input("x", dk::f32, {4, 100}))); }
};

static_assert(
    sizeof(dk::compile<model, dk::targets::native, decltype(dk::pipeline<largest>{} + dk::default_pipeline{})>) > 0);
