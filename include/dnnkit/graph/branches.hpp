// SPDX-License-Identifier: MIT
// Which nodes only one branch of a Combine needs, so that they run only when it is taken (SoD2, section 4.1: <Switch,
// Combine>, without a Switch: what a branch consists of follows from who reads what).
#pragma once

#include <cstddef>
#include <cstdint>

#include "dnnkit/core/namespaces.hpp"
#include "dnnkit/core/vector.hpp"
#include "dnnkit/graph/graph.hpp"
#include "dnnkit/op/combine.hpp"

namespace dnnkit::plan {

// The branch that Combine nodes take while the element of `condition` is `when`.
struct branch {
  value_id condition = none;
  bool when = false;
  friend constexpr bool operator==(const branch&, const branch&) = default;
};

// Of branches within branches, the outermost are told apart; what only a deeper one needs runs whenever those are
// taken. So much room and time are enough for any number of them.
inline constexpr std::size_t most_nested_branches = 64;

// The value that decides which branch Combine node `at` takes: its condition, or what movement makes the condition of
// if that is one element as well. Combines of one condition, such as those of an If with several results, have one.
constexpr value_id condition_of(const graph& g, node_id at) {
  value_id v = g.input_of(g.node_at(at), 0);
  while (true) {
    const node_id p = g.at(v).producer;
    if (p == none || g.node_at(p).op->kind != form::movement) return v;
    const value_id before = g.input_of(g.node_at(p), 0);
    for (dim d : g.at(before).type.dims)
      if (!(d == dim(1))) return v;
    v = before;
  }
}

// Does a Combine of booleans have to have both of its branches, as in kernels, which choose element by element?
enum class joins_booleans : std::uint8_t { of_one_branch, of_both };

// branches_of(g)[n]: the branches that must all be taken for node n to be needed, outer ones first; none when it always
// is, and for nodes that no output needs.
constexpr vector<vector<branch>> branches_of(const graph& g, joins_booleans joins = joins_booleans::of_one_branch) {
  vector<vector<branch>> guards(g.nodes.size());
  vector<std::uint8_t> used(g.nodes.size(), 0);  // by a node seen so far
  bool any = false;
  for (const node& n : g.nodes) any = any || g.is<op::combine>(n);
  if (!any) return guards;
  const auto includes = [](const vector<branch>& all, const branch& x) {
    for (const branch& b : all)
      if (b == x) return true;
    return false;
  };
  // A further user: what its own guards and those so far have in common remains.
  const auto add_use = [&](value_id v, const vector<branch>& of_user) {
    const node_id p = g.at(v).producer;
    if (p == none) return;
    if (used[p] == 0) {
      used[p] = 1;
      guards[p] = of_user;
      return;
    }
    vector<branch> common;
    for (const branch& x : guards[p])
      if (includes(of_user, x)) common.push_back(x);
    guards[p] = common;
  };
  for (value_id v : g.outputs) add_use(v, {});
  for (std::size_t k = g.nodes.size(); k-- > 0;) {
    const node& n = g.nodes[k];
    if (used[k] == 0) continue;
    const bool joins_one =
        g.is<op::combine>(n) && (joins == joins_booleans::of_one_branch || g.at(n.output).type.type != dtype::boolean);
    for (std::size_t i = 0; i < n.inputs.count; ++i) {
      const value_id v = g.input_of(n, i);
      if (v == none) continue;
      vector<branch> mine = guards[k];
      if (joins_one && i > 0 && mine.size() < most_nested_branches)
        if (const branch b{condition_of(g, static_cast<node_id>(k)), i == 1}; !includes(mine, b)) mine.push_back(b);
      add_use(v, mine);
    }
  }
  return guards;
}

// The branches that a plan leaves out when they are not taken, as sets by number; number 0 is what always runs. A
// kernel that joins branches reads both and chooses element by element, so that what was left out may hold anything;
// of booleans it may not, and both branches of those run.
class guard_sets {
 public:
  constexpr explicit guard_sets(const graph& g) {
    bool any = false;
    for (std::size_t n = 0; n < g.nodes.count; ++n) any = any || g.is<op::combine>(g.nodes.items[n]);
    if (!any) return;
    sets_.push_back({});
    for (const vector<branch>& branches : branches_of(g, joins_booleans::of_both))
      set_of_.push_back(number_of(branches));
    for (const vector<branch>& s : sets_)
      for (const branch& b : s) stored_.push_back(b.condition);
    if (!stored_.empty()) store_operands(g);
  }

  // Nothing is ever left out.
  constexpr bool empty() const { return stored_.empty(); }
  constexpr std::uint32_t of(node_id n) const { return empty() ? 0 : set_of_.items[n]; }
  // An outer branch comes before those within it, whose conditions are only known when it is taken.
  constexpr const vector<branch>& set(std::uint32_t number) const { return sets_[number]; }
  // Values that must be stored, whoever reads them: conditions, before the kernels that they guard, and what a Combine
  // reads of a branch where that is a part of what is computed or of assumed extents: it reads also what a branch that
  // is not taken would have given, which may then have any size.
  constexpr const vector<value_id>& stored() const { return stored_; }

  // The set of a kernel's nodes: movement operators compute nothing, whoever reads them.
  constexpr std::uint32_t of_kernel(const graph& g, const vector<node_id>& nodes) const {
    if (empty()) return 0;
    for (node_id n : nodes)
      if (g.node_at(n).op->kind != form::movement) return of(n);
    return of(nodes.back());
  }
  // Can one kernel compute these: are all of them left out together, and no condition of one computed among them?
  constexpr bool run_together(const graph& g, const vector<node_id>& nodes) const {
    if (empty()) return true;
    const std::uint32_t first = of_kernel(g, nodes);
    for (node_id n : nodes) {
      if (g.node_at(n).op->kind != form::movement && of(n) != first) return false;
      if (!g.is<op::combine>(g.node_at(n))) continue;
      const node_id decides = g.at(condition_of(g, n)).producer;
      for (node_id m : nodes)
        if (m == decides) return false;
    }
    return true;
  }

 private:
  constexpr void store_operands(const graph& g) {
    symbol_table table = g.symbols;
    for (const node& n : g.nodes) {
      if (!g.is<op::combine>(n)) continue;
      for (std::size_t i = 1; i < n.inputs.count; ++i) {
        const value_id given = g.input_of(n, i);
        value_id v = given;
        for (node_id p = g.at(v).producer; p != none && g.node_at(p).op->kind == form::movement; p = g.at(v).producer)
          v = g.input_of(g.node_at(p), 0);
        if (g.at(v).from == origin::node &&
            !(element_count(table, g.at(v).type.dims) == element_count(table, g.at(given).type.dims)))
          stored_.push_back(given);
      }
    }
  }
  constexpr std::uint32_t number_of(const vector<branch>& set) {
    const auto includes = [](const vector<branch>& all, const branch& x) {
      for (const branch& b : all)
        if (b == x) return true;
      return false;
    };
    for (std::size_t k = 0; k < sets_.count; ++k) {
      bool same = sets_.items[k].count == set.count;
      for (const branch& b : set) same = same && includes(sets_.items[k], b);
      if (same) return static_cast<std::uint32_t>(k);
    }
    sets_.push_back(set);
    return static_cast<std::uint32_t>(sets_.count - 1);
  }

  vector<vector<branch>> sets_;
  vector<std::uint32_t> set_of_;  // by node
  vector<value_id> stored_;
};

}  // namespace dnnkit::plan
