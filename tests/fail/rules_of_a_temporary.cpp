// SPDX-License-Identifier: MIT
// A list of rules that refers to a set which is gone.
// EXPECT: dnnkit: a list refers to the rules of its sets, so these are variables with static storage
#include <dnnkit/graph.hpp>

namespace dk = dnnkit;
using namespace dk::rewrite::names;

#ifdef PASSING_TWIN
inline constexpr auto set_of_mine = dk::rewrite::rules_of(
    dk::rewrite::law::identity, dk::rewrite::rule(dk::max(a, b) - dk::min(a, b) == dk::abs(a - b), dk::rewrite::exact));
inline constexpr dk::rewrite::rule_list list_of_mine = dk::rewrite::rules::all + set_of_mine;
#else
inline constexpr dk::rewrite::rule_list list_of_mine =
    dk::rewrite::rules::all +
    dk::rewrite::rules_of(dk::rewrite::law::identity,
                          dk::rewrite::rule(dk::max(a, b) - dk::min(a, b) == dk::abs(a - b), dk::rewrite::exact));
#endif
