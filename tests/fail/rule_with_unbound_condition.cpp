// SPDX-License-Identifier: MIT
// A rule under a condition on attributes that its left side does not name.
// EXPECT: the_left_side_has_no_attributes_named
// EXPECT-GCC: [with char Slot = 'q']
// EXPECT-CLANG: the_left_side_has_no_attributes_named<'q'>
#include <dnnkit/graph.hpp>

namespace dk = dnnkit;
using namespace dk::rewrite::names;

#ifdef PASSING_TWIN
inline constexpr dk::rewrite::slot axes = p;
#else
inline constexpr dk::rewrite::slot axes = q;
#endif
inline constexpr dk::rewrite::rule scaled(dk::reduce_sum(a* c)[p] == dk::reduce_sum(a)[p] * c,
                                          dk::rewrite::when(dk::rewrite::constant_along(c, axes)),
                                          dk::rewrite::reassociates);
