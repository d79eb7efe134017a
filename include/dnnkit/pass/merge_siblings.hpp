// SPDX-License-Identifier: MIT
// Pass: products of one tensor with several matrices become one product, of which each was some columns:
//   [f(x A + a), f(x B + b), ...] = f(x [A, B, ...] + [a, b, ...])        f: element by element, the same of each
// and the same of convolutions alike but for their weights, whose columns are channels (horizontal fusion: TASO's
// merge of operators that share an input). x is then read once, small matrices fill registers together, and there is
// one kernel: the queries, keys and values of attention, the parallel 1x1 convolutions of Inception. The matrices are
// joined when a session is made. Those that read the result see some of its columns, a view.
// What a kernel stores behind the product must stay there, so a product is merged only where its result goes to
// operators that read their operands wherever they lie: not where an element-wise operator would be left without its
// product's kernel (in silu(x A) * (x B), the Mul), nor where a Concat or the caller wants the result in a place of
// its own. An element-wise operator that repeats the result (a bias of channels computed of a time, say) is behind the
// product in no case.
// Takes a graph without composites; guarantees the same function; every sum is of the same products.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/graph/branches.hpp"
#include "dnnkit/graph/rebuild.hpp"
#include "dnnkit/graph/walk.hpp"
#include "dnnkit/op/concat.hpp"
#include "dnnkit/op/convolution.hpp"
#include "dnnkit/op/elementwise.hpp"
#include "dnnkit/op/expand.hpp"
#include "dnnkit/op/matmul.hpp"
#include "dnnkit/op/movement.hpp"
#include "dnnkit/op/slice.hpp"
#include "dnnkit/pass/decision_log.hpp"

namespace dnnkit {

namespace detail {

// A product and what is computed of it, element by element, in its kernel.
struct product_with_tail {
  node_id product = none;
  value_id bias = none;    // added to a MatMul's columns; a Conv has its own
  vector<node_id> tail;    // behind that, in topological order
  value_id biased = none;  // what the tail is computed of
  value_id result = none;
};

class sibling_merging {
 public:
  static constexpr std::string_view name = "merge siblings";

  constexpr sibling_merging(const graph& g, decision_notes notes)
      : g_(g), notes_(notes), alive_(live_nodes(g)), setup_(setup_values(g)), users_(g), guards_(g) {
    find_families();
  }

  constexpr bool empty() const { return families_.empty(); }

  // The rule for rebuild(), of the same graph.
  constexpr tensor replaced(builder& b, const node& n, const rebuilt_inputs& inputs) {
    if (family_of_.items[n.output] == none) return {};
    family& f = families_.items[family_of_.items[n.output]];
    for (std::size_t i = 0; i < f.members.count; ++i) {
      if (f.members.items[i].result != n.output) continue;
      if (!f.merged.present()) f.merged = merged(b, f, inputs);
      notes_.add(
          {name, "merged", "its operand is multiplied by other weights as well, and one kernel does all of them"}, g_,
          g_.node_at(f.members.items[i].product), b.value(), b.value().node_at(b.value().at(f.product.id()).producer),
          {{"together", "products", static_cast<double>(f.members.count)}});
      return part(b, f, i);
    }
    return {};
  }

 private:
  struct family {
    vector<product_with_tail> members;
    tensor product, merged;  // in the new graph, when they are there: of all columns, and what the tail makes of it
  };

  constexpr bool is_setup(value_id v) const { return v != none && setup_.items[v] != 0; }
  constexpr bool is_convolution(const product_with_tail& p) const { return g_.is<op::conv>(g_.node_at(p.product)); }
  constexpr const shape& dims_of(value_id v) const { return g_.at(v).type.dims; }

