// SPDX-License-Identifier: MIT
// Pass: which family of kernels carries out each recipe of the plan. Families are asked in order; the one that expects
// to take least time is chosen, of equals the first, and what the others said is kept beside it. Without families to
// ask, as where only the plan executor runs the plan, nothing is chosen; nor for a target of which no facts are known,
// whose kernels are made in another way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "dnnkit/pass/schedule.hpp"
#include "dnnkit/plan/kernel_family.hpp"
#include "dnnkit/plan/kernel_spec.hpp"

namespace dnnkit::passes {

struct choose_kernels {
  static constexpr std::string_view name = "choose kernels";
  static constexpr std::string_view needed = "a plan without kernels cannot run";

  template <class Target> static constexpr void run(schedule& s) {
    if constexpr (requires { Target::facts; })
      if (s.families) choose_all(s, *s.families, Target::facts);
  }

 private:
  static constexpr void choose_all(schedule& s, std::span<const kernel_family> families, target_facts facts) {
    const plan_view plan = view_of(s.plan);
    s.plan.choices.reserve(plan.recipes.size());
    for (std::size_t r = 0; r < plan.recipes.size() && s.is_right(); ++r)
      choose(s, kernel_spec(plan, r), families, facts, r);
    s.plan.choices.resize(plan.recipes.size() + plan.stages.size());
    for (std::size_t r = 0; r < plan.recipes.size() && s.is_right(); ++r)
      for (std::size_t i = 0; i + 1 < plan.stages_of(plan.recipes[r]); ++i) {
        const std::size_t n = plan.number_of_stage(r, i);
        s.plan.choices[n] = choice_of_stage(kernel_spec(plan, n), families, s.plan.choices[r].number, facts);
      }
  }

  // For a stage that comes before the last: what the family of the kernel says of it.
  static constexpr kernel_choice choice_of_stage(const kernel_spec& spec, std::span<const kernel_family> families,
                                                 std::uint16_t number, target_facts facts) {
    kernel_choice c;
    if (const kernel_match match = families[number].stage(spec, facts)) c = *match;
    c.family = families[number].name;
    c.number = number;
    return c;
  }

  static constexpr void choose(schedule& s, const kernel_spec& spec, std::span<const kernel_family> families,
                               target_facts facts, std::size_t number) {
    kernel_choice best;
    bool found = false;
    const auto first = static_cast<std::uint32_t>(s.plan.alternatives.size());
    for (std::size_t f = 0; f < families.size(); ++f) {
      if (!families[f].is_asked(spec, facts)) continue;
      kernel_match match = families[f].match(spec, facts);
      if (match && !is_cost(match->cost.cycles)) {
        s.g.error = text("family '") << families[f].name << "': what it expects to take for "
                                     << subject_of(s.plan, number) << " is not 0 or more cycles";
        return;
      }
      if (match) match.set_time(facts);
      if (match && (!found || match->cost.cycles < best.cost.cycles)) {
        if (found) s.plan.alternatives.push_back({best.family, true, best.cost, best.reason});
        best = *match;
        best.family = families[f].name;
        best.number = static_cast<std::uint16_t>(f);
        found = true;
      } else {
        s.plan.alternatives.push_back({families[f].name, static_cast<bool>(match), match->cost, match.reason()});
      }
    }
    best.alternatives = {first, static_cast<std::uint32_t>(s.plan.alternatives.size()) - first};
    if (found) s.plan.choices.push_back(best);
    else s.g.error = missing(s.plan, number, best.alternatives);
  }

  // A number that can be compared with others and printed.
  static constexpr bool is_cost(double cycles) { return cycles >= 0 && cycles <= std::numeric_limits<double>::max(); }

  static constexpr text missing(const plan_draft& plan, std::size_t number, slice_of asked) {
    return said(text("no family of kernels carries out ") << subject_of(plan, number), plan, asked);
  }
  // What a recipe carries out, and one step that it does it in.
  static constexpr text subject_of(const plan_draft& plan, std::size_t number) {
    const operator_tag& anchor = plan.recipes[number].anchor;
    text t(anchor.id == operator_id::none ? "element-wise operators" : anchor.name);
    for (const vector<step>* steps : {&plan.steps, &plan.setup_steps})
      for (const step& s : *steps)
        if (s.kernel == number && s.name.count != 0) {
          if (const std::string_view called = plan.text_of(s.name); called != anchor.name) t << " '" << called << "'";
          return t;
        }
    return t;
  }
  static constexpr text said(text t, const plan_draft& plan, slice_of asked) {
    if (asked.count == 0) return t << ": the list has none for it";
    for (std::uint32_t i = 0; i < asked.count; ++i) {
      const kernel_alternative& a = plan.alternatives[asked.first + i];
      t << (i == 0 ? ": " : "; ") << a.family << ": " << a.reason;
    }
    return t;
  }
};

}  // namespace dnnkit::passes
