// SPDX-License-Identifier: MIT
// A place where a rule applies in a graph: what it would take out, what it would put there, and what that saves.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/graph/walk.hpp"
#include "dnnkit/rewrite/facts.hpp"
#include "dnnkit/rewrite/matcher.hpp"
#include "dnnkit/rewrite/replacement.hpp"
#include "dnnkit/rewrite/rule.hpp"
#include "dnnkit/rewrite/work.hpp"

namespace dnnkit::rewrite {

// May the operator be the root of the rule's left side?
constexpr bool may_be_root(const rule& r, const op_info& op) {
  const term& t = r.left.root();
  if (t.is == term::what::operation) return t.op->id == op.id;
  return op.kind == form::elementwise && has_all(op.properties.laws, t.laws);
}
// Rules are about floats and truth values, those of idempotence about any type.
constexpr bool has_laws(const rule& r, dtype type) {
  return type == f32 || type == f64 || type == dtype::boolean || r.from == law::idempotent;
}

// Of a match of a rule whose root is `root`, in the graph that the facts are of. The graph has room for trials, and is
// afterwards as it was.
class rule_place {
 public:
  const rule* r = nullptr;
  match found;
  vector<node_id> gone;          // of the matched operators, those that nobody else reads; the root first
  double before = 0, after = 0;  // work of these, and of those that come
  bool fits = false;             // is what comes of the type that it must have?

  constexpr rule_place() = default;
  constexpr rule_place(const graph_facts& facts, graph& g, const rule& of, const match& m, const node& root)
      : r(&of), found(m) {
    find_gone(facts, g);
    fits = weigh(facts, g, root);
  }
  constexpr double saving() const { return before - after; }

 private:
  constexpr void find_gone(const graph_facts& facts, graph& g) {
    for (std::size_t i = 0; i < found.nodes.count; ++i) {  // readers first
      const node_id k = found.nodes.items[i];
      const node n = g.node_at(k);
      if (i > 0 && (has(gone, k) || !is_gone(facts, gone, n.output) || is_used(found, n.output))) continue;
      gone.push_back(k);
      if (!facts.is_setup(n.output)) before += work_of(g, n);
    }
  }
  // Is the replacement computed of v?
  static constexpr bool is_used(const match& m, value_id v) {
    for (std::size_t i = 0; i < m.bound.values.count; ++i)
      if (m.bound.values.items[i] == v) return true;
    for (std::size_t i = 0; i < m.made.count; ++i)
      if (m.made.items[i].first == v || m.made.items[i].second == v) return true;
    for (std::size_t i = 0; i < m.beside.count; ++i)
      if (m.beside.items[i] == v) return true;
    return false;
  }
  static constexpr bool has(const vector<node_id>& nodes, node_id k) {
    for (std::size_t i = 0; i < nodes.count; ++i)
      if (nodes.items[i] == k) return true;
    return false;
  }
  static constexpr bool is_gone(const graph_facts& facts, const vector<node_id>& gone, value_id v) {
    if (facts.is_output.items[v] != 0) return false;
    for (const node_id reader : facts.users[v]) {
      if (facts.alive.items[reader] != 0 && !has(gone, reader)) return false;
    }
    return true;
  }

  // Builds the replacement on trial, behind the graph's own nodes, and takes it off again. Is it of the type that it
  // must have?
  constexpr bool weigh(const graph_facts& facts, graph& trial, const node& n) {
    const std::size_t nodes = trial.nodes.count, values = trial.values.count, operands = trial.operands.count,
                      attributes = trial.attributes.count, constants = trial.constants.count,
                      assumptions = trial.symbols.assumptions.count;
    const bool settled = trial.settled;
    const value_id result = replacement(trial, *r, found, n).build([](value_id v) { return v; });
    bool is_right = trial.error.length == 0 && trial.symbols.assumptions.count == assumptions;
    if (is_right) {
      is_right = trial.at(result).type == trial.at(n.output).type;
      vector<std::uint8_t> setup(trial.values.count - values, 0);
      const auto is_setup = [&](value_id v) {
        if (static_cast<std::size_t>(v) < values) return facts.is_setup(v);
        return trial.at(v).from == origin::constant || setup[static_cast<std::size_t>(v) - values] != 0;
      };
      for (std::size_t k = nodes; k < trial.nodes.count; ++k) {
        const node made = trial.nodes.items[k];
        bool is_known = dnnkit::is_known(trial.at(made.output).type.dims);
        for (std::size_t i = 0; i < made.inputs.count; ++i) is_known = is_known && is_setup(trial.input_of(made, i));
        if (is_known) setup[static_cast<std::size_t>(made.output) - values] = 1;
        else after += work_of(trial, made);
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
    return is_right;
  }
};

}  // namespace dnnkit::rewrite
