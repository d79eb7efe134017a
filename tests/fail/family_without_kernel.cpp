// SPDX-License-Identifier: MIT
// A family that is chosen and has no kernels.
// EXPECT: a family of kernels has a template kernel<Net, R> (dnnkit/plan/kernel_family.hpp)
#include <dnnkit/graph.hpp>

namespace dk = dnnkit;

struct promising {
  static constexpr std::string_view name = "promising";
  static constexpr bool carries_out(const dk::plan::operator_tag& anchor) { return anchor.id == dk::operator_id::none; }
  static constexpr dk::kernel_match match(const dk::kernel_spec&, const dk::cpu_facts&) { return dk::kernel_choice{}; }
};
struct model {
#ifdef PASSING_TWIN
  static constexpr auto families = dk::cpu::default_families;
#else
  static constexpr auto families = dk::family_list<promising>{};
#endif
  static constexpr void build(dk::builder& g) { g.output("y", dk::relu(g.input("x", dk::f32, {4}))); }
};

void run(const float* x, float* y) {
  dk::session<dk::compile<model>> net;
  net.run(std::span<const float, 4>(x, 4), std::span<float, 4>(y, 4));
}
