// SPDX-License-Identifier: MIT
// A rule whose right side has a variable that the left side does not bind.
// EXPECT: the_left_side_has_no_variable
// EXPECT-GCC: [with char Variable = 'b']
// EXPECT-CLANG: the_left_side_has_no_variable<'b'>
#include <dnnkit/graph.hpp>

namespace dk = dnnkit;
using namespace dk::rewrite::names;

#ifdef PASSING_TWIN
inline constexpr dk::rewrite::rule without_a_tanh(dk::tanh(a) == dk::abs(a), dk::rewrite::exact);
#else
inline constexpr dk::rewrite::rule without_a_tanh(dk::tanh(a) == dk::abs(b), dk::rewrite::exact);
#endif
