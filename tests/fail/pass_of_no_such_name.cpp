// SPDX-License-Identifier: MIT
// A pass is left out by a name that none has.
// EXPECT: the pipeline has no pass 'joinstages'; its passes: 'apply rules', 'join stages'
#include <dnnkit/graph.hpp>

namespace dk = dnnkit;

using passes = dk::pipeline<dk::passes::default_rules, dk::passes::join_stages>;
#ifdef PASSING_TWIN
using fewer = dk::without_called<passes, "join stages">;
#else
using fewer = dk::without_called<passes, "joinstages">;
#endif

static_assert(!dk::passes_of<fewer>.empty());