  // --- what is merged
  constexpr bool may_be_merged(node_id k) const {
    const node& n = g_.node_at(k);
    if (alive_.items[k] == 0 || !is_floating(g_.at(n.output).type.type) || is_setup(n.output)) return false;
    if (!is_setup(g_.input_of(n, 1)) || is_setup(g_.input_of(n, 0))) return false;
    if (g_.is<op::matmul>(n)) return dims_of(g_.input_of(n, 1)).size() == 2;
    const value_id bias = g_.input_of(n, 2);
    return g_.is<op::conv>(n) && g_.as<op::conv>(n).group == 1 && (bias == none || is_setup(bias));
  }
  constexpr void find_families() {
    vector<product_with_tail> candidates;
    for (std::size_t k = 0; k < g_.nodes.count; ++k) {
      const auto id = static_cast<node_id>(k);
      if (!may_be_merged(id) || !has_sibling(id)) continue;
      const product_with_tail p = with_tail(id);
      if (p.result == none || !is_read_in_any_place(p.result))
        notes_.add({name, "kept", "what is done with it is part of its kernel, and would be a kernel of its own"}, g_,
                   g_.node_at(id));
      else candidates.push_back(p);
    }
    for (const product_with_tail& p : candidates) {
      std::size_t f = families_.count;  // siblings are near each other
      while (f > 0 && !are_siblings(families_.items[f - 1].members.items[0], p)) --f;
      if (f == 0) {
        families_.push_back({});
        f = families_.count;
      }
      families_.items[f - 1].members.push_back(p);
    }
    vector<family> several;
    for (family& f : families_)
      if (f.members.count > 1) several.push_back(static_cast<family&&>(f));
    families_ = static_cast<vector<family>&&>(several);
    family_of_.resize(g_.values.count, none);
    for (std::size_t f = 0; f < families_.count; ++f)
      for (const product_with_tail& p : families_.items[f].members)
        family_of_.items[p.result] = static_cast<std::int32_t>(f);
  }
  constexpr bool has_sibling(node_id k) const {
    const node& n = g_.node_at(k);
    for (node_id u : users_[g_.input_of(n, 0)])
      if (u != k && may_be_merged(u) && are_alike(n, g_.node_at(u))) return true;
    return false;
  }
  constexpr bool are_alike(const node& a, const node& b) const {
    if (g_.input_of(a, 0) != g_.input_of(b, 0) || !has_same_codes(a, b)) return false;
    const shape &v = dims_of(g_.input_of(a, 1)), &w = dims_of(g_.input_of(b, 1));
    for (std::size_t d = 1; g_.is<op::conv>(a) && d < v.size(); ++d)
      if (!(v[d] == w[d])) return false;
    return g_.at(a.output).type.type == g_.at(b.output).type.type;
  }
  constexpr bool has_same_codes(const node& a, const node& b) const {
    if (a.op->id != b.op->id || a.attributes.count != b.attributes.count) return false;
    for (std::size_t i = 0; i < a.attributes.count; ++i)
      if (g_.attributes_of(a)[i] != g_.attributes_of(b)[i]) return false;
    return true;
  }

  // --- what follows a product in its kernel
  constexpr product_with_tail with_tail(node_id k) const {
    product_with_tail p{k, none, {}, g_.node_at(k).output, none};
    if (!is_convolution(p)) add_bias(p);
    vector<value_id> known{p.biased};
    for (std::size_t i = 0; i < known.count; ++i)
      for (node_id u : users_[known.items[i]])
        if (alive_.items[u] != 0 && is_computed_of(u, known, p.biased) && !includes(known, g_.node_at(u).output)) {
          known.push_back(g_.node_at(u).output);
          p.tail.push_back(u);
          i = static_cast<std::size_t>(-1);  // another may read both
          break;
        }
    sort(p.tail);
    for (value_id v : known) {
      bool leaves = is_output(g_, v);
      for (node_id u : users_[v]) leaves = leaves || (alive_.items[u] != 0 && !includes(p.tail, u));
      if (!leaves) continue;
      if (p.result != none) return {k, none, {}, none, none};
      p.result = v;
    }
    return p;
  }
  constexpr void add_bias(product_with_tail& p) const {
    const value_id y = p.biased;
    node_id reader = none;
    for (node_id u : users_[y])
      if (alive_.items[u] != 0) {
        if (reader != none) return;
        reader = u;
      }
    if (reader == none || is_output(g_, y) || !g_.is<op::add>(g_.node_at(reader))) return;
    const node& n = g_.node_at(reader);
    const value_id bias = g_.input_of(n, 0) == y ? g_.input_of(n, 1) : g_.input_of(n, 0);
    if (!is_setup(bias) || !same_shape(dims_of(n.output), dims_of(y))) return;
    const shape& s = dims_of(bias);
    for (std::size_t d = 0; d + 1 < s.size(); ++d)
      if (!(s[d] == dim(1))) return;
    p.bias = bias;
    p.biased = n.output;
  }
  // Does it compute, element by element, of these values and of single numbers alone?
  constexpr bool is_computed_of(node_id k, const vector<value_id>& known, value_id like) const {
    const node& n = g_.node_at(k);
    if (n.op->kind != form::elementwise || !same_shape(dims_of(n.output), dims_of(like))) return false;
    for (std::size_t i = 0; i < n.inputs.count; ++i) {
      const value_id v = g_.input_of(n, i);
      if (v == none || includes(known, v)) continue;
      if (g_.at(v).from != origin::constant || g_.at(v).data.count != 1) return false;
    }
    return true;
  }
  static constexpr bool includes(const vector<std::int32_t>& all, std::int32_t x) {
    for (std::int32_t y : all)
      if (x == y) return true;
    return false;
  }
  static constexpr void sort(vector<node_id>& nodes) {
    for (std::size_t i = 1; i < nodes.count; ++i)
      for (std::size_t j = i; j > 0 && nodes.items[j - 1] > nodes.items[j]; --j) {
        const node_id n = nodes.items[j];
        nodes.items[j] = nodes.items[j - 1];
        nodes.items[j - 1] = n;
      }
  }

