// SPDX-License-Identifier: MIT
// What fusion planning decides: groups of nodes, each of which becomes one kernel.
#pragma once

#include "dnnkit/core/vector.hpp"
#include "dnnkit/graph/graph.hpp"

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

struct fusion_plan {
  vector<fusion_group> groups;  // in an order in which they can run
};

}  // namespace dnnkit
