// SPDX-License-Identifier: MIT
// Rules of rewriting, as data: what is replaced by what, under which conditions, and what that does to the elements.
//   rule(a * c + b * c == (a + b) * c, reassociates)
//   rule(dk::reduce_max(dk::relu(a))[p] == dk::relu(dk::reduce_max(a)[p]), exact)
//   rule(dk::reduce_sum(a * c)[p] == dk::reduce_sum(a)[p] * c, when(constant_along(c, p)), reassociates)
// A rule is applied where it lowers the work of the graph (rewrite/work.hpp), so that rewriting ends.
// (DNNFusion, section 3.4.2 and Table 3.4.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

#include "dnnkit/graph/graph.hpp"
#include "dnnkit/rewrite/mistake.hpp"
#include "dnnkit/rewrite/pattern.hpp"

namespace dnnkit::rewrite {

// What a rule does to elements that are numbers before and behind it.
enum class licence : std::uint8_t {
  exact,         // nothing, to the last bit; the sign of a zero aside
  reassociates,  // rounds in another order: a few units in the last place, where nothing cancels
  approximates   // what the operators' own rounding makes of it, in units in the last place that the rule says
};
struct licence_terms {
  licence kind = licence::exact;
  int ulp = 0;
};
inline constexpr licence_terms exact{licence::exact}, reassociates{licence::reassociates};
constexpr licence_terms approximates(int ulp) { return {licence::approximates, ulp}; }

// What rules a user allows: those of a kind and of the kinds before it; of those that approximate, all, or those of at
// most so many units in the last place each.
struct licence_limit {
  licence kind = licence::approximates;
  int ulp = std::numeric_limits<int>::max();

  constexpr licence_limit() = default;
  constexpr licence_limit(licence k) : kind(k) {}
  constexpr licence_limit(licence_terms t) : kind(t.kind) {
    if (kind == licence::approximates) ulp = t.ulp;
  }
  constexpr bool allows(licence_terms t) const { return t.kind < kind || (t.kind == kind && t.ulp <= ulp); }
};

// The mathematical property that a rule comes from.
// (The log gives it as the reason. Rules of idempotence are about elements of any type, others about floats and truth
// values.)
enum class law : std::uint8_t {
  associative,
  homomorphic,
  distributive,
  commutative,
  identity,
  inverse,
  idempotent,
  recognition
};
constexpr std::string_view text_of(law l) {
  constexpr std::string_view names[] = {
      "an associative law", "a homomorphism", "a distributive law", "a commutative law",
      "an identity",        "an inverse",     "idempotence",        "it is an operator, spelled out"};
  return names[static_cast<unsigned>(l)];
}

constexpr std::string_view text_of(licence l) {
  constexpr std::string_view names[] = {"exact", "reassociates", "approximates"};
  return names[static_cast<unsigned>(l)];
}

// What the variables, slots and operators of a pattern are in a graph.
struct binding {
  const graph* g = nullptr;
  static_vector<value_id, most_variables> values =
      static_vector<value_id, most_variables>::filled(most_variables, none);
  static_vector<node_id, most_slots> slots = static_vector<node_id, most_slots>::filled(most_slots, none);
  node_id unary = none, binary = none;

