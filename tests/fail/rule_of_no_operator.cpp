// SPDX-License-Identifier: MIT
// A rule whose left side is a variable, which is found everywhere.
// EXPECT: the_left_side_is_no_operator
#include <dnnkit/graph.hpp>

namespace dk = dnnkit;
using namespace dk::rewrite::names;

#ifdef PASSING_TWIN
inline constexpr dk::rewrite::rule positive_part(dk::max(a, dk::abs(a)) == dk::relu(a), dk::rewrite::exact);
#else
inline constexpr dk::rewrite::rule positive_part(a == dk::relu(a), dk::rewrite::exact);
#endif
