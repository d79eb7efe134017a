// SPDX-License-Identifier: MIT
// A pattern whose attributes have more numbers than it has room for.
// EXPECT: attributes_have_more_numbers_than
// EXPECT-GCC: Most = 4]
// EXPECT-CLANG: attributes_have_more_numbers_than<4
#include <dnnkit/graph.hpp>

namespace dk = dnnkit;
using namespace dk::rewrite::names;

#ifdef PASSING_TWIN
inline constexpr dk::rewrite::rule later(dk::tanh(dk::max_pool(a)[p]) == dk::max_pool(dk::tanh(a))[p],
                                         dk::rewrite::approximates(4));
#else
inline constexpr dk::rewrite::rule later(dk::tanh(dk::max_pool(a, {.kernel_shape = {2, 2}, .strides = {2, 2}})) ==
                                             dk::max_pool(dk::tanh(a))[p],
                                         dk::rewrite::approximates(4));
#endif