  // The value of a variable, if it is one of the graph: not one that matching has put together of several.
  constexpr const value* value_of(std::uint8_t variable) const {
    const value_id v = values[variable];
    return v == none || static_cast<std::size_t>(v) >= g->values.count ? nullptr : &g->at(v);
  }
};

constexpr bool always(const binding&, std::uint8_t, std::uint8_t) { return true; }

// What must hold of a match besides: of two of its variables, or of one and a slot.
struct condition {
  bool (*holds)(const binding&, std::uint8_t first, std::uint8_t second) = always;
  std::uint8_t first = 0, second = 0;
  enum class about : std::uint8_t { nothing, variable, slot } first_is{}, second_is{};
  std::string_view text;  // between their names
};

// Operators as bits, of which several share one: a quick way to tell that a pattern cannot be found.
constexpr std::uint64_t bit_of(const op_info& op) {
  return std::uint64_t{1} << (static_cast<std::uint64_t>(op.id) % 64);
}
constexpr std::uint64_t bits_of(const pattern& p) {
  std::uint64_t bits = 0;
  for (std::size_t k = 0; k < p.terms.count; ++k)
    if (p.terms.items[k].is == term::what::operation) bits |= bit_of(*p.terms.items[k].op);
  return bits;
}

// Of its root and of the operands of that, where a chain of one operator is one with all its operands.
constexpr std::uint64_t bits_near_root(const pattern& p) {
  const term& root = p.root();
  if (root.is != term::what::operation) return 0;
  vector<std::uint8_t> chain{p.root_index()};
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < chain.count; ++i) {
    const term& t = p.terms.items[chain.items[i]];
    bits |= bit_of(*t.op);
    for (std::size_t k = 0; k < t.inputs; ++k) {
      const term& input = p.terms.items[t.input[k]];
      if (input.is != term::what::operation) continue;
      if (has(t.op->properties.laws, algebra::associative) && input.op->id == t.op->id) chain.push_back(t.input[k]);
      else bits |= bit_of(*input.op);
    }
  }
  return bits;
}

// left == right, of which a rule replaces the left side by the right one.
struct equation {
  pattern left, right;
};
constexpr equation operator==(const pattern& left, const pattern& right) { return {left, right}; }

namespace detail {

inline constexpr std::string_view variable_names = "abcduvwst", slot_names = "pq";

// What the left side of a rule binds, a bit each.
struct names_bound {
  unsigned variables = 0, slots = 0;
  bool unary = false, binary = false;
};

// The compiler is to name the letter, so there is a function for each.
template <std::size_t... I> constexpr void say_no_variable(std::uint8_t name, std::index_sequence<I...>) {
  ((name == I ? mistake::the_left_side_has_no_variable<variable_names[I]>() : void()), ...);
}
template <std::size_t... I> constexpr void say_no_attributes(std::uint8_t slot, std::index_sequence<I...>) {
  ((slot == I ? mistake::the_left_side_has_no_attributes_named<slot_names[I]>() : void()), ...);
}
constexpr void check_variable(const names_bound& left, std::uint8_t name) {
  if ((left.variables >> name & 1) == 0) say_no_variable(name, std::make_index_sequence<most_variables>());
}
constexpr void check_slot(const names_bound& left, std::uint8_t slot) {
  if ((left.slots >> slot & 1) == 0) say_no_attributes(slot, std::make_index_sequence<most_slots>());
}

// What a rule may be wrong in whatever graph it meets (mistake.hpp).
constexpr void check(const term& t) {
  if (t.is == term::what::variable && t.name >= most_variables)
    mistake::there_are_no_more_variables_than<most_variables>();
  if (t.slot != term::no_slot && t.slot >= most_slots)
    mistake::there_are_no_more_names_of_attributes_than<most_slots>();
  if (t.codes == too_many) mistake::attributes_have_more_numbers_than<most_codes>();
}
constexpr names_bound checked(const pattern& left) {
  if (left.root().is == term::what::variable || left.root().is == term::what::number)
    mistake::the_left_side_is_no_operator();
  names_bound bound;
  for (std::size_t k = 0; k < left.terms.count; ++k) {
    const term& t = left.terms.items[k];
    check(t);
    if (t.is == term::what::variable) bound.variables |= 1u << t.name;
    if (t.slot != term::no_slot) bound.slots |= 1u << t.slot;
    bound.unary = bound.unary || t.is == term::what::unary;
    bound.binary = bound.binary || t.is == term::what::binary;
  }
  return bound;
}
constexpr void check(const names_bound& left, const pattern& right) {
  for (std::size_t k = 0; k < right.terms.count; ++k) {
    const term& t = right.terms.items[k];
    check(t);
    if (t.is == term::what::variable) check_variable(left, t.name);
    if (t.slot != term::no_slot) check_slot(left, t.slot);
    if (t.is == term::what::unary && !left.unary) mistake::the_left_side_has_no_operator_variable<'f'>();
    if (t.is == term::what::binary && !left.binary) mistake::the_left_side_has_no_operator_variable<'g'>();
  }
}
constexpr void check(const names_bound& left, condition::about what, std::uint8_t number) {
  if (what == condition::about::variable) check_variable(left, number);
  if (what == condition::about::slot) check_slot(left, number);
}

}  // namespace detail

