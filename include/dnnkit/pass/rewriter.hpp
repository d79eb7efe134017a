// SPDX-License-Identifier: MIT
// Rewriting a graph by rules, to a fixed point. A sweep finds where rules apply, takes of these places those that save
// most, as long as they do not overlap, and builds the graph anew. (DNNFusion, section 3.4.2: greedily, by what is
// saved.) Sweeps behind the first look where the one before has changed something. Where no place saves anything, a
// beam search looks behind places that do not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dnnkit/core/sort.hpp"
#include "dnnkit/core/vector.hpp"
#include "dnnkit/graph/rebuild.hpp"
#include "dnnkit/pass/decision_log.hpp"
#include "dnnkit/pass/rule_place.hpp"
#include "dnnkit/rewrite/facts.hpp"
#include "dnnkit/rewrite/matcher.hpp"
#include "dnnkit/rewrite/print.hpp"
#include "dnnkit/rewrite/replacement.hpp"
#include "dnnkit/rewrite/rule.hpp"
#include "dnnkit/rewrite/work.hpp"

namespace dnnkit::rewrite {

// How far it looks: to places that save something alone, or, where there are none, behind others, too.
enum class search_by : std::uint8_t { greed, beam };

class rewriter {
 public:
  constexpr rewriter(const rule_list& rules, licence_limit allowed, search_by search = search_by::beam)
      : search_(search) {
    rules.for_each([&](const rule& r) {
      if (allowed.allows(r.allowed)) rules_.push_back(&r);
    });
  }

  constexpr graph run(graph g, plan::decision_notes notes) {
    changes since;
    vector<sideways> others;
    bool all = true;
    for (int sweep = 0; sweep < most_sweeps; ++sweep) {
      const vector<rules_at> rules = rules_for(g);
      if (rules.empty()) return g;
      const graph_facts facts(g);
      vector<rule_place> places;
      if (all) {
        others.clear();
        places = find_places(facts, g, rules, {}, others);
      } else {
        const vector<std::uint8_t> marks = nodes_near(facts, since);
        others = carried(others, since, marks);
        places = find_places(facts, g, rules, {&marks, false}, others);
        merge_sort(others, [](const sideways& a, const sideways& b) { return a.root < b.root; });
      }
      all = places.empty();
      if (!all) {
        const vector<const rule_place*> chosen = choose(facts, places);
        since = {};
        graph next = rewritten(facts, chosen, notes, &since);
        for (const rule_place& p : places) since.add_root(p.found.nodes.items[0]);
        g = static_cast<graph&&>(next);
      } else if (search_ == search_by::greed || !search(g, static_cast<vector<sideways>&&>(others), notes)) {
        return g;
      }
    }
    return g;
  }

 private:
  static constexpr int most_sweeps = 64;

  // A place that saves nothing, or whose rewriting makes the graph dearer: match number `which` of the rule and node.
  struct sideways {
    const rule* r = nullptr;
    node_id root = none;
    std::size_t which = 0;
    double debt = 0;
  };
  // What a rewriting leaves of a graph: of nodes of the one before, their numbers now; of the one now, the nodes that
  // came, from the first to the one behind the last of each place, values whose readers see something else, and nodes
  // that were the root of a place.
  struct changes {
    struct range {
      std::size_t first = 0, last = 0;
    };
    vector<node_id> now;
    vector<range> made;
    vector<value_id> values;
    vector<node_id> roots;
    constexpr void add_root(node_id before) {
      if (now.items[before] != none) roots.push_back(now.items[before]);
    }
  };
  // Where to look: at roots that are marked, and at places that may not have been there before, or at all (nodes_near).
  struct looked_at {
    const vector<std::uint8_t>* marks = nullptr;
    bool changed_alone = false;
  };
  // The rules of which an operator of the graph may be the root.
  struct rules_at {
    const op_info* op = nullptr;
    vector<const rule*> rules;
  };

