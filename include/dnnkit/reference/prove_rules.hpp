// SPDX-License-Identifier: MIT
// Proving rules of rewriting as far as numbers can: a rule is given graphs of its own left side, of random shapes,
// attributes and elements; the rewriter, which has this rule alone, must apply it somewhere, and what comes out must be
// what the reference evaluator makes of the left side, within the rule's licence.
//   for (const auto& wrong : dk::rewrite::prove(mine)) std::cerr << wrong.rule << ": " << wrong.problem << '\n';
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "dnnkit/core/error.hpp"
#include "dnnkit/graph/verify.hpp"
#include "dnnkit/op/builtin.hpp"
#include "dnnkit/pass/rewriter.hpp"
#include "dnnkit/reference/evaluator.hpp"
#include "dnnkit/reference/random_data.hpp"
#include "dnnkit/reference/random_source.hpp"
#include "dnnkit/reference/rounding_tolerance.hpp"
#include "dnnkit/rewrite/print.hpp"
#include "dnnkit/rewrite/rule.hpp"

namespace dnnkit::rewrite {

// A rule that was not proved: as it is printed, why not, and with which seed that is seen again.
struct unproved_rule {
  std::string rule, problem;
  std::uint64_t seed = 0;
};

// At how many places a rule is tried, and how many graphs are drawn to find these. (A condition, or a shape that an
// operator wants, may be rare.)
struct proof_effort {
  std::uint64_t places = 24, graphs = 3000, first_seed = 0;
};

namespace detail {

// A graph of a rule's left side.
template <class Set> class left_side {
 public:
  left_side(const rule& r, std::uint64_t seed, bool positive) : rule_(r), random_(seed), positive_(positive) {}

  // A graph without outputs where the shapes that were drawn do not fit.
  graph make() {
    builder b;
    match m;
    for (std::size_t k = 0; k < rule_.left.terms.size(); ++k)
      if (const term& t = rule_.left.terms[k]; t.is == term::what::variable)
        m.bound.values[t.name] = leaf(b, t, k).id();
    graph old = b.value();
    for (const term& t : rule_.left.terms) {
      if (t.slot != term::no_slot && m.bound.slots[t.slot] == none) m.bound.slots[t.slot] = add(old, *t.op);
      if (t.is == term::what::unary && m.bound.unary == none) m.bound.unary = add(old, unary_with(t.laws));
      if (t.is == term::what::binary && m.bound.binary == none) m.bound.binary = add(old, binary_with(t.laws));
    }
    const node_id like = add(old, info_of<op::identity>);
    old.nodes[like].output = std::max(0, *std::max_element(m.bound.values.begin(), m.bound.values.end()));
    m.nodes.push_back(like);
    m.bound.g = &old;
    graph g = old;
    g.nodes.clear();
    rule same = rule_;
    same.right = same.left;
    const node named = old.nodes[like];
    const value_id y = replacement(g, same, m, named).build([](value_id v) { return v; });
    if (!g.error.empty()) return {};
    g.outputs.push_back(y);
    g.output_names.push_back(g.store("y"));
    return g;
  }

 private:
  // Where is the variable read: as a truth value, or as positions?
  bool is_read_by(std::size_t variable, auto reads) const {
    for (const term& t : rule_.left.terms)
      for (std::size_t i = 0; i < t.inputs; ++i)
        if (t.input[i] == variable && t.is == term::what::operation && reads(t.op->name, i)) return true;
    return false;
  }

  tensor leaf(builder& b, const term& t, std::size_t k) {
    const std::string name = (positive_ ? "variance_" : "") + std::string(1, static_cast<char>('a' + t.name));
    if (is_read_by(k, [](std::string_view op, std::size_t i) { return op == "Gather" && i == 1; }))
      return random_.chance(50) ? b.constant({1, 0}, shape{2}, i64)
                                : b.constant({0, 1, 1, 0, 1, 0, 0, 1, 0}, shape{9}, i64);
    if (t.range == stands_for::number)
      return b.scalar(random_.real(0.25, 2) * (positive_ || random_.chance(70) ? 1 : -1));
    const bool truth = is_read_by(k, [](std::string_view op, std::size_t i) {
      return op == "And" || op == "Or" || op == "Xor" || op == "Not" || (op == "Where" && i == 0);
    });
    shape s;
    const std::size_t rank = random_.below(5);
    for (std::size_t d = 0; d < rank; ++d) s.push_back(random_.pick({1, 2, 4, 4, 4}));
    const dtype type = truth ? dtype::boolean : f32;
    const origin from = t.range == stands_for::tensor ? origin::input : origin::weight;
    graph& g = b.value();
    const value_id id = g.add_value({g.store(name), {type, s}, from, none, {}});
    if (from == origin::input) g.inputs.push_back(id);
    return {&b, id};
  }

  // A node of the operator, with attributes that fit small tensors. It has no operands: it stands for its attributes.
  template <class Op> static node_id add(graph& g, const Op& op) {
    node n{&info_of<Op>, {}, graph::end_of(g.attributes, 0), {}, none};
    encode(op, g.attributes);
    n.attributes.count = static_cast<std::uint32_t>(g.attributes.size()) - n.attributes.first;
    g.nodes.push_back(n);
    return static_cast<node_id>(g.nodes.size() - 1);
  }
  node_id add(graph& g, const op_info& op) {
    if (op.name == "Clip") return add(g, op::clip{.min = -0.5f, .max = 0.5f});
    if (op.name == "Softmax" || op.name == "LogSoftmax") return add(g, op::softmax{.axis = random_.pick({-1, 0, 1})});
    if (op.name == "MaxPool") return add(g, op::max_pool{.kernel_shape = {2, 2}, .strides = {2, 2}});
    if (op.name == "AveragePool") return add(g, op::average_pool{.kernel_shape = {2, 2}, .strides = {2, 2}});
    if (op.name == "Slice") return add(g, op::slice{.starts = {0}, .ends = {2}, .axes = {-1}});
    if (op.name == "Gather") return add(g, op::gather{.axis = 0});
    if (op.name == "Expand") return add(g, op::expand{.dims = {2, 4, 4}});
    if (op.name.starts_with("Reduce")) {
      op::reduce_sum sum{.keepdims = random_.chance(70)};
      if (random_.chance(70)) sum.axes.list.push_back(random_.pick({-2, -1, 0, 1}));
      else sum.axes.list = {0, -1};
      return add(g, sum);
    }
    return add_as_any(g, op, std::make_index_sequence<Set::size>());
  }
  // Any other: with the defaults of its attributes, or with some of their real numbers drawn.
  template <std::size_t... I> node_id add_as_any(graph& g, const op_info& op, std::index_sequence<I...>) {
    node_id made = none;
    const auto try_one = [&]<class Op>(std::type_identity<Op>) {
      if (made != none || op.id != id_of<Op>) return;
      Op drawn{};
      if constexpr (dnnkit::detail::has_attributes<Op>)
        Op::attributes(drawn, [&]<class T>(std::string_view, T& x) {
          if constexpr (std::is_floating_point_v<T>)
            if (random_.chance(50)) x = static_cast<T>(random_.real(-2, 2));
        });
      made = add(g, drawn);
    };
    (try_one(std::type_identity<typename Set::template at<I>>()), ...);
    if (made == none) throw error("operator is not in the operator set given to prove()", std::string(op.name));
    return made;
  }
  const op_info& unary_with(algebra laws) {
    if (laws != algebra::none) return random_.chance(50) ? info_of<op::relu> : info_of<op::abs>;
    return random_.pick({&info_of<op::relu>, &info_of<op::exp>, &info_of<op::neg>})[0];
  }
  const op_info& binary_with(algebra laws) {
    if (laws != algebra::none) return random_.chance(50) ? info_of<op::max> : info_of<op::min>;
    return random_.pick({&info_of<op::add>, &info_of<op::mul>})[0];
  }

  const rule& rule_;
  random_source random_;
  bool positive_;
};

// How far the right side may be from the left one: in another order as far as rounding takes it.
inline double allowed_distance(const rule& r, double largest, double rounding) {
  if (r.allowed.kind == licence::exact) return 0;
  return rounding + (r.allowed.kind == licence::approximates ? r.allowed.ulp * 0x1p-23 * largest : 0);
}

// Empty where the two agree wherever the left side is a number.
template <class Set>
std::string disagreement(const rule& r, const graph& before, const graph& after, const random_operands& data,
                         const host_tensor& left) {
  const host_tensor right = evaluate<Set>(after, data.inputs, weights_of(data.weights))[0];
  if (left.dims != right.dims) return "shapes differ";
  if (left.integers != right.integers) return "truth values differ";
  const double rounding = r.allowed.kind == licence::exact ? 0 : rounding_tolerances<Set>(before, data, {left})[0];
  const double largest = dnnkit::detail::largest_of(left);
  for (std::size_t i = 0; i < left.reals.size(); ++i) {
    const double x = left.reals[i], y = right.reals[i];
    if (!std::isfinite(x) || x == y) continue;
    if (!(std::abs(x - y) <= allowed_distance(r, largest, rounding)))
      return "element " + std::to_string(i) + ": " + std::to_string(x) + " on the left, " + std::to_string(y) +
             " on the right";
  }
  return {};
}

// Elements lie within 1 of 0 and are of either sign, or are positive, or lie within 8 of 0.
template <class Set> unproved_rule prove_rule(const rule& r, const proof_effort& effort) {
  unproved_rule result{print(r).str(), {}, effort.first_seed};
  const rule_set<1> set{{r}};
  std::uint64_t applied = 0, built = 0;
  for (std::uint64_t i = 0; i < effort.graphs && applied < effort.places; ++i) {
    const std::uint64_t seed = effort.first_seed + i;
    const graph g = left_side<Set>(r, seed, seed % 3 == 0).make();
    if (g.outputs.empty()) continue;
    const random_operands data = random_data(g, seed, seed % 3 == 1 ? 1 : 8);
    host_tensor left;
    try {
      left = evaluate<Set>(g, data.inputs, weights_of(data.weights))[0];
    } catch (const error&) { continue; }  // a Gather of two elements of one
    ++built;
    plan::decision_log log;
    const graph after = rewriter(set, licence::approximates).run(g, plan::decision_notes(log));
    if (log.decisions.empty()) continue;
    ++applied;
    result.problem = verify(after).str();
    if (result.problem.empty()) result.problem = disagreement<Set>(r, g, after, data, left);
    result.seed = seed;
    if (!result.problem.empty()) return result;
  }
  if (applied == 0)
    result.problem = "it was applied to none of " + std::to_string(built) +
                     " graphs of its left side: it saves nothing, its condition does not hold, or its right side has "
                     "another shape";
  return result;
}

}  // namespace detail

// The rules of the list that were not proved; empty when all were. Seen with the elements and shapes that were drawn,
// floats of 32 bits of at most 8: what overflows, say, is not. Operators are those of Set. Attributes that a rule names
// are the operator's defaults, with real numbers drawn besides; of reductions, windows, Clip, Slice, Gather, Expand and
// Softmax some that fit small tensors. Throws dnnkit::error for an operator that Set does not have.
template <class Set = builtin_set>
[[nodiscard]] std::vector<unproved_rule> prove(const rule_list& rules, const proof_effort& effort = {}) {
  std::vector<unproved_rule> found;
  rules.for_each([&](const rule& r) {
    if (unproved_rule one = detail::prove_rule<Set>(r, effort); !one.problem.empty()) found.push_back(std::move(one));
  });
  return found;
}

}  // namespace dnnkit::rewrite
