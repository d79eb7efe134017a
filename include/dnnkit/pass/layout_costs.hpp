// SPDX-License-Identifier: MIT
// What the kernels of a graph's groups are expected to take with given layouts: each group's recipe is made as the plan
// would have it, and the families are asked for the cheapest kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/graph/walk.hpp"
#include "dnnkit/pass/fusion_plan.hpp"
#include "dnnkit/pass/recipe_builder.hpp"
#include "dnnkit/pass/structural_equality.hpp"
#include "dnnkit/plan/kernel_family.hpp"
#include "dnnkit/plan/kernel_spec.hpp"

namespace dnnkit::detail {

// The layouts must outlive it.
class layout_costs {
 public:
  constexpr layout_costs(graph& g, const fusion_plan& fusion, const vector<buffer_layout>& layouts,
                         std::span<const kernel_family> families, target_facts facts)
      : g_(g),
        layouts_(layouts),
        families_(families),
        facts_(facts),
        stored_(g.values.size(), 0),
        setup_(setup_values(g)),
        equality_(g, stored_, setup_, layouts) {
    for (const fusion_group& group : fusion.groups)
      for (value_id o : group.outputs) stored_[o] = 1;
  }

  // Cycles of the cheapest kernel of a group; 0 where no family has one, which the pass that chooses kernels reports.
  // Blocks repeat themselves in the same order, so the group behind the last that was found is tried first.
  constexpr double cycles(const fusion_group& group) {
    for (std::size_t tries = 0; tries < known_.size(); ++tries, ++next_) {
      if (next_ >= known_.size()) next_ = 0;
      if (equality_.are_equal(*known_[next_].group, group)) return known_[next_++].cycles;
    }
    const std::optional<step_recipe> made = recipe_of(g_, &group, 1, stored_, setup_, layouts_, made_);
    known_.push_back({&group, made ? cheapest(made->kernel) : 0});
    next_ = known_.size();
    return known_.back().cycles;
  }
  // The same with the layouts as they are now, while cycles() wants them always the same: 0 also where with these
  // layouts no kernel can be made of the group. Nothing is kept.
  constexpr double cycles_now(const fusion_group& group) {
    const text error = g_.error;
    const node_id wrong = g_.wrong;
    const table_sizes before = sizes_of(made_);
    const std::optional<step_recipe> made = recipe_of(g_, &group, 1, stored_, setup_, layouts_, made_);
    const double cycles = made ? cheapest(made->kernel) : 0;
    std::size_t i = 0;
    for_each_table([&](auto table) { table(made_).resize(before[i++]); });
    g_.error = error;
    g_.wrong = wrong;
    return cycles;
  }
  // Is a group, as layouts are now, like another, value `counterpart(v)` of this one standing where v stands there?
  constexpr bool are_equal(const fusion_group& a, const fusion_group& b) { return equality_.are_equal(a, b); }
  constexpr value_id counterpart(value_id v) const { return equality_.counterpart(v); }

 private:
  constexpr double cheapest(std::size_t r) const {
    const plan_view plan = view_of(made_);
    const kernel_spec spec(plan, r);
    double least = 0;
    bool found = false;
    for (const kernel_family& f : families_) {
      if (!f.is_asked(spec, facts_)) continue;
      const kernel_match match = f.match(spec, facts_);
      if (!match || (found && match->cost.cycles >= least)) continue;
      least = match->cost.cycles;
      found = true;
    }
    return least;
  }

  struct known_group {
    const fusion_group* group = nullptr;
    double cycles = 0;
  };

  graph& g_;
  const vector<buffer_layout>& layouts_;
  std::span<const kernel_family> families_;
  const target_facts facts_;
  vector<std::uint8_t> stored_, setup_;
  structural_equality equality_;
  plan_draft made_;  // of recipes alone
  vector<known_group> known_;
  std::size_t next_ = 0;
};

}  // namespace dnnkit::detail
