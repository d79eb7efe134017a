// SPDX-License-Identifier: MIT
// A network for OpenCL with elements that its kernels do not compute with.
// EXPECT: Add of kernel 'total': writes f64, and kernels for OpenCL load and store f32, f16, bf16, bool, i8 to i64
#include <dnnkit/opencl/kernels.hpp>

namespace dk = dnnkit;

#ifdef PASSING_TWIN
constexpr dk::dtype type = dk::f32;
#else
constexpr dk::dtype type = dk::f64;
#endif

struct model {
  static constexpr void build(dk::builder& g) {
    const auto x = g.input("x", type, {4});
    g.output("y", g.named("total", x + x));
  }
};

static_assert(dk::opencl::kernel_texts<dk::compile<model, dk::targets::opencl>>.size() == 1);