struct rule {
  pattern left, right;
  condition needs{};
  licence_terms allowed{};
  law from{};
  std::uint64_t operators = 0, near = 0;  // of the left side, and of its root and that's operands, as bits (bit_of)

  constexpr rule() = default;
  constexpr rule(const equation& e, licence_terms l) : rule(e, condition{}, l) {}
  constexpr rule(const equation& e, const condition& c, licence_terms l)
      : left(e.left), right(e.right), needs(c), allowed(l), operators(bits_of(e.left)), near(bits_near_root(e.left)) {
    const detail::names_bound bound = detail::checked(e.left);
    detail::check(bound, e.right);
    detail::check(bound, c.first_is, c.first);
    detail::check(bound, c.second_is, c.second);
  }
};
constexpr const condition& when(const condition& c) { return c; }

// Rules that are defined together: rules_of(law::distributive, rule(...), rule(...)).
template <std::size_t N> struct rule_set { rule items[N]; };
template <std::same_as<rule>... Rules> constexpr rule_set<sizeof...(Rules)> rules_of(law from, const Rules&... rules) {
  rule_set<sizeof...(Rules)> set{{rules...}};
  for (rule& r : set.items) r.from = from;
  return set;
}

// A list of rules, as a value: those of sets with static storage, which are not copied; + joins two, or a list and a
// set that is a variable.
class rule_list {
 public:
  constexpr rule_list() = default;
  template <std::size_t N> constexpr rule_list(const rule_set<N>& set) { parts_.push_back({set.items, N}); }
  template <std::size_t N> constexpr rule_list(rule_set<N>&&) {
    static_assert(N == static_cast<std::size_t>(-1),
                  "dnnkit: a list refers to the rules of its sets, so these are variables with static storage: inline "
                  "constexpr auto mine = rules_of(...); inline constexpr rule_list list = rules::all + mine;");
  }

  friend constexpr rule_list operator+(const rule_list& a, const rule_list& b) {
    rule_list both = a;
    for (const part& p : b.parts_) {
      if (both.parts_.count == most_sets) mistake::a_list_has_more_sets_than<most_sets>();
      both.parts_.push_back(p);
    }
    return both;
  }

  constexpr std::size_t size() const {
    std::size_t count = 0;
    for (const part& p : parts_) count += p.count;
    return count;
  }
  constexpr const rule& operator[](std::size_t i) const {
    std::size_t k = 0;
    while (i >= parts_[k].count) i -= parts_[k++].count;
    return parts_[k].first[i];
  }
  // Is it this very rule, not one like it?
  constexpr bool has(const rule& r) const {
    for (const part& p : parts_)
      for (std::size_t i = 0; i < p.count; ++i)
        if (&p.first[i] == &r) return true;
    return false;
  }
  constexpr void for_each(auto visit) const {
    for (const part& p : parts_)
      for (std::size_t i = 0; i < p.count; ++i) visit(p.first[i]);
  }

 private:
  struct part {
    const rule* first = nullptr;
    std::size_t count = 0;
  };
  static constexpr std::size_t most_sets = 16;
  static_vector<part, most_sets> parts_;
};

}  // namespace dnnkit::rewrite
