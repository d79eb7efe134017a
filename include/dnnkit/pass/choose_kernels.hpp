// SPDX-License-Identifier: MIT
// Pass: which family of kernels carries out each recipe of the plan. Families are asked in order; the one that expects
// to take least time is chosen, of equals the first, and what the others said is kept beside it. Without families to
// ask, as where only the plan executor runs the plan, nothing is chosen; nor for a target of which no facts are known,
// whose kernels are made in another way.
//
// Of families of which a table says what their kernels were measured to take (cost/tuned.hpp), the one that took least
// is chosen, with the genes that the table asks for; one that was not measured, only where it expects to take less than
// each of those expected. What a table says of a family that is not asked, or asks for and the family has not, is not
// believed, which the log says: tables outlive lists of families, and the limits of their kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "dnnkit/pass/schedule.hpp"
#include "dnnkit/plan/kernel_family.hpp"
#include "dnnkit/plan/kernel_key.hpp"
#include "dnnkit/plan/kernel_spec.hpp"

namespace dnnkit::detail {

// What a table says of one kernel.
class tuned_choices {
 public:
  constexpr tuned_choices(tuned_table all, const kernel_spec& spec, target_facts facts)
      : found_(all.empty() || !facts.are<cpu_facts>() ? tuned_table()
                                                      : find(all, key_of(spec, facts.as<cpu_facts>()))) {}

  constexpr bool empty() const { return found_.empty(); }
  constexpr tuned_table entries() const { return found_; }
  // Of a family: one entry, or none.
  constexpr tuned_table of(std::string_view family) const {
    std::size_t i = 0;
    while (i < found_.size() && found_[i].family != family) ++i;
    return found_.subspan(i, i < found_.size() ? 1 : 0);
  }

  // What a family says of the kernel with the genes that an entry asks for; no match where it has not all of them.
  static constexpr kernel_match asked(const kernel_family& family, const tuned_kernel& entry, const kernel_spec& spec,
                                      target_facts facts) {
    const kernel_spec wanted = spec.with(entry.genes);
    kernel_match match = family.match(wanted, facts);
    if (!match) return match;
    const std::size_t last = spec.stages() - 1;
    for (std::size_t i = 0; i < last; ++i)
      if (const kernel_match of_stage = family.stage(wanted.stage(i), facts);
          !grants(of_stage ? of_stage->genes : kernel_genes{}, entry.genes[i]))
        return no_match{"a stage cannot have what the table asks for"};
    if (!grants(match->genes, entry.genes[last])) return no_match{"the kernel cannot have what the table asks for"};
    match.set_measured(entry.microseconds);
    return match;
  }

 private:
  tuned_table found_;
};

// Where a match stands among others: the lowest is chosen.
struct standing {
  enum class place : std::uint8_t { forced, promising, measured, expected } at = place::expected;
  double time = 0;

  friend constexpr bool operator<(const standing& a, const standing& b) {
    return a.at != b.at ? a.at < b.at : a.time < b.time;
  }
};

}  // namespace dnnkit::detail

namespace dnnkit::passes {

struct choose_kernels {
  static constexpr std::string_view name = "choose kernels";
  static constexpr std::string_view needed = "a plan without kernels cannot run";

  template <class Target> static constexpr void run(schedule& s) {
    if constexpr (requires { Target::facts; })
      if (s.families) choose_all(s, s.families, Target::facts);
  }

 private:
  using families_asked = std::span<const kernel_family>;

  static constexpr void choose_all(schedule& s, const family_table& families, target_facts facts) {
    s.g.error = fault_of(families.tuned());
    const plan_view plan = view_of(s.plan);
    const double weights = bytes_of_weights(plan);
    s.plan.choices.reserve(plan.recipes.size());
    vector<tuned_table> entries;
    for (std::size_t r = 0; r < plan.recipes.size() && s.is_right(); ++r)
      entries.push_back(choose(s, kernel_spec(plan, r).in_network_of(weights), families, facts, r));
    s.plan.choices.resize(plan.recipes.size() + plan.stages.size());
    for (std::size_t r = 0; r < plan.recipes.size() && s.is_right(); ++r) {
      kernel_spec whole = kernel_spec(plan, r).in_network_of(weights);
      if (!entries[r].empty()) whole = whole.with(entries[r][0].genes);
      for (std::size_t i = 0; i + 1 < plan.stages_of(plan.recipes[r]); ++i)
        s.plan.choices[plan.number_of_stage(r, i)] =
            choice_of_stage(whole.stage(i), *families, s.plan.choices[r].number, facts);
    }
  }

