// SPDX-License-Identifier: MIT
// What a branch of an If needs of extents, while it is built: it is assumed of what the branch reads and computes, and
// of nothing else, so that it need not hold where the branch is not taken. Each value of the branch whose inferred
// extents it replaces is restated (op::assume_shape); so every node of the branch is legal without the assumptions.
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/graph/graph.hpp"
#include "dnnkit/op/assume_shape.hpp"

namespace dnnkit::detail {

class branch_extents {
 public:
  constexpr bool is_open() const { return !levels_.empty(); }

  // From here on nodes are those of a branch, of one within it if one is open. What operators need is assumed at once:
  // an equation that a branch alone needs solves nothing.
  constexpr void open(graph& g) {
    levels_.push_back({g.symbols.assumptions.count, g.nodes.count, g.symbols.collects_equations});
    g.symbols.collects_equations = false;
    restated_.clear();
  }
  // The branch gives these values. What it assumes, which holds no longer. What is not assumed for the sake of a node,
  // and what no value that is needed for the results says (that one extent is less than another, say), is assumed by
  // who is around the branch.
  constexpr vector<assumption> close(graph& g, const vector<value_id>& results) {
    symbol_table& t = g.symbols;
    const level closed = levels_.back();
    levels_.pop_back();
    restated_.clear();
    const vector<assumption> here = taken_from(t, closed.first_assumption);
    t.collects_equations = closed.collected_equations;
    vector<assumption> around = unstated(g, here, results, closed.first_node);
    if (!is_open()) {
      for_nodes_.clear();
      around.append(for_all_.begin(), for_all_.end());
      for_all_.clear();
    }
    for (const assumption& a : around) {
      const std::size_t before = t.assumptions.count;
      if (a.is == relation::equal) static_cast<void>(t.note_equation(a.left, a.right));
      else static_cast<void>(t.assume(a.left, a.is, a.right));
      g.name_assumptions(before, a.needed_by);
    }
    return here;
  }

  // The node, with operands, extents and result as they are in the branch.
  constexpr value_id add(graph& g, const node& n) {
    const auto number = static_cast<node_id>(g.nodes.count);
    symbol_table& t = g.symbols;
    tensor_type type;
    for (std::size_t assumed = t.assumptions.count + 1; assumed != t.assumptions.count;) {
      assumed = t.assumptions.count;
      for (std::uint32_t i = n.inputs.first; i < n.inputs.first + n.inputs.count; ++i)
        if (const value_id v = g.operands[i]; v != none) {
          const value_id restated = as_it_is_here(g, v, n.name);
          g.operands[i] = restated;
        }
      type = g.infer(n, number);
      if (assumed == t.assumptions.count) continue;
      restated_.clear();
      for_nodes_.append(t.assumptions.begin() + assumed, t.assumptions.end());
    }
    if (!g.error.empty()) return g.add_node(n, type);
    const vector<assumption> here = taken_from(t, levels_[0].first_assumption);
    const std::size_t known = t.assumptions.count;
    tensor_type outside = g.infer(n, number);
    for_all_.append(t.assumptions.begin() + known, t.assumptions.end());
    static_cast<void>(taken_from(t, known));
    t.assumptions.append(here.begin(), here.end());
    if (!g.error.empty()) {  // it is legal nowhere else
      g.error = {};
      for_all_.append(here.begin(), here.end());
      outside = type;
    }
    return as_it_is_here(g, g.add_node(n, outside), n.name);
  }
  // An operator with the extents that it names as they are in the branch.
  template <class Op> constexpr Op settled(Op op, symbol_table& t) const {
    if constexpr (requires { Op::attributes(op, [](std::string_view, auto&) {}); })
      Op::attributes(op, [&](std::string_view, auto& x) {
        using T = std::remove_cvref_t<decltype(x)>;
        if constexpr (std::same_as<T, dim>) x = t.settled(x);
        else if constexpr (std::same_as<T, shape>)
          for (dim& d : x) d = t.settled(d);
      });
    return op;
  }

 private:
  struct level {
    std::size_t first_assumption = 0, first_node = 0;
    bool collected_equations = false;
  };
  struct restatement {
    value_id of = none, as = none;
  };