  // By operator, as far as the graph has all that they are made of.
  constexpr vector<rules_at> rules_for(const graph& g) const {
    vector<rules_at> lists;
    std::uint64_t all = 0;
    for (std::size_t k = 0; k < g.nodes.count; ++k) {
      const op_info* const op = g.nodes.items[k].op;
      if ((all & bit_of(*op)) == 0 || !has_list(lists, *op)) lists.push_back({op, {}});
      all |= bit_of(*op);
    }
    vector<rules_at> used;
    for (rules_at& list : lists) {
      for (std::size_t i = 0; i < rules_.count; ++i)
        if (const rule* const r = rules_.items[i]; (r->operators & ~all) == 0 && may_be_root(*r, *list.op))
          list.rules.push_back(r);
      if (!list.rules.empty()) used.push_back(static_cast<rules_at&&>(list));
    }
    return used;
  }
  static constexpr bool has_list(const vector<rules_at>& lists, const op_info& op) {
    for (std::size_t i = 0; i < lists.count; ++i)
      if (lists.items[i].op->id == op.id) return true;
    return false;
  }
  // `g`, which the facts are of, has room for trials, and is as it was afterwards.
  static constexpr vector<rule_place> find_places(const graph_facts& facts, graph& g, const vector<rules_at>& rules,
                                                  looked_at where, vector<sideways>& others) {
    vector<rule_place> places;
    matcher m(facts);
    for (std::size_t k = 0; k < g.nodes.count; ++k) {
      const node n = g.nodes.items[k];
      if (facts.alive.items[k] == 0 || facts.is_setup(n.output)) continue;
      if (where.marks != nullptr && where.marks->items[k] == 0) continue;
      std::size_t list = 0;
      while (list < rules.count && rules.items[list].op->id != n.op->id) ++list;
      if (list == rules.count) continue;
      const dtype type = g.at(n.output).type.type;
      const std::uint64_t nearby = bits_near(facts, n);
      rule_place best;
      for (const rule* r : rules.items[list].rules)
        if ((r->near & ~nearby) == 0 && has_laws(*r, type)) try_rule(m, facts, g, *r, n, where, best, others);
      if (best.saving() > 0) places.push_back(static_cast<rule_place&&>(best));
    }
    return places;
  }
  // The operators of a node and of what computes its operands; a chain, as matchers see it, is one.
  static constexpr std::uint64_t bits_near(const graph_facts& facts, const node& n) {
    const graph& g = facts.g;
    std::uint64_t bits = bit_of(*n.op);
    const bool is_chain = dnnkit::has(n.op->properties.laws, algebra::associative);
    for (std::uint32_t i = n.inputs.first; i < n.inputs.first + n.inputs.count; ++i)
      if (const value_id v = g.operands.items[i]; v != none)
        if (const node_id p = g.values.items[v].producer; p != none) {
          const node& inner = g.nodes.items[p];
          const bool goes_on = is_chain && inner.op->id == n.op->id && facts.has_one_reader(v);
          bits |= goes_on ? bits_near(facts, inner) : bit_of(*inner.op);
        }
    return bits;
  }

  static constexpr void try_rule(matcher& m, const graph_facts& facts, graph& g, const rule& r, const node& n,
                                 looked_at where, rule_place& best, vector<sideways>& others) {
    const vector<match>& all = m.find(r, n);
    for (std::size_t i = 0; i < all.count; ++i) {
      const match& found = all.items[i];
      if (where.changed_alone && !has_changed(found, *where.marks)) continue;
      if (!r.needs.holds(found.bound, r.needs.first, r.needs.second)) continue;
      rule_place p(facts, g, r, found, n);
      if (!p.fits) continue;
      if (p.saving() > best.saving()) best = static_cast<rule_place&&>(p);
      else if (p.saving() <= 0) others.push_back({&r, facts.g.at(n.output).producer, i, -p.saving()});
    }
  }

  // The best first, each of operators that none before it has.
  static constexpr vector<const rule_place*> choose(const graph_facts& facts, const vector<rule_place>& places) {
    vector<const rule_place*> chosen;
    vector<std::uint8_t> taken(facts.g.nodes.count, 0);
    while (true) {
      const rule_place* best = nullptr;
      for (const rule_place& p : places)
        if (is_free(taken, p) && (best == nullptr || p.saving() > best->saving())) best = &p;
      if (best == nullptr) return chosen;
      for (const node_id k : best->found.nodes) taken.items[k] = 1;
      chosen.push_back(best);
    }
  }
  static constexpr bool is_free(const vector<std::uint8_t>& taken, const rule_place& p) {
    for (const node_id k : p.found.nodes)
      if (taken.items[k] != 0) return false;
    return true;
  }

