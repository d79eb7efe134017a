// SPDX-License-Identifier: MIT
// What fusion planning decides: groups of nodes, each of which becomes one kernel, or a stage of one.
#pragma once

#include <cstddef>
#include <string_view>

#include "dnnkit/core/namespaces.hpp"
#include "dnnkit/core/vector.hpp"
#include "dnnkit/graph/graph.hpp"
#include "dnnkit/plan/recipe.hpp"

namespace dnnkit {
class value_users;  // graph/walk.hpp
}

namespace dnnkit::plan {

// The name of the user's rule that keeps `second`, which reads the output of `first` as its input number `input`, also
// through movement operators, out of the kernel of `first`; empty where none does. The mapping types are those of the
// two blocks.
using refusal_by_rule = std::string_view (*)(const graph& g, const value_users& users, const node& first,
                                             const node& second, std::size_t input, mapping of_first,
                                             mapping of_second);

// A node belongs to one group, or to several when computing it again is cheaper than storing it (movement operators,
// cheap prologues).
struct fusion_group {
  vector<node_id> nodes;     // in topological order
  vector<value_id> outputs;  // the values it stores; the first one spans the iteration space
  node_id anchor = none;     // its one operator that is neither element-wise nor movement
  mapping type = mapping::one_to_one;
  bool setup = false;     // depends on weights and constants only
  bool is_there = false;  // a Concat all of whose parts their own kernels write into its memory: it has no kernel

  // Stages of one kernel follow each other in the list, and hand to each other in tile storage what the earlier ones
  // store. Of a stage: what a tile needs of the axes of its iteration space; of the last: so many positions of each
  // axis are a tile, 0 for all (plan/recipe.hpp). Empty where a group is a kernel of its own.
  bool goes_on = false;  // the next group is a stage of the same kernel
  bool keeps = false;    // what it hands over is stored as any other value is, since others read it, too
  vector<tile_reach> reach = {};
  vector<std::int32_t> tile = {};
};

constexpr bool contains(const fusion_group& group, node_id n) {
  for (std::size_t k = 0; k < group.nodes.count; ++k)
    if (group.nodes.items[k] == n) return true;
  return false;
}

struct fusion_plan {
  vector<fusion_group> groups;  // in an order in which they can run
  // Asked by whoever makes one kernel of several groups; null where the user has no rules.
  refusal_by_rule refuses = nullptr;

  // How many groups from number `first` on are one kernel.
  constexpr std::size_t stages_from(std::size_t first) const {
    std::size_t n = 1;
    while (groups.items[first + n - 1].goes_on) ++n;
    return n;
  }
};

}  // namespace dnnkit::plan