  // The assumptions from number `first` on, which are made no longer.
  static constexpr vector<assumption> taken_from(symbol_table& t, std::size_t first) {
    vector<assumption> last;
    last.append(t.assumptions.begin() + first, t.assumptions.end());
    t.assumptions.resize(first);
    return last;
  }

  constexpr value_id as_it_is_here(graph& g, value_id v, slice_of name) {
    const tensor_type type = g.at(v).type;
    tensor_type here = type;
    for (dim& d : here.dims)
      if (const dim replaced = extent_here(g.symbols, d); !(replaced == d)) {
        if (const assumption* const a = about(g.symbols, d)) name = g.store(a->needed_by);
        d = replaced;
      }
    if (here.dims == type.dims) return v;
    for (const restatement& r : restated_)
      if (r.of == v) return r.as;
    node n{&info_of<op::assume_shape>, name, graph::end_of(g.attributes, 0), graph::end_of(g.operands, 1), none};
    encode(op::assume_shape{here.dims}, g.attributes);
    n.attributes.count = static_cast<std::uint32_t>(g.attributes.size()) - n.attributes.first;
    g.operands.push_back(v);
    restated_.push_back({v, g.add_node(n, here)});
    return restated_.back().as;
  }
  // Of two extents of which neither replaces an atom of the other, the second stands for both, or that which is known.
  constexpr dim extent_here(symbol_table& t, dim d) const {
    const dim x = t.settled(d);
    for (std::size_t i = levels_[0].first_assumption; i < t.assumptions.count; ++i) {
      const assumption a = t.assumptions[i];
      if (a.is != relation::equal || a.replaces()) continue;
      const dim left = t.settled(a.left), right = t.settled(a.right);
      if (left == x && !left.is_known()) return right;
      if (right == x && left.is_known()) return left;
    }
    return x;
  }
  constexpr const assumption* about(const symbol_table& t, dim d) const {
    for (std::size_t i = levels_[0].first_assumption; i < t.assumptions.count; ++i)
      if (const assumption& a = t.assumptions[i]; (a.left == d || a.right == d) && !a.needed_by.empty()) return &a;
    return nullptr;
  }

  // Those of `here` that do not follow from what nodes from number `first` on restate, as far as results need them.
  constexpr vector<assumption> unstated(const graph& g, const vector<assumption>& here, const vector<value_id>& results,
                                        std::size_t first) const {
    vector<assumption> rest;
    if (here.empty()) return rest;
    symbol_table t = g.symbols;
    vector<std::uint8_t> needed(g.nodes.size(), 0);
    const auto need = [&](value_id v) {
      if (v != none && g.at(v).producer != none) needed[static_cast<std::size_t>(g.at(v).producer)] = 1;
    };
    for (value_id v : results) need(v);
    t.collects_equations = false;
    for (std::size_t k = g.nodes.size(); k-- > first;) {
      const node& n = g.nodes[k];
      if (needed[k] == 0) continue;
      for (std::size_t i = 0; i < n.inputs.count; ++i) need(g.input_of(n, i));
      if (!g.is<op::assume_shape>(n)) continue;
      const shape &from = g.at(g.input_of(n, 0)).type.dims, &to = g.at(n.output).type.dims;
      for (std::size_t d = 0; d < to.size(); ++d) static_cast<void>(t.assume(from[d], to[d]));
    }
    for (const assumption& a : here) {
      const bool stated = a.is == relation::equal && (t.settled(a.left) == t.settled(a.right) ||
                                                      t.assumed(a.left, relation::equal, a.right) == true);
      if (!stated && !is_for_node(a)) rest.push_back(a);
    }
    return rest;
  }

  // A node that needs it has operands that say it; or else no result needs the node.
  constexpr bool is_for_node(const assumption& a) const {
    for (const assumption& b : for_nodes_)
      if (a.left == b.left && a.right == b.right && a.is == b.is) return true;
    return false;
  }

  vector<level> levels_;
  vector<assumption> for_nodes_;
  vector<assumption> for_all_;  // what nodes need, and no restated extent says
  vector<restatement> restated_;
};

}  // namespace dnnkit::detail