  // `since`, unless it is null, gets what has changed.
  static constexpr graph rewritten(const graph_facts& facts, const vector<const rule_place*>& chosen,
                                   plan::decision_notes notes, changes* since = nullptr) {
    const graph& g = facts.g;
    vector<std::int32_t> place_of(g.nodes.count, none);
    for (std::size_t i = 0; i < chosen.count; ++i)
      place_of.items[chosen.items[i]->found.nodes.items[0]] = static_cast<std::int32_t>(i);
    vector<std::uint8_t> stays = facts.alive;
    for (const rule_place* p : chosen)
      for (std::size_t i = 1; i < p->gone.count; ++i) stays.items[p->gone.items[i]] = 0;
    if (since != nullptr) since->now.resize(g.nodes.count, none);
    value_id result = none;
    graph now = rebuild(
        g, stays,
        [&](builder& b, const node& n, const rebuilt_inputs& inputs) {
          const node_id number = facts.number_of(n);
          const std::int32_t i = place_of.items[number];
          if (i == none) {
            if (since != nullptr) since->now.items[number] = static_cast<node_id>(b.value().nodes.count);
            return tensor{};
          }
          const rule_place& p = *chosen.items[i];
          replacement r(b.value(), *p.r, p.found, n);
          result = r.build([&](value_id v) { return inputs.image_of(v).id(); });
          return tensor{&b, result};
        },
        [&](const node& n, const graph& made, std::size_t first) {
          const rule_place& p = *chosen.items[place_of.items[facts.number_of(n)]];
          if (since != nullptr) {
            since->made.push_back({first, made.nodes.count});
            since->values.push_back(result);
          }
          note(notes, p, g, n, made, first, result);
        });
    if (since != nullptr) add_lost_readers(g, now, *since);
    return now;
  }
  // What nodes that are gone read: it has a reader less.
  static constexpr void add_lost_readers(const graph& g, const graph& now, changes& since) {
    for (std::size_t k = 0; k < g.nodes.count; ++k) {
      if (since.now.items[k] != none) continue;
      for (std::size_t i = 0; i < g.nodes.items[k].inputs.count; ++i)
        if (const value_id v = g.input_of(g.nodes.items[k], i); v != none && g.at(v).producer != none)
          if (const node_id p = since.now.items[g.at(v).producer]; p != none)
            since.values.push_back(now.nodes.items[p].output);
    }
  }

  // --- where no place saves anything

  // A graph on the way, with what it costs more than the one that the search began with.
  struct state {
    graph g;
    double debt = 0, gain = 0;  // gain: what the places save that are found in it now
    vector<sideways> path;      // what led to it, each in the graph before
    vector<sideways> others;    // what may be next
    constexpr double owed() const { return debt - gain; }
  };
  // Graphs that are kept at each level, places that are tried of each, and levels.
  static constexpr std::size_t beam_width = 4, most_tried = 4;
  static constexpr int most_sideways = 3;

