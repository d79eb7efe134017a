// SPDX-License-Identifier: MIT
// Why rules of the user's own were not applied, for the log.
#pragma once

#include <cstddef>
#include <string_view>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/pass/decision_log.hpp"
#include "dnnkit/pass/rule_place.hpp"
#include "dnnkit/rewrite/facts.hpp"
#include "dnnkit/rewrite/matcher.hpp"
#include "dnnkit/rewrite/print.hpp"
#include "dnnkit/rewrite/rule.hpp"

namespace dnnkit::rewrite {

class unapplied_rules {
 public:
  // `pass`: whose decisions they are. What has been decided so far is not about these rules.
  constexpr unapplied_rules(std::string_view pass, plan::decision_notes notes)
      : pass_(pass), notes_(notes), first_(notes.wanted() ? notes.log().decisions.count : 0) {}

  // Of those rules that are none of `librarys`: where their left sides are found in the graph as it has become, and why
  // nothing was done there; of one that was neither found there nor applied before, that. `g` has room for trials.
  constexpr void note(const graph& begun, graph& g, const rule_list& rules, const rule_list& librarys,
                      licence_limit allowed) const {
    rules.for_each([&](const rule& r) {
      if (librarys.has(r)) return;
      if (!allowed.allows(r.allowed)) {
        note("not allowed", "its licence is not allowed", r);
        return;
      }
      const std::size_t found = note_places(r, g);
      if (found == 0 && !is_applied(r)) note("not found", why_nowhere(r, begun), r);
    });
  }

 private:
  constexpr void note(std::string_view verdict, std::string_view reason, const rule& r) const {
    notes_.add_unapplied({.pass = pass_, .verdict = verdict, .reason = reason, .applied = false},
                         print_with_licence(r));
  }
  constexpr bool is_applied(const rule& r) const {
    const plan::decision_log& log = notes_.log();
    for (std::size_t i = first_; i < log.decisions.count; ++i) {
      const slice_of by = log.decisions.items[i].by;
      if (log.decisions.items[i].applied &&
          std::string_view(log.characters.items + by.first, by.count) == print_with_licence(r).view())
        return true;
    }
    return false;
  }
  // How often the rule's left side is in the graph.
  constexpr std::size_t note_places(const rule& r, graph& g) const {
    const graph_facts facts(g);
    matcher m(facts);
    std::size_t places = 0;
    for (std::size_t k = 0; k < g.nodes.count; ++k) {
      const node n = g.nodes.items[k];
      if (facts.alive.items[k] == 0 || facts.is_setup(n.output) || !may_be_root(r, *n.op)) continue;
      const vector<match>& all = m.find(r, n);
      if (all.empty()) continue;
      ++places;
      plan::decision d{
          .pass = pass_, .verdict = "not rewritten", .reason = "its condition does not hold", .applied = false};
      vector<plan::compared_cost> compared;
      for (const match& found : all) {
        if (!r.needs.holds(found.bound, r.needs.first, r.needs.second)) continue;
        const rule_place p(facts, g, r, found, n);
        if (!p.fits) {
          if (compared.empty()) d.reason = "the right side would have another shape or element type";
          continue;
        }
        if (!has_laws(r, g.at(n.output).type.type)) {
          d.reason = "rules other than those of idempotence are about floats and truth values";
          continue;
        }
        d.reason = "it saves nothing";
        compared = {{"before", "work", p.before}, {"behind", "work", p.after}};
      }
      notes_.add_unapplied(d, g, n, print_with_licence(r), compared);
    }
    return places;
  }
  static constexpr std::string_view why_nowhere(const rule& r, graph g) {
    const graph_facts facts(g);
    matcher m(facts);
    if (is_anywhere(m, facts, r, g)) return "another rule was applied where its left side was";
    m.ignore_attributes();
    if (is_anywhere(m, facts, r, g)) return "its left side is in the graph with other attributes only";
    return "its left side is not in the graph";
  }
  static constexpr bool is_anywhere(matcher& m, const graph_facts& facts, const rule& r, const graph& g) {
    for (std::size_t k = 0; k < g.nodes.count; ++k) {
      const node& n = g.nodes.items[k];
      if (facts.alive.items[k] != 0 && !facts.is_setup(n.output) && may_be_root(r, *n.op) && !m.find(r, n).empty())
        return true;
    }
    return false;
  }

  std::string_view pass_;
  plan::decision_notes notes_;
  std::size_t first_;  // of the log's decisions, that may be about rules
};

}  // namespace dnnkit::rewrite
