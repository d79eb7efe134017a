// SPDX-License-Identifier: MIT
// Rewriting a graph by rules, to a fixed point. A sweep finds where rules apply, takes of these places those that save
// most, as long as they do not overlap, and builds the graph anew. (DNNFusion, section 3.4.2: greedily, by what is
// saved.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/graph/rebuild.hpp"
#include "dnnkit/pass/decision_log.hpp"
#include "dnnkit/rewrite/facts.hpp"
#include "dnnkit/rewrite/matcher.hpp"
#include "dnnkit/rewrite/print.hpp"
#include "dnnkit/rewrite/replacement.hpp"
#include "dnnkit/rewrite/rule.hpp"
#include "dnnkit/rewrite/work.hpp"

namespace dnnkit::rewrite {

class rewriter {
 public:
  constexpr rewriter(const rule_list& rules, licence allowed) {
    rules.for_each([&](const rule& r) {
      if (r.allowed.kind <= allowed) rules_.push_back(&r);
    });
  }

  constexpr graph run(graph g, plan::decision_notes notes) {
    for (int sweep = 0; sweep < most_sweeps; ++sweep) {
      const graph_facts facts(g);
      const vector<place> places = find_places(facts);
      if (places.empty()) return g;
      g = without_dead(rewritten(facts, choose(facts, places), notes));
    }
    return g;
  }

 private:
  static constexpr int most_sweeps = 64;

  struct place {
    const rule* r = nullptr;
    match found;
    double before = 0, after = 0;  // work of the operators that go, and of those that come
    constexpr double saving() const { return before - after; }
  };

  constexpr vector<place> find_places(const graph_facts& facts) const {
    vector<place> places;
    std::uint64_t all = 0;
    for (const node& n : facts.g.nodes) all |= bit_of(*n.op);
    vector<const rule*> rules;  // whose operators the graph has
    for (const rule* r : rules_)
      if ((r->operators & ~all) == 0) rules.push_back(r);
    if (rules.empty()) return places;
    const vector<std::uint64_t> below = bits_below(facts.g);
    graph trial = facts.g;
    for (std::size_t k = 0; k < facts.g.nodes.count; ++k) {
      const node& n = facts.g.nodes.items[k];
      if (facts.alive.items[k] == 0 || facts.is_setup(n.output)) continue;
      place best;
      for (const rule* r : rules)
        if ((r->operators & ~below.items[k]) == 0 && may_be_root(*r, facts.g, n)) try_rule(facts, trial, *r, n, best);
      if (best.r != nullptr) places.push_back(best);
    }
    return places;
  }
  // Laws are about real numbers and truth values, those of one operator about any elements.
  static constexpr bool may_be_root(const rule& r, const graph& g, const node& n) {
    const term& t = r.left.root();
    if (t.is == term::what::operation ? t.op->id != n.op->id : n.op->kind != form::elementwise) return false;
    const dtype type = g.at(n.output).type.type;
    return r.from == law::idempotent || type == f32 || type == f64 || type == dtype::boolean;
  }
  // The operators of each node and of what it is computed of, as deep as patterns are; a chain is one level.
  static constexpr vector<std::uint64_t> bits_below(const graph& g) {
    constexpr int depth = 7;
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
    if (of_chain && !has(n.op->properties.laws, algebra::associative)) return;
    for (std::uint32_t i = n.inputs.first; i < n.inputs.first + n.inputs.count; ++i)
      if (const value_id v = g.operands.items[i]; v != none)
        if (const node_id p = g.values.items[v].producer; p != none)
          if (!of_chain || g.nodes.items[p].op->id == n.op->id) bits.items[k] |= bits.items[p];
  }

  constexpr void try_rule(const graph_facts& facts, graph& trial, const rule& r, const node& n, place& best) const {
    matcher m(facts, r);
    for (const match& found : m.find(n)) {
      if (r.needs.holds != nullptr && !r.needs.holds(found.bound, r.needs.first, r.needs.second)) continue;
      place p{&r, found, work_that_goes(facts, trial, found), 0};
      if (!weigh(facts, trial, p, n)) continue;
      if (p.saving() > 0 && (best.r == nullptr || p.saving() > best.saving())) best = p;
    }
  }

  // That of the matched operators that nobody else reads.
  static constexpr double work_that_goes(const graph_facts& facts, graph& trial, const match& m) {
    double work = 0;
    vector<node_id> gone;
    for (std::size_t i = 0; i < m.nodes.count; ++i) {  // readers first
      const node_id k = m.nodes.items[i];
      const node& n = facts.g.node_at(k);
      if (i > 0 && !is_gone(facts, gone, n.output)) continue;
      bool seen = false;
      for (const node_id other : gone) seen = seen || other == k;
      if (seen) continue;
      gone.push_back(k);
      if (!facts.is_setup(n.output)) work += work_of(trial, n);
    }
    return work;
  }
  static constexpr bool is_gone(const graph_facts& facts, const vector<node_id>& gone, value_id v) {
    if (facts.is_output.items[v] != 0) return false;
    for (const node_id reader : facts.users[v]) {
      bool found = facts.alive.items[reader] == 0;
      for (const node_id k : gone) found = found || k == reader;
      if (!found) return false;
    }
    return true;
  }