  static constexpr double bytes_of_weights(const plan_view& plan) {
    double bytes = 0;
    for (const plan::buffer& b : plan.buffers)
      if (b.where == plan::storage::weight && b.elements.is_known())
        bytes += static_cast<double>(b.elements.value()) * static_cast<double>(size_of(b.type.type));
    return bytes;
  }

  // For a stage that comes before the last: what the family of the kernel says of it.
  static constexpr kernel_choice choice_of_stage(const kernel_spec& spec, families_asked families, std::uint16_t number,
                                                 target_facts facts) {
    kernel_choice c;
    if (const kernel_match match = families[number].stage(spec, facts)) c = *match;
    c.family = families[number].name;
    c.number = number;
    return c;
  }

  // Returns what the table says of the kernel that is chosen: one entry, or none.
  static constexpr tuned_table choose(schedule& s, const kernel_spec& spec, const family_table& table,
                                      target_facts facts, std::size_t number) {
    const families_asked families = *table;
    const detail::tuned_choices tuned(table.tuned(), spec, facts);
    const double least = tuned.empty() ? 0 : least_expected(tuned, spec, families, facts);
    kernel_choice best;
    detail::standing of_best;
    tuned_table entry_of_best;
    bool found = false;
    const auto first = static_cast<std::uint32_t>(s.plan.alternatives.size());
    for (std::size_t f = 0; f < families.size(); ++f) {
      if (!families[f].is_asked(spec, facts)) continue;
      tuned_table entry = tuned.of(families[f].name);
      kernel_match match;
      if (!entry.empty()) {
        match = detail::tuned_choices::asked(families[f], entry[0], spec, facts);
        if (!match) {
          disbelieve(s, entry[0], number, match.reason());
          entry = {};
        }
      }
      if (entry.empty()) match = families[f].match(spec, facts);
      if (match && !is_cost(match->cost.cycles)) {
        s.g.error = text("family '") << families[f].name << "': what it expects to take for "
                                     << subject_of(s.plan, number) << " is not 0 or more cycles";
        return {};
      }
      if (match) match.set_time(facts);
      const detail::standing here = match ? standing_of(*match, entry, least) : detail::standing{};
      if (match && (!found || here < of_best)) {
        if (found) s.plan.alternatives.push_back({best.family, true, best.cost, best.reason});
        best = *match;
        best.family = families[f].name;
        best.number = static_cast<std::uint16_t>(f);
        of_best = here;
        entry_of_best = entry;
        found = true;
      } else {
        s.plan.alternatives.push_back({families[f].name, static_cast<bool>(match), match->cost, match.reason()});
      }
    }
    best.alternatives = {first, static_cast<std::uint32_t>(s.plan.alternatives.size()) - first};
    for (const tuned_kernel& entry : tuned.entries())
      if (!is_among(entry.family, s.plan, best)) disbelieve(s, entry, number, "the family is not asked about it");
    if (found) s.plan.choices.push_back(best);
    else s.g.error = missing(s.plan, number, best.alternatives);
    return entry_of_best;
  }

  // Of the families that were measured, the fewest cycles that one expects to take.
  static constexpr double least_expected(const detail::tuned_choices& tuned, const kernel_spec& spec,
                                         families_asked families, target_facts facts) {
    double least = std::numeric_limits<double>::max();
    for (const kernel_family& family : families) {
      const tuned_table entry = tuned.of(family.name);
      if (entry.empty() || !family.is_asked(spec, facts)) continue;
      if (const kernel_match match = detail::tuned_choices::asked(family, entry[0], spec, facts);
          match && match->cost.cycles < least)
        least = match->cost.cycles;
    }
    return least == std::numeric_limits<double>::max() ? 0 : least;
  }
  static constexpr detail::standing standing_of(const kernel_choice& c, tuned_table entry, double least) {
    using place = detail::standing::place;
    if (entry.empty()) return {c.cost.cycles < least ? place::promising : place::expected, c.cost.cycles};
    if (entry[0].is_forced()) return {place::forced, c.cost.cycles};
    return {place::measured, entry[0].microseconds};
  }
  static constexpr bool is_among(std::string_view family, const plan_draft& plan, const kernel_choice& chosen) {
    if (chosen.family == family) return true;
    for (std::uint32_t i = 0; i < chosen.alternatives.count; ++i)
      if (plan.alternatives[chosen.alternatives.first + i].family == family) return true;
    return false;
  }
  static constexpr void disbelieve(schedule& s, const tuned_kernel& entry, std::size_t number,
                                   std::string_view reason) {
    if (!s.logged) return;
    const text about = subject_of(s.plan, number) << " by " << entry.family;
    s.notes().add_about({name, "not believed what the table says of", reason}, about.view());
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
