// SPDX-License-Identifier: MIT
// A network for OpenCL with more elements than its kernels count.
// EXPECT: kernel 'large': kernels for OpenCL count fewer than 2^31 elements
#include <dnnkit/opencl/kernels.hpp>

namespace dk = dnnkit;

struct model {
  static constexpr void build(dk::builder& g) {
#ifdef PASSING_TWIN
    constexpr std::int64_t n = (std::int64_t{1} << 31) - 1;
#else
    constexpr std::int64_t n = std::int64_t{1} << 31;
#endif
    g.output("y", g.named("large", dk::relu(g.input("x", dk::f32, {n}))));
  }
};

static_assert(dk::opencl::kernel_texts<dk::compile<model, dk::targets::opencl>>.size() == 1);
