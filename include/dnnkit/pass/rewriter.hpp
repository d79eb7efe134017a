// SPDX-License-Identifier: MIT
// Rewriting a graph by rules, to a fixed point. A sweep finds where rules apply, takes of these places those that save
// most, as long as they do not overlap, and builds the graph anew. (DNNFusion, section 3.4.2: greedily, by what is
// saved.) Where no place saves anything, a beam search looks behind places that do not.
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
    for (int sweep = 0; sweep < most_sweeps; ++sweep) {
      const vector<rules_at> rules = rules_for(g);
      if (rules.empty()) return g;
      const graph_facts facts(g);
      vector<sideways> others;
      const vector<rule_place> places = find_places(facts, g, rules, nullptr, others);
      if (!places.empty()) g = rewritten(facts, choose(facts, places), notes);
      else if (search_ == search_by::greed || !search(g, static_cast<vector<sideways>&&>(others), notes)) return g;
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
  struct made_nodes {  // of a rebuilt graph: the numbers of the first and of the one behind the last
    std::size_t first = 0, last = 0;
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
  // `g`, which the facts are of, has room for trials, and is as it was afterwards. Unless `among` is null, only
  // places that may not have been there before (nodes_near).
  static constexpr vector<rule_place> find_places(const graph_facts& facts, graph& g, const vector<rules_at>& rules,
                                                  const vector<std::uint8_t>* among, vector<sideways>& others) {
    vector<rule_place> places;
    const vector<std::uint64_t> near = bits_below(g, 2), below = bits_below(g, pattern_depth);
    matcher m(facts);
    for (std::size_t k = 0; k < g.nodes.count; ++k) {
      const node n = g.nodes.items[k];
      if (facts.alive.items[k] == 0 || facts.is_setup(n.output)) continue;
      if (among != nullptr && among->items[k] == 0) continue;
      std::size_t list = 0;
      while (list < rules.count && rules.items[list].op->id != n.op->id) ++list;
      if (list == rules.count) continue;
      const dtype type = g.at(n.output).type.type;
      rule_place best;
      for (const rule* r : rules.items[list].rules)
        if ((r->near & ~near.items[k]) == 0 && (r->operators & ~below.items[k]) == 0 && has_laws(*r, type))
          try_rule(m, facts, g, *r, n, among, best, others);
      if (best.saving() > 0) places.push_back(static_cast<rule_place&&>(best));
    }
    return places;
  }
  static constexpr int pattern_depth = 7;
  // The operators of each node and of what it is computed of, so many levels; a chain is one.
  static constexpr vector<std::uint64_t> bits_below(const graph& g, int depth) {
    vector<std::uint64_t> bits(g.nodes.count, 0);
    for (std::size_t k = 0; k < g.nodes.count; ++k) bits.items[k] = bit_of(*g.nodes.items[k].op);
    for (int level = 1; level < depth; ++level) {
      for (std::size_t k = g.nodes.count; k-- > 0;) add_bits_of_inputs(g, bits, k, false);
      for (std::size_t k = 0; k < g.nodes.count; ++k) add_bits_of_inputs(g, bits, k, true);
    }
    return bits;
  }
  static constexpr void add_bits_of_inputs(const graph& g, vector<std::uint64_t>& bits, std::size_t k, bool of_chain) {
    const node& n = g.nodes.items[k];
    if (of_chain && !dnnkit::has(n.op->properties.laws, algebra::associative)) return;
    for (std::uint32_t i = n.inputs.first; i < n.inputs.first + n.inputs.count; ++i)
      if (const value_id v = g.operands.items[i]; v != none)
        if (const node_id p = g.values.items[v].producer; p != none)
          if (!of_chain || g.nodes.items[p].op->id == n.op->id) bits.items[k] |= bits.items[p];
  }

  static constexpr void try_rule(matcher& m, const graph_facts& facts, graph& g, const rule& r, const node& n,
                                 const vector<std::uint8_t>* among, rule_place& best, vector<sideways>& others) {
    const vector<match>& all = m.find(r, n);
    for (std::size_t i = 0; i < all.count; ++i) {
      const match& found = all.items[i];
      if (among != nullptr && !has_changed(found, *among)) continue;
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

  // `made`, unless it is null, gets the numbers of the first node that came and of the one behind the last, of the last
  // place in the order of the graph.
  static constexpr graph rewritten(const graph_facts& facts, const vector<const rule_place*>& chosen,
                                   plan::decision_notes notes, made_nodes* made = nullptr) {
    const graph& g = facts.g;
    vector<std::int32_t> place_of(g.nodes.count, none);
    for (std::size_t i = 0; i < chosen.count; ++i)
      place_of.items[chosen.items[i]->found.nodes.items[0]] = static_cast<std::int32_t>(i);
    vector<std::uint8_t> stays = facts.alive;
    for (const rule_place* p : chosen)
      for (std::size_t i = 1; i < p->gone.count; ++i) stays.items[p->gone.items[i]] = 0;
    value_id result = none;
    return rebuild(
        g, stays,
        [&](builder& b, const node& n, const rebuilt_inputs& inputs) {
          const std::int32_t i = place_of.items[facts.number_of(n)];
          if (i == none) return tensor{};
          const rule_place& p = *chosen.items[i];
          replacement r(b.value(), *p.r, p.found, n);
          result = r.build([&](value_id v) { return inputs.image_of(v).id(); });
          return tensor{&b, result};
        },
        [&](const node& n, const graph& now, std::size_t first) {
          const rule_place& p = *chosen.items[place_of.items[facts.number_of(n)]];
          if (made != nullptr) *made = {first, now.nodes.count};
          note(notes, p, g, n, now, first, result);
        });
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
        for (const sideways& step : cheapest(from.others)) next.push_back(behind(from, step));
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
  constexpr state behind(state& from, const sideways& step) const {
    state s{{}, from.debt + step.debt, 0, from.path, {}};
    s.path.push_back(step);
    made_nodes made;
    const graph_facts before(from.g);
    const rule_place p = place_of(before, from.g, step);
    s.g = rewritten(before, {&p}, {}, &made);
    const graph_facts facts(s.g);
    const vector<std::uint8_t> marks = nodes_near(facts, made);
    const vector<rule_place> places = find_places(facts, s.g, rules_for(s.g), &marks, s.others);
    for (const rule_place* found : choose(facts, places)) s.gain += found->saving();
    return s;
  }
  constexpr void go_along(graph& g, const vector<sideways>& path, plan::decision_notes notes) const {
    made_nodes made;
    for (const sideways& step : path) {
      const graph_facts facts(g);
      const rule_place p = place_of(facts, g, step);
      g = rewritten(facts, {&p}, notes, &made);
    }
    const graph_facts facts(g);
    const vector<std::uint8_t> marks = nodes_near(facts, made);
    vector<sideways> others;
    const vector<rule_place> places = find_places(facts, g, rules_for(g), &marks, others);
    g = rewritten(facts, choose(facts, places), notes);
  }
  static constexpr rule_place place_of(const graph_facts& facts, graph& g, const sideways& step) {
    const node n = g.node_at(step.root);
    matcher m(facts);
    return rule_place(facts, g, *step.r, m.find(*step.r, n).items[step.which], n);
  }
  // Where rules may apply that did not before, of the nodes' marks: `changed` are those that are new, and those that
  // read what a new one reads, which may have lost a reader; any place that was not there before has one of them.
  // `near`: computed of these, within the depth of a pattern, so that such a place may have its root there.
  static constexpr std::uint8_t near = 1, changed = 2;
  static constexpr vector<std::uint8_t> nodes_near(const graph_facts& facts, made_nodes made) {
    const graph& g = facts.g;
    vector<std::uint8_t> levels(g.values.count, 0), marks(g.nodes.count, 0);  // of values: levels that are left
    const auto for_each_operand = [&](std::size_t k, auto visit) {
      for (std::size_t i = 0; i < g.nodes.items[k].inputs.count; ++i)
        if (const value_id v = g.input_of(g.nodes.items[k], i); v != none && !facts.is_setup(v)) visit(v);
    };
    for (std::size_t k = made.first; k < made.last; ++k)
      for_each_operand(k, [&](value_id v) { levels.items[v] = pattern_depth; });
    for (std::size_t k = 0; k < g.nodes.count; ++k) {
      std::uint8_t& left = levels.items[g.nodes.items[k].output];
      for_each_operand(k, [&](value_id v) {
        const std::uint8_t from = levels.items[v];
        if (from == 0) return;
        const std::uint8_t mark = from == pattern_depth ? changed : near;
        if (mark > marks.items[k]) marks.items[k] = mark;
        if (from - 1 > left) left = static_cast<std::uint8_t>(from - 1);
      });
    }
    return marks;
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
