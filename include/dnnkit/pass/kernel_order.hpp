// SPDX-License-Identifier: MIT
// Kernels in an order in which they can run.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dnnkit/core/sort.hpp"
#include "dnnkit/core/vector.hpp"
#include "dnnkit/graph/branches.hpp"
#include "dnnkit/pass/fusion_block.hpp"
#include "dnnkit/pass/fusion_plan.hpp"
#include "dnnkit/pass/layout_tables.hpp"

namespace dnnkit::passes {

// breaks(n) is called for each node of a kernel that is taken apart because it would wait for itself.
template <class Breaks> class kernel_order {
 public:
  constexpr kernel_order(graph& g, fusion_blocks& blocks, Breaks breaks) : g_(g), blocks_(blocks), breaks_(breaks) {}

  // Kernels in a runnable order (that of their last nodes, corrected where kernels interleave).
  constexpr fusion_plan run() {
    fusion_plan plan;
    vector<fusion_group> groups = blocks_.take();
    plan.groups.reserve(groups.count);
    vector<std::size_t> waiting;
    for (std::size_t k = 0; k < groups.count; ++k)
      if (!groups.items[k].nodes.empty()) waiting.push_back(k);
    merge_sort(waiting, [&](std::size_t a, std::size_t b) {
      return groups.items[a].nodes.back() < groups.items[b].nodes.back();
    });
    vector<std::uint8_t> ready(g_.values.size(), 0);
    std::uint8_t* const is_ready = ready.items;
    for (std::size_t v = 0; v < ready.count; ++v) is_ready[v] = g_.values.items[v].from != origin::node;
    // Those that had to wait for one behind them stay at the front, in order.
    std::size_t first = 0;
    while (first < waiting.count) {
      std::size_t next = first;
      while (next < waiting.count && !can_run(groups.items[waiting.items[next]], is_ready)) ++next;
      if (next == waiting.count) {
        if (break_up(groups, waiting, first)) continue;
        const node& n = g_.node_at(groups.items[waiting.items[first]].nodes.back());
        g_.error << g_.label_of(n) << " waits for itself: the graph's nodes are in no order in which they can run";
        return plan;
      }
      fusion_group& group = groups[waiting[next]];
      for (std::size_t i = 0; i < group.outputs.count; ++i) is_ready[group.outputs.items[i]] = 1;
      plan.groups.push_back(static_cast<fusion_group&&>(group));
      for (; next > first; --next) waiting[next] = waiting[next - 1];
      ++first;
    }
    return plan;
  }

 private:
  // Kernels waiting[first], ... wait for each other: one of them becomes a kernel for each of its nodes. What another
  // kernel stores as well is left to that one. False when all are of one node, and it is the nodes that wait.
  constexpr bool break_up(vector<fusion_group>& groups, vector<std::size_t>& waiting, std::size_t first) {
    std::size_t next = first;
    while (next < waiting.size() && groups[waiting[next]].nodes.size() == 1) ++next;
    if (next == waiting.size()) return false;
    const fusion_group broken = groups[waiting[next]];
    for (node_id n : broken.nodes) breaks_(n);
    waiting.erase(waiting.begin() + next);
    for (node_id n : broken.nodes) {
      fusion_group single{{n}, {}, none, g_.nodes.items[n].op->properties.map, broken.setup};
      const value_id v = g_.nodes.items[n].output;
      bool stored = is_a_view(*g_.nodes.items[n].op) && !blocks_.is_given_out(v);
      for (std::size_t k = first; k < waiting.size(); ++k)
        for (value_id o : groups[waiting[k]].outputs) stored = stored || o == v;
      if (stored || blocks_.check(single) != fusion_reason::nothing) continue;
      waiting.push_back(groups.size());
      groups.push_back(static_cast<fusion_group&&>(single));
    }
    return true;
  }

  // Are all values that the kernel loads, and the conditions on which it runs, stored by then?
  constexpr bool can_run(const fusion_group& group, const std::uint8_t* is_ready) const {
    if (const guard_sets& guards = blocks_.guards(); !guards.empty() && !group.setup)
      for (const branch& b : guards.set(guards.of_kernel(g_, group.nodes)))
        if (is_ready[b.condition] == 0) return false;
    for (std::size_t k = 0; k < group.nodes.count; ++k) {
      const slice_of inputs = g_.nodes.items[group.nodes.items[k]].inputs;
      for (std::uint32_t i = inputs.first; i < inputs.first + inputs.count; ++i)
        for (value_id v = g_.operands.items[i]; v != none && is_ready[v] == 0;) {
          const node_id p = g_.values.items[v].producer;
          if (contains(group, p)) break;
          if (!is_a_view(*g_.nodes.items[p].op)) return false;
          v = g_.input_of(g_.nodes.items[p], 0);
        }
    }
    return true;
  }

  graph& g_;
  fusion_blocks& blocks_;
  Breaks breaks_;
};

}  // namespace dnnkit::passes
