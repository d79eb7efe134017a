// SPDX-License-Identifier: MIT
// The place of a pass that the list does not have is to be taken.
// EXPECT: the pipeline has no pass 'relu as max'; its passes: 'apply rules', 'join stages'
#include <dnnkit/graph.hpp>

namespace dk = dnnkit;

struct relu_as_max {
  static constexpr std::string_view name = "relu as max";
  static constexpr dk::graph run(dk::graph g) { return g; }
};
using passes = dk::pipeline<dk::passes::default_rules, dk::passes::join_stages>;

#ifdef PASSING_TWIN
using mine = dk::replaced<passes, dk::passes::default_rules, relu_as_max>;
#else
using mine = dk::replaced<passes, relu_as_max, dk::passes::default_rules>;
#endif

static_assert(!dk::passes_of<mine>.empty());
