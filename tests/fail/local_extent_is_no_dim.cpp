// SPDX-License-Identifier: MIT
// Extents of a kernel where dimensions of the plan are meant, the other way round, and both compared.
// ERRORS: 3
// EXPECT-GCC: could not convert 'rows' from 'const dnnkit::local_extent' to 'dnnkit::dim'
// EXPECT-GCC: could not convert 'height' from 'const dnnkit::dim' to 'dnnkit::local_extent'
// EXPECT-GCC: no match for 'operator==' (operand types are 'const dnnkit::local_extent' and 'const dnnkit::dim')
// EXPECT-CLANG: no known conversion from 'const dk::local_extent' to 'dk::dim'
// EXPECT-CLANG: no known conversion from 'const dk::dim' to 'dk::local_extent'
// EXPECT-CLANG: invalid operands to binary expression ('const dk::local_extent' and 'const dk::dim')
#include <dnnkit/graph.hpp>

namespace dk = dnnkit;

constexpr bool is_symbolic(dk::dim d) { return d.is_expression(); }
constexpr bool is_of_step(dk::local_extent e) { return !e.is_known(); }

// Extent 2 of the step, and polynomial 2 of the plan.
inline constexpr dk::local_extent rows = dk::local_extent::of_step(2);
inline constexpr dk::dim height = dk::dim::of_expression(2);

#ifdef PASSING_TWIN
inline constexpr bool in_the_plan = is_symbolic(rows.as_attribute());
inline constexpr bool in_the_kernel = is_of_step(dk::local_extent::from_attribute(height));
inline constexpr bool compared = rows == dk::local_extent::from_attribute(height);
#else
inline constexpr bool in_the_plan = is_symbolic(rows);
inline constexpr bool in_the_kernel = is_of_step(height);
inline constexpr bool compared = rows == height;
#endif
