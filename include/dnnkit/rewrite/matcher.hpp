// SPDX-License-Identifier: MIT
// Finding a pattern in a graph, modulo the commutativity of operators and the associativity of those that commute, too:
// a chain of them, x * y * z in whatever brackets, is a list of operands, of which those of the pattern are picked;
// what is left over at the root stays beside the replacement, and what is left over below it becomes part of a
// variable. (DNNFusion, section 3.4.2: matching within parts of the graph that consist of such operators.)
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "dnnkit/core/static_vector.hpp"
#include "dnnkit/core/vector.hpp"
#include "dnnkit/graph/builder.hpp"
#include "dnnkit/rewrite/facts.hpp"
#include "dnnkit/rewrite/rule.hpp"

namespace dnnkit::rewrite {

inline constexpr std::size_t most_operands_of_chain = 8, most_made = 4, most_matched = 24;

// An operator with two operands, put together while matching: its value's number is that of the graph's values and the
// number of such that were made before.
struct made_value {
  node_id like = none;  // the node whose operator it has
  value_id first = none, second = none;
};

// A place where the left side of a rule was found.
struct match {
  binding bound;
  static_vector<node_id, most_matched> nodes;              // its operators, the root first
  static_vector<made_value, most_made> made;               // what variables stand for that is no value of the graph
  static_vector<value_id, most_operands_of_chain> beside;  // operands of the root's chain that the pattern has not
};

// A number of a rule as a constant of that type holds it.
constexpr double rounded_to(dtype type, double x) {
  return type == f32 ? static_cast<double>(static_cast<float>(x)) : x;
}

constexpr bool has_all(algebra laws, algebra wanted) {
  return (static_cast<unsigned>(laws) & static_cast<unsigned>(wanted)) == static_cast<unsigned>(wanted);
}

class matcher {
 public:
  // Of what is searched: more is not found, as if it were not there.
  static constexpr std::size_t most_matches = 8, most_steps = 1024;

  constexpr explicit matcher(const graph_facts& facts) : facts_(facts), g_(facts.g) { now_.bound.g = &facts.g; }

  // Finds operators with whatever attributes from now on.
  constexpr void ignore_attributes() { any_attributes_ = true; }

  // All ways to match the rule's left side with node n, up to most_matches; they are there until the next call.
  constexpr const vector<match>& find(const rule& r, const node& n) {
    left_ = &r.left;
    found_.clear();
    if (!may_match(n)) return found_;
    goals_.clear();
    steps_ = 0;
    goals_.push_back({r.left.root_index(), n.output});
    solve(0);
    return found_;
  }

 private:
  static constexpr std::uint8_t no_chain = 0xff;

  // Either a term is to be matched with a value, or the next operand of a chain is to be picked.
  struct goal {
    std::uint8_t term = 0;
    value_id value = none;
    std::uint8_t chain = no_chain, next = 0;
  };
  struct chain {
    node_id root = none;
    static_vector<value_id, most_operands_of_chain> operands;   // of the graph
    static_vector<std::uint8_t, most_operands_of_chain> terms;  // of the pattern, to be found among them
    unsigned taken = 0;                                         // operands, a bit each
    std::uint8_t rest = no_chain;                               // the term, a variable, that stands for all left over
  };

  static constexpr std::size_t most_inputs = 3;  // of a term

  // As far as one look at each operand of n tells, which is enough to leave out most rules.
  constexpr bool may_match(const node& n) const {
    const term& t = left_->root();
    if (n.inputs.count != t.inputs) return false;
    const bool commutes = t.inputs == 2 && has(n.op->properties.laws, algebra::commutative);
    if (commutes && has(n.op->properties.laws, algebra::associative) && (continues(n, 0) || continues(n, 1)))
      return true;
    if (commutes && is_nested(t)) return false;
    bool in_order = true, swapped = commutes;
    for (std::size_t i = 0; i < t.inputs && in_order; ++i) in_order = may_match(t.input[i], g_.input_of(n, i));
    for (std::size_t i = 0; i < t.inputs && swapped; ++i) swapped = may_match(t.input[i], g_.input_of(n, 1 - i));
    return in_order || swapped;
  }
  constexpr bool may_match(std::uint8_t index, value_id v) const {
    const term& t = left_->terms.items[index];
    if (t.is == term::what::variable) return may_be(t, v);
    if (t.is == term::what::number) return is_number(v, t.number);
    const node* const n = facts_.producer_of(v);
    return n != nullptr && is_operator(t, *n);
  }
  static constexpr bool is_operator(const term& t, const node& n) {
    if (n.inputs.count != t.inputs) return false;
    if (t.is == term::what::operation) return n.op->id == t.op->id;
    return n.op->kind == form::elementwise && has_all(n.op->properties.laws, t.laws);
  }

