// SPDX-License-Identifier: MIT
// A schedule: what a graph has become on its way to a plan. One value, carried from pass to pass (pass/pipeline.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/graph/graph.hpp"
#include "dnnkit/pass/decision_log.hpp"
#include "dnnkit/pass/fusion_plan.hpp"
#include "dnnkit/plan/kernel_family.hpp"
#include "dnnkit/plan/plan.hpp"

namespace dnnkit {

struct schedule {
  graph g;                              // its error says why there is no plan
  plan::fusion_plan fusion;             // groups of its nodes, in the order in which they run
  vector<plan::buffer_layout> layouts;  // of each of its values; those of values that are not stored mean nothing
  plan::plan_draft plan;
  family_table families;   // that may be chosen for its kernels
  bool logged = false;     // is the log wanted?
  plan::decision_log log;  // what passes decided and why

  constexpr bool is_right() const { return g.error.length == 0; }
  // Are there kernels of several stages, whose tiles follow from fusion and layouts as they are?
  constexpr bool has_stages() const {
    for (const plan::fusion_group& group : fusion.groups)
      if (group.goes_on) return true;
    return false;
  }
  // Says that a pass cannot run any more, because of what others `made` before.
  constexpr void come_too_late(std::string_view pass, std::string_view made) {
    g.error = text("the pass '") << pass << "' comes too late in the pipeline: there are " << made << " already";
  }
  constexpr plan::decision_notes notes() { return logged ? plan::decision_notes(log) : plan::decision_notes(); }
};

// Every value of a graph row-major, without a border.
constexpr vector<plan::buffer_layout> row_major_layouts(const graph& g) {
  plan::buffer_layout of_rank[max_rank + 1];
  for (std::size_t rank = 0; rank <= max_rank; ++rank)
    for (std::size_t d = 0; d < rank; ++d) {
      of_rank[rank].order.push_back(static_cast<std::uint8_t>(d));
      of_rank[rank].before.push_back(0);
      of_rank[rank].after.push_back(0);
    }
  vector<plan::buffer_layout> layouts;
  layouts.reserve(g.values.count);
  for (std::size_t v = 0; v < g.values.count; ++v) layouts.push_back(of_rank[g.values.items[v].type.dims.count]);
  return layouts;
}

}  // namespace dnnkit
