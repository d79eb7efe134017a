// SPDX-License-Identifier: MIT
// A rule whose right side names attributes that the left side does not name.
// EXPECT: the_left_side_has_no_attributes_named
// EXPECT-GCC: [with char Slot = 'p']
// EXPECT-CLANG: the_left_side_has_no_attributes_named<'p'>
#include <dnnkit/graph.hpp>

namespace dk = dnnkit;
using namespace dk::rewrite::names;

#ifdef PASSING_TWIN
inline constexpr auto of_mine = dk::rewrite::rules_of(
    dk::rewrite::law::commutative,
    dk::rewrite::rule(dk::reduce_max(dk::tanh(a))[p] == dk::reduce_max(a)[p], dk::rewrite::exact));
#else
inline constexpr auto of_mine = dk::rewrite::rules_of(
    dk::rewrite::law::commutative, dk::rewrite::rule(dk::tanh(a) == dk::reduce_max(a)[p], dk::rewrite::exact));
#endif
