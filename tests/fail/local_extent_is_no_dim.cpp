// SPDX-License-Identifier: MIT
// Extents of a kernel where dimensions of the plan are meant, the other way round, and both compared.
// ERRORS: 3
// EXPECT-GCC: could not convert 'rows' from 'const dnnkit::plan::local_extent' to 'dnnkit::dim'
// EXPECT-GCC: could not convert 'height' from 'const dnnkit::dim' to 'dnnkit::plan::local_extent'
// EXPECT-GCC: no match for 'operator==' (operand types are 'const dnnkit::plan::local_extent' and 'const dnnkit::dim')
// EXPECT-CLANG: no known conversion from 'const dk::plan::local_extent' to 'dk::dim'
// EXPECT-CLANG: no known conversion from 'const dk::dim' to 'dk::plan::local_extent'
// EXPECT-CLANG: invalid operands to binary expression ('const dk::plan::local_extent' and 'const dk::dim')
#include <dnnkit/graph.hpp>

namespace dk = dnnkit;

constexpr bool is_symbolic(dk::dim d) { return d.is_expression(); }
constexpr bool is_of_step(dk::plan::local_extent e) { return !e.is_known(); }

// Extent 2 of the step, and polynomial 2 of the plan.
inline constexpr dk::plan::local_extent rows = dk::plan::local_extent::of_step(2);
inline constexpr dk::dim height = dk::dim::of_expression(2);

#ifdef PASSING_TWIN
inline constexpr bool in_the_plan = is_symbolic(rows.as_attribute());
inline constexpr bool in_the_kernel = is_of_step(dk::plan::local_extent::from_attribute(height));
inline constexpr bool compared = rows == dk::plan::local_extent::from_attribute(height);
#else
inline constexpr bool in_the_plan = is_symbolic(rows);
inline constexpr bool in_the_kernel = is_of_step(height);
inline constexpr bool compared = rows == height;
#endif