  constexpr void solve(std::size_t k) {
    if (++steps_ > most_steps || found_.count == most_matches) return;
    if (goals_.count + most_inputs > goals_.capacity() || now_.nodes.count == now_.nodes.capacity()) return;
    if (k == goals_.count) return found_.push_back(now_);
    const goal x = goals_.items[k];
    if (x.chain != no_chain) return pick(x, k);
    const term& t = left_->terms.items[x.term];
    if (t.is == term::what::variable) {
      if (may_be(t, x.value)) bind(now_.bound.values[t.name], x.value, k);
    } else if (t.is == term::what::number) {
      if (is_number(x.value, t.number)) solve(k + 1);
    } else match_operator(x.term, x.value, k);
  }

  // Goes on with v in `place`, or, where something is in it already, if that is the same.
  constexpr void bind(value_id& place, value_id v, std::size_t k) {
    if (place == none) {
      place = v;
      solve(k + 1);
      place = none;
    } else if (is_same(place, v)) solve(k + 1);
  }
  constexpr bool is_same(value_id a, value_id b) const {
    if (a == b) return true;
    const auto known = static_cast<value_id>(g_.values.count);
    return a < known && b < known && is_same_value(g_, a, b);
  }
  constexpr bool may_be(const term& t, value_id v) const {
    if (t.range == stands_for::tensor) return true;
    if (!facts_.is_setup(v)) return false;
    if (t.range == stands_for::setup) return true;
    for (const dim d : g_.at(v).type.dims)
      if (!(d == dim(1))) return false;
    return true;
  }
  // A constant may have been moved.
  constexpr bool is_number(value_id v, double x) const {
    v = unmoved(g_, v);
    const value& at = g_.at(v);
    if (at.from != origin::constant || !is_floating(at.type.type)) return false;
    for (std::size_t i = 0; i < at.data.count; ++i)
      if (const double is = std::bit_cast<double>(g_.constants[at.data.first + i]);
          rounded_to(at.type.type, is) != rounded_to(at.type.type, x))
        return false;
    return at.data.count != 0;
  }
  constexpr void match_operator(std::uint8_t index, value_id v, std::size_t k) {
    const term& t = left_->terms.items[index];
    const node* const n = facts_.producer_of(v);
    if (n == nullptr || !is_operator(t, *n)) return;
    const node_id number = facts_.number_of(*n);
    node_id* place = nullptr;  // for the operator's number, where the pattern names it or its attributes
    if (t.is == term::what::operation) {
      if (t.slot != term::no_slot) place = &now_.bound.slots[t.slot];
      else if (!has_codes(*n, t)) return;
    } else {
      place = t.is == term::what::unary ? &now_.bound.unary : &now_.bound.binary;
    }
    if (place != nullptr && *place != none && !is_like(g_.node_at(*place), *n, t)) return;
    const bool names = place != nullptr && *place == none;
    if (names) *place = number;
    now_.nodes.push_back(number);
    match_operands(index, *n, k);
    now_.nodes.pop_back();
    if (names) *place = none;
  }
  constexpr bool has_codes(const node& n, const term& t) const {
    if (any_attributes_) return true;
    if (n.attributes.count != t.codes) return false;
    for (std::size_t i = 0; i < t.codes; ++i)
      if (g_.attributes_of(n)[i] != left_->attributes.items[t.first_code + i]) return false;
    return true;
  }
  // The same attributes; of operators that are variables, the same operator besides.
  constexpr bool is_like(const node& a, const node& b, const term& t) const {
    if (t.is != term::what::operation && a.op->id != b.op->id) return false;
    if (a.attributes.count != b.attributes.count) return false;
    for (std::size_t i = 0; i < a.attributes.count; ++i)
      if (g_.attributes_of(a)[i] != g_.attributes_of(b)[i]) return false;
    return true;
  }

  constexpr void match_operands(std::uint8_t index, const node& n, std::size_t k) {
    const term& t = left_->terms.items[index];
    const bool commutes = t.inputs == 2 && has(n.op->properties.laws, algebra::commutative);
    const std::size_t before = goals_.count;
    if (!(commutes && is_nested(t))) {
      for (int order = 0; order < (commutes ? 2 : 1); ++order) {
        for (std::uint8_t i = 0; i < t.inputs; ++i)
          goals_.push_back({t.input[order == 0 ? i : 1 - i], g_.input_of(n, i)});
        solve(k + 1);
        goals_.resize(before);
      }
    }
    if (commutes && has(n.op->properties.laws, algebra::associative) && chains_.count < chains_.capacity())
      match_chain(index, n, k);
  }
  // Has the term an operand that is the same operator?
  constexpr bool is_nested(const term& t) const {
    for (std::size_t i = 0; i < t.inputs; ++i)
      if (is_like_operator(left_->terms.items[t.input[i]], t)) return true;
    return false;
  }
  static constexpr bool is_like_operator(const term& a, const term& b) {
    return a.is == b.is && a.is == term::what::operation && a.op->id == b.op->id && a.slot == b.slot;
  }