  // Do all readers of v, also through movement operators, read it where it lies?
  constexpr bool is_read_in_any_place(value_id v) const {
    if (is_output(g_, v)) return false;
    for (node_id u : users_[v]) {
      if (alive_.items[u] == 0) continue;
      const node& n = g_.node_at(u);
      if (n.op->kind == form::movement) {
        if (!is_read_in_any_place(n.output)) return false;
      } else if (n.op->kind == form::elementwise) {
        if (!is_repeated(dims_of(v), dims_of(n.output))) return false;
      } else if (n.op->kind == form::whole || g_.is<op::concat>(n)) return false;
    }
    return true;
  }
  // Does an element-wise operator with a result of `to` read elements of an operand of `from` more than once?
  static constexpr bool is_repeated(const shape& from, const shape& to) {
    for (std::size_t d = 0; d < to.size(); ++d) {  // from the last
      const dim have = d < from.size() ? from[from.size() - 1 - d] : dim(1);
      if (have == dim(1) && !(to[to.size() - 1 - d] == dim(1))) return true;
    }
    return false;
  }

  constexpr bool are_siblings(const product_with_tail& a, const product_with_tail& b) const {
    if (!are_alike(g_.node_at(a.product), g_.node_at(b.product)) || a.tail.count != b.tail.count) return false;
    if (guards_.of(a.product) != guards_.of(b.product)) return false;
    const auto at = [&](const product_with_tail& p, value_id v) {  // 0: what the tail is computed of; none: a number
      for (std::size_t i = 0; i < p.tail.count; ++i)
        if (g_.node_at(p.tail.items[i]).output == v) return static_cast<std::int32_t>(i + 1);
      return v == p.biased ? 0 : none;
    };
    for (std::size_t k = 0; k < a.tail.count; ++k) {
      const node &m = g_.node_at(a.tail.items[k]), &n = g_.node_at(b.tail.items[k]);
      if (!has_same_codes(m, n) || m.inputs.count != n.inputs.count) return false;
      for (std::size_t i = 0; i < m.inputs.count; ++i) {
        const value_id v = g_.input_of(m, i), w = g_.input_of(n, i);
        if (at(a, v) != at(b, w)) return false;
        if (at(a, v) == none && !(v == none && w == none) && !is_same_number(v, w)) return false;
      }
    }
    return at(a, a.result) == at(b, b.result);
  }
  // Numbers that broadcast in different ways are the same here: none makes the result larger.
  constexpr bool is_same_number(value_id v, value_id w) const {
    if (v == none || w == none) return false;
    const value &x = g_.at(v), &y = g_.at(w);
    return x.type.type == y.type.type && g_.constants[x.data.first] == g_.constants[y.data.first];
  }

