// SPDX-License-Identifier: MIT
// A pattern of more terms than it has room for.
// EXPECT: a_side_has_more_terms_than
// EXPECT-GCC: Most = 14]
// EXPECT-CLANG: a_side_has_more_terms_than<14
#include <dnnkit/graph.hpp>

namespace dk = dnnkit;
using namespace dk::rewrite::names;

inline constexpr auto most_of_it =
    dk::exp(dk::abs(dk::sin(dk::cos(dk::tan(dk::exp(dk::abs(dk::sin(dk::cos(a * b)))))))));
#ifdef PASSING_TWIN
inline constexpr dk::rewrite::rule deep(dk::tanh(most_of_it) == most_of_it, dk::rewrite::exact);
#else
inline constexpr dk::rewrite::rule deep(dk::tanh(dk::tanh(dk::exp(most_of_it))) == most_of_it, dk::rewrite::exact);
#endif