  // Builds the replacement on trial, behind the graph's own nodes, and takes it off again. Is it of the type that it
  // must have?
  static constexpr bool weigh(const graph_facts& facts, graph& trial, place& p, const node& n) {
    const std::size_t nodes = trial.nodes.count, values = trial.values.count, operands = trial.operands.count,
                      attributes = trial.attributes.count, constants = trial.constants.count,
                      assumptions = trial.symbols.assumptions.count;
    const bool settled = trial.settled;
    const value_id result = replacement(trial, *p.r, p.found, n).build([](value_id v) { return v; });
    bool fits = trial.error.length == 0 && trial.symbols.assumptions.count == assumptions;
    if (fits) {
      fits = trial.at(result).type == trial.at(n.output).type;
      vector<std::uint8_t> setup(trial.values.count - values, 0);
      const auto is_setup = [&](value_id v) {
        if (static_cast<std::size_t>(v) < values) return facts.is_setup(v);
        return trial.at(v).from == origin::constant || setup[static_cast<std::size_t>(v) - values] != 0;
      };
      for (std::size_t k = nodes; k < trial.nodes.count; ++k) {
        const node& made = trial.nodes.items[k];
        bool is_known = dnnkit::is_known(trial.at(made.output).type.dims);
        for (std::size_t i = 0; i < made.inputs.count; ++i) is_known = is_known && is_setup(trial.input_of(made, i));
        if (is_known) setup[static_cast<std::size_t>(made.output) - values] = 1;
        else p.after += work_of(trial, made);
      }
    }
    trial.nodes.resize(nodes);
    trial.values.resize(values);
    trial.operands.resize(operands);
    trial.attributes.resize(attributes);
    trial.constants.resize(constants);
    trial.symbols.assumptions.resize(assumptions);
    trial.settled = settled;
    trial.error = {};
    return fits;
  }

  static constexpr graph without_dead(const graph& g) {
    return rebuild(g, [](builder&, const node&, const rebuilt_inputs&) { return tensor{}; });
  }

  // The best first, each of operators that none before it has.
  static constexpr vector<const place*> choose(const graph_facts& facts, const vector<place>& places) {
    vector<const place*> chosen;
    vector<std::uint8_t> taken(facts.g.nodes.count, 0);
    while (true) {
      const place* best = nullptr;
      for (const place& p : places)
        if (is_free(taken, p) && (best == nullptr || p.saving() > best->saving())) best = &p;
      if (best == nullptr) return chosen;
      for (const node_id k : best->found.nodes) taken.items[k] = 1;
      chosen.push_back(best);
    }
  }
  static constexpr bool is_free(const vector<std::uint8_t>& taken, const place& p) {
    for (const node_id k : p.found.nodes)
      if (taken.items[k] != 0) return false;
    return true;
  }

  static constexpr graph rewritten(const graph_facts& facts, const vector<const place*>& chosen,
                                   plan::decision_notes notes) {
    const graph& g = facts.g;
    vector<std::int32_t> place_of(g.nodes.count, none);
    for (std::size_t i = 0; i < chosen.count; ++i)
      place_of.items[chosen.items[i]->found.nodes.items[0]] = static_cast<std::int32_t>(i);
    return rebuild(
        g,
        [&](builder& b, const node& n, const rebuilt_inputs& inputs) {
          const std::int32_t i = place_of.items[facts.number_of(n)];
          if (i == none) return tensor{};
          const place& p = *chosen.items[i];
          replacement r(b.value(), *p.r, p.found, n);
          return tensor{&b, r.build([&](value_id v) { return inputs.image_of(v); })};
        },
        [&](const node& n, const graph& now, std::size_t first) {
          const place& p = *chosen.items[place_of.items[facts.number_of(n)]];
          note(notes, p, g, n, now, first);
        });
  }

  static constexpr void note(plan::decision_notes notes, const place& p, const graph& g, const node& n,
                             const graph& now, std::size_t first) {
    if (!notes.wanted()) return;
    notes.add_rewriting({.pass = "apply rules", .verdict = "rewritten", .reason = text_of(p.r->from)}, g, n, now, first,
                        print(*p.r), {{"before", "work", p.before}, {"behind", "work", p.after}});
  }

  vector<const rule*> rules_;
};

}  // namespace dnnkit::rewrite