  // --- what comes of it
  constexpr tensor merged(builder& b, family& f, const rebuilt_inputs& inputs) const {
    const product_with_tail& first = f.members.items[0];
    const node& n = g_.node_at(first.product);
    const bool convolves = is_convolution(first);
    const builder::name_scope scope(b, n.name);
    vector<tensor> weights, biases;
    bool has_bias = false;
    for (const product_with_tail& p : f.members) {
      const node& each = g_.node_at(p.product);
      const value_id bias = convolves ? g_.input_of(each, 2) : p.bias;
      weights.push_back(inputs.image_of(g_.input_of(each, 1)));
      biases.push_back(bias_of(b, inputs.image_of(bias), columns_of(p), weights.back().type()));
      has_bias = has_bias || bias != none;
    }
    const tensor x = inputs.image_of(g_.input_of(n, 0)), weight = joined(b, weights, convolves ? 0 : 1);
    if (convolves && has_bias) f.product = b.apply(g_.as<op::conv>(n), {x, weight, joined(b, biases, 0)});
    else if (convolves) f.product = b.apply(g_.as<op::conv>(n), {x, weight});
    else f.product = matmul(x, weight);
    const tensor y = has_bias && !convolves ? f.product + joined(b, biases, 0) : f.product;
    return with_tail_of(b, first, y, inputs);
  }
  constexpr dim columns_of(const product_with_tail& p) const {
    const shape& weight = dims_of(g_.input_of(g_.node_at(p.product), 1));
    return is_convolution(p) ? weight[0] : weight[1];
  }
  static constexpr tensor joined(builder& b, const vector<tensor>& parts, std::int64_t axis) {
    return b.apply(op::concat{axis}, parts);
  }
  static constexpr tensor bias_of(builder& b, tensor bias, dim columns, dtype type) {
    if (!bias.present()) return b.constant({0.0}, {columns}, type);
    symbol_table& table = b.value().symbols;
    const dim count = element_count(table, bias.dims());
    bias = b.apply(op::reshape{{count}}, {bias});
    return count == columns ? bias : b.apply(op::expand{{columns}}, {bias});
  }
  constexpr tensor with_tail_of(builder& b, const product_with_tail& p, tensor y, const rebuilt_inputs& inputs) const {
    vector<tensor> made;
    for (node_id k : p.tail) {
      const node& n = g_.node_at(k);
      vector<value_id> operands;
      for (std::size_t i = 0; i < n.inputs.count; ++i) {
        const value_id v = g_.input_of(n, i);
        tensor t = v == p.biased ? y : v == none ? tensor{} : inputs.image_of(v);
        for (std::size_t j = 0; j < made.count; ++j)
          if (g_.node_at(p.tail.items[j]).output == v) t = made.items[j];
        if (t.present() && t.id() != none && is_constant(v))
          t = b.constant_from_codes({g_.constants[g_.at(v).data.first]}, shape{}, g_.at(v).type.type);
        operands.push_back(t.id());
      }
      graph& now = b.value();
      node copy = n;
      copy.inputs = graph::end_of(now.operands, operands.size());
      now.operands.append(operands.begin(), operands.end());
      made.push_back(tensor{&b, now.add_node(copy)});
    }
    for (std::size_t j = 0; j < made.count; ++j)
      if (g_.node_at(p.tail.items[j]).output == p.result) return made.items[j];
    return y;
  }
  constexpr bool is_constant(value_id v) const { return v != none && g_.at(v).from == origin::constant; }

  constexpr tensor part(builder& b, const family& f, std::size_t i) const {
    std::int64_t first = 0;
    for (std::size_t k = 0; k < i; ++k) first += columns_of(f.members.items[k]).value();
    op::slice columns;
    columns.starts = {first};
    columns.ends = {first + columns_of(f.members.items[i]).value()};
    columns.axes = {is_convolution(f.members.items[i]) ? 1 : f.merged.rank() - 1};
    return b.apply(columns, {f.merged});
  }

  const graph& g_;
  decision_notes notes_;
  vector<std::uint8_t> alive_, setup_;
  value_users users_;
  guard_sets guards_;
  vector<family> families_;
  vector<std::int32_t> family_of_;  // by value: the family whose member it is the result of; none
};

// The same graph, what depends on weights and constants alone before everything else.
constexpr graph with_setup_first(graph g) {
  const vector<std::uint8_t> setup = setup_values(g);
  vector<node> nodes;
  nodes.reserve(g.nodes.count);
  for (const bool first : {true, false})
    for (const node& n : g.nodes)
      if ((setup.items[n.output] != 0) == first) {
        g.at(n.output).producer = static_cast<node_id>(nodes.count);
        nodes.push_back(n);
      }
  g.nodes = static_cast<vector<node>&&>(nodes);
  return g;
}

}  // namespace detail

namespace passes {

struct merge_siblings {
  static constexpr std::string_view name = detail::sibling_merging::name;

  static constexpr graph run(graph g, decision_notes notes = {}) {
    if (!has_operator<op::conv>(g) && !has_operator<op::matmul>(g)) return g;
    if (detail::sibling_merging(g, {}).empty()) {
      if (notes.wanted()) detail::sibling_merging(g, notes);
      return g;
    }
    g = detail::with_setup_first(static_cast<graph&&>(g));
    detail::sibling_merging merging(g, notes);
    return rebuild(
        g, [&](builder& b, const node& n, const rebuilt_inputs& inputs) { return merging.replaced(b, n, inputs); });
  }
};

}  // namespace passes

}  // namespace dnnkit