  // Goes along places that save nothing, at most most_sideways of them, the cheapest first, until what is found behind
  // them saves more than they cost; then takes both. So the measure falls with every call that finds something. False
  // when nothing was found, and g is as it was.
  constexpr bool search(graph& g, vector<sideways>&& others, plan::decision_notes notes) const {
    if (others.empty()) return false;
    vector<state> beam;
    beam.push_back({g, 0, 0, {}, static_cast<vector<sideways>&&>(others)});
    for (int level = 0; level < most_sideways; ++level) {
      vector<state> next;
      for (state& from : beam)
        if (const vector<sideways> steps = cheapest(from.others); !steps.empty()) {
          const graph_facts before(from.g);
          for (const sideways& step : steps) next.push_back(behind(from, before, step));
        }
      merge_sort(next, [](const state& a, const state& b) { return a.owed() < b.owed(); });
      if (next.empty()) return false;
      if (next[0].owed() < 0) {
        go_along(g, next[0].path, notes);
        return true;
      }
      if (next.count > beam_width) next.resize(beam_width);
      beam = static_cast<vector<state>&&>(next);
    }
    return false;
  }
  // Those of least debt, of several that look alike, as in layers that are repeated, one.
  static constexpr vector<sideways> cheapest(vector<sideways> all) {
    merge_sort(all, [](const sideways& a, const sideways& b) { return a.debt < b.debt; });
    vector<sideways> some;
    for (const sideways& s : all) {
      bool known = false;
      for (const sideways& other : some) known = known || (other.r == s.r && other.debt == s.debt);
      if (!known && some.count < most_tried) some.push_back(s);
    }
    return some;
  }
  // The graph behind one more place, and what can be had there near what has changed.
  constexpr state behind(state& from, const graph_facts& before, const sideways& step) const {
    state s{{}, from.debt + step.debt, 0, from.path, {}};
    s.path.push_back(step);
    changes since;
    const rule_place p = place_of(before, from.g, step);
    s.g = rewritten(before, {&p}, {}, &since);
    const graph_facts facts(s.g);
    const vector<std::uint8_t> marks = nodes_near(facts, since);
    const vector<rule_place> places = find_places(facts, s.g, rules_for(s.g), {&marks, true}, s.others);
    for (const rule_place* found : choose(facts, places)) s.gain += found->saving();
    return s;
  }
  constexpr void go_along(graph& g, const vector<sideways>& path, plan::decision_notes notes) const {
    changes since;
    for (const sideways& step : path) {
      const graph_facts facts(g);
      const rule_place p = place_of(facts, g, step);
      since = {};
      g = rewritten(facts, {&p}, notes, &since);
    }
    const graph_facts facts(g);
    const vector<std::uint8_t> marks = nodes_near(facts, since);
    vector<sideways> others;
    const vector<rule_place> places = find_places(facts, g, rules_for(g), {&marks, true}, others);
    g = rewritten(facts, choose(facts, places), notes);
  }
  static constexpr rule_place place_of(const graph_facts& facts, graph& g, const sideways& step) {
    const node n = g.node_at(step.root);
    matcher m(facts);
    return rule_place(facts, g, *step.r, m.find(*step.r, n).items[step.which], n);
  }
  // Where rules may apply that did not before, of the nodes' marks: `changed` are those that are new, and those that
  // read what a new one reads, or what has lost a reader; any place that was not there before has one of them.
  // `near`: computed of these, within the depth of a pattern, so that such a place may have its root there.
  static constexpr std::uint8_t near = 1, changed = 2, pattern_depth = 7;
  static constexpr vector<std::uint8_t> nodes_near(const graph_facts& facts, const changes& since) {
    const graph& g = facts.g;
    vector<std::uint8_t> levels(g.values.count, 0), marks(g.nodes.count, 0);  // of values: levels that are left
    for (const value_id v : since.values) levels.items[v] = pattern_depth;
    for (const auto& made : since.made)
      for (std::size_t k = made.first; k < made.last; ++k)
        for (std::size_t i = 0; i < g.nodes.items[k].inputs.count; ++i)
          if (const value_id v = g.input_of(g.nodes.items[k], i); v != none && !facts.is_setup(v))
            levels.items[v] = pattern_depth;
    for (std::size_t k = 0; k < g.nodes.count; ++k) {
      const node& n = g.nodes.items[k];
      std::uint8_t from = 0;
      for (std::uint32_t i = n.inputs.first; i < n.inputs.first + n.inputs.count; ++i)
        if (const value_id v = g.operands.items[i]; v != none && levels.items[v] > from) from = levels.items[v];
      if (from == 0) continue;
      marks.items[k] = from == pattern_depth ? changed : near;
      if (from - 1 > levels.items[n.output]) levels.items[n.output] = static_cast<std::uint8_t>(from - 1);
    }
    for (const node_id k : since.roots)
      if (marks.items[k] == 0) marks.items[k] = near;
    return marks;
  }
  // Places that save nothing, by the numbers that their roots have now; not those that are looked for again.
  static constexpr vector<sideways> carried(const vector<sideways>& before, const changes& since,
                                            const vector<std::uint8_t>& marks) {
    vector<sideways> now;
    for (sideways s : before) {
      s.root = since.now.items[s.root];
      if (s.root != none && marks.items[s.root] == 0) now.push_back(s);
    }
    return now;
  }
  static constexpr bool has_changed(const match& m, const vector<std::uint8_t>& marks) {
    for (const node_id k : m.nodes)
      if (marks.items[k] == changed) return true;
    return false;
  }

  static constexpr void note(plan::decision_notes notes, const rule_place& p, const graph& g, const node& n,
                             const graph& now, std::size_t first, value_id result) {
    if (!notes.wanted()) return;
    notes.add_rewriting({.pass = "apply rules", .verdict = "rewritten", .reason = text_of(p.r->from)}, g, n, now, first,
                        result, print_with_licence(*p.r), {{"before", "work", p.before}, {"behind", "work", p.after}});
  }

  vector<const rule*> rules_;
  search_by search_;
};

}  // namespace dnnkit::rewrite