  constexpr void match_chain(std::uint8_t index, const node& n, std::size_t k) {
    if (!continues(n, 0) && !continues(n, 1)) return;
    chain c;
    c.root = facts_.number_of(n);
    const std::size_t nodes_before = now_.nodes.count;
    if (collect_operands(c, n) && collect_terms(c, index) && c.operands.count >= c.terms.count) {
      const auto number = static_cast<std::uint8_t>(chains_.count);
      const std::size_t before = goals_.count;
      chains_.push_back(c);
      goals_.push_back({.chain = number, .next = 0});
      solve(k + 1);
      goals_.resize(before);
      chains_.pop_back();
    }
    now_.nodes.resize(nodes_before);
  }
  // Is operand i of n computed by another operator like it, for n alone?
  constexpr bool continues(const node& n, std::size_t i) const {
    const value_id v = g_.input_of(n, i);
    const node* const inner = facts_.producer_of(v);
    return inner != nullptr && inner->op->id == n.op->id && facts_.has_one_reader(v) && !facts_.is_setup(v);
  }
  // What the chain of operators like n, of which none but n is read by others, is computed of.
  constexpr bool collect_operands(chain& c, const node& n) {
    for (std::size_t i = 0; i < 2; ++i) {
      const value_id v = g_.input_of(n, i);
      if (continues(n, i)) {
        const node& inner = *facts_.producer_of(v);
        if (now_.nodes.count == now_.nodes.capacity()) return false;
        now_.nodes.push_back(facts_.number_of(inner));
        if (!collect_operands(c, inner)) return false;
      } else {
        if (c.operands.count == c.operands.capacity()) return false;
        c.operands.push_back(v);
      }
    }
    return true;
  }
  // Those of the pattern: variables last, which fit anything.
  constexpr bool collect_terms(chain& c, std::uint8_t index) const {
    for (const bool variables : {false, true})
      if (!collect_terms(c, index, variables)) return false;
    return true;
  }
  constexpr bool collect_terms(chain& c, std::uint8_t index, bool variables) const {
    const term& t = left_->terms.items[index];
    for (std::size_t i = 0; i < t.inputs; ++i) {
      const term& input = left_->terms.items[t.input[i]];
      if (is_like_operator(input, t)) {
        if (!collect_terms(c, t.input[i], variables)) return false;
      } else if (variables == (input.is == term::what::variable && input.range == stands_for::tensor)) {
        if (c.terms.count == c.terms.capacity()) return false;
        c.terms.push_back(t.input[i]);
      }
    }
    return true;
  }

  constexpr void pick(const goal& x, std::size_t k) {
    chain& c = chains_.items[x.chain];
    if (x.next == c.terms.count) return end_chain(x, k);
    const std::size_t before = goals_.count;
    const std::uint8_t index = c.terms.items[x.next];
    for (std::size_t i = 0; i < c.operands.count; ++i) {
      if ((c.taken >> i & 1) != 0) continue;
      c.taken |= 1u << i;
      goals_.push_back({index, c.operands.items[i]});
      goals_.push_back({.chain = x.chain, .next = static_cast<std::uint8_t>(x.next + 1)});
      solve(k + 1);
      goals_.resize(before);
      c.taken &= ~(1u << i);
    }
    const term& t = left_->terms.items[index];
    if (x.chain == 0 && c.root == root()) return;  // what is left over stays beside
    if (t.is != term::what::variable || c.rest != no_chain || c.operands.count <= c.terms.count) return;
    c.rest = index;
    goals_.push_back({.chain = x.chain, .next = static_cast<std::uint8_t>(x.next + 1)});
    solve(k + 1);
    goals_.resize(before);
    c.rest = no_chain;
  }
  constexpr node_id root() const { return now_.nodes.items[0]; }

  constexpr void end_chain(const goal& x, std::size_t k) {
    chain& c = chains_.items[x.chain];
    static_vector<value_id, most_operands_of_chain> left_over;
    for (std::size_t i = 0; i < c.operands.count; ++i)
      if ((c.taken >> i & 1) == 0) left_over.push_back(c.operands.items[i]);
    if (left_over.count == 0) {
      if (c.rest == no_chain) solve(k + 1);
    } else if (c.rest != no_chain) {
      const std::size_t before = now_.made.count;
      value_id all = left_over.items[0];
      for (std::size_t i = 1; i < left_over.count; ++i) {
        if (now_.made.count == now_.made.capacity()) return now_.made.resize(before);
        now_.made.push_back({c.root, all, left_over.items[i]});
        all = static_cast<value_id>(g_.values.count + now_.made.count - 1);
      }
      const term& t = left_->terms.items[c.rest];
      if (left_over.count == 1 || t.range == stands_for::tensor) bind(now_.bound.values[t.name], all, k);
      now_.made.resize(before);
    } else if (c.root == root() && now_.beside.count == 0) {
      for (const value_id v : left_over) now_.beside.push_back(v);
      solve(k + 1);
      now_.beside.clear();
    }
  }

  const graph_facts& facts_;
  const graph& g_;
  const pattern* left_ = nullptr;
  match now_;
  static_vector<goal, 48> goals_;  // these, and what is bound, are as they were when a goal was not met
  static_vector<chain, 4> chains_;
  vector<match> found_;
  std::size_t steps_ = 0;
  bool any_attributes_ = false;
};

}  // namespace dnnkit::rewrite
