// SPDX-License-Identifier: MIT
// What fusion planning decides: groups of nodes, each of which becomes one kernel, and why.
#pragma once

#include <string_view>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/graph/graph.hpp"
#include "dnnkit/pass/fusion_reason.hpp"

namespace dnnkit {

// A node belongs to one group, or to several when computing it again is cheaper than storing it (movement operators,
// cheap prologues).
struct fusion_group {
  vector<node_id> nodes;     // in topological order
  vector<value_id> outputs;  // the values it stores; the first one spans the iteration space
  node_id anchor = none;     // its one operator that is neither element-wise nor movement
  mapping type = mapping::one_to_one;
  bool setup = false;  // depends on weights and constants only
};

// Why an edge of the graph was or was not fused: `second` reads the output of `first`, also through movement operators.
struct fusion_decision {
  node_id first = none, second = none;
  bool fused = false;
  bool asked = true;  // false: the question did not arise, because of what had been decided before
  fusion_reason reason = fusion_reason::nothing;
  std::string_view rule;  // the name of the rule that refused; empty when none did
};

struct fusion_plan {
  vector<fusion_group> groups;  // in an order in which they can run
  // In the order in which they were taken. At run time they have a reason for every edge between kernels; the compiler,
  // which nobody asks for them, leaves out those that are not `asked`.
  vector<fusion_decision> decisions;
};

}  // namespace dnnkit
