// SPDX-License-Identifier: MIT
// Patterns: expressions over variables, as values. They are written with the functions that models are written with,
//   dk::exp(a) * dk::exp(b)      dk::reduce_sum(a * s) [p]      f(dk::slice(a) [p])
// and a rule (rewrite/rule.hpp) has one on either side. A pattern knows nothing of graphs; rewrite/matcher.hpp finds it
// in one, and rewrite/replacement.hpp builds it.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include "dnnkit/core/static_vector.hpp"
#include "dnnkit/op/arithmetic.hpp"
#include "dnnkit/operator/op_info.hpp"
#include "dnnkit/rewrite/mistake.hpp"

namespace dnnkit::rewrite {

// What a variable stands for.
enum class stands_for : std::uint8_t {
  tensor,  // any value
  setup,   // a value that is known before the run: computed from weights and constants
  number   // a setup value of one element
};

struct term {
  enum class what : std::uint8_t { variable, number, operation, unary, binary };

  static constexpr std::uint8_t no_slot = 0xff;

  const op_info* op = &no_operator;  // of an operation
  double number = 0;
  what is = what::variable;
  stands_for range = stands_for::tensor;  // of a variable
  std::uint8_t name = 0;                  // of a variable, or of an operator that is one
  std::uint8_t slot = no_slot;            // of an operation: the name of its attributes
  algebra laws = algebra::none;           // that an operator which is a variable must have
  std::uint8_t inputs = 0;
  std::uint8_t input[3] = {};              // numbers of terms
  std::uint8_t first_code = 0, codes = 0;  // its attributes, if no slot names them
};

inline constexpr std::size_t most_terms = 14, most_variables = 9, most_slots = 2, most_codes = 4;
inline constexpr std::uint8_t too_many = 0xff;  // codes of a term: more than there is room for, which are not there

// A tree of terms, inputs before the operators that read them; the last is its root.
struct pattern {
  static constexpr bool is_pattern = true;

  static_vector<term, most_terms> terms;
  static_vector<std::int64_t, most_codes> attributes;  // of operations that no slot names those of

  constexpr pattern() = default;
  constexpr pattern(double x) { terms.push_back({.number = x, .is = term::what::number}); }
  constexpr explicit pattern(const term& t) { terms.push_back(t); }

  constexpr const term& root() const { return terms.back(); }
  constexpr std::uint8_t root_index() const { return static_cast<std::uint8_t>(terms.size() - 1); }

  // The same operation with any attributes; within a rule, those of operations with one slot are equal.
  constexpr pattern operator[](const struct slot& s) const;

  // `t` applied to these.
  template <std::same_as<pattern>... P> static constexpr pattern of(term t, const P&... inputs) {
    pattern p;
    (p.append(t, inputs), ...);
    p.add(t);
    return p;
  }
  // What functions of operators make of patterns (operator/function.hpp).
  template <operator_type Op, std::same_as<pattern>... P>
  static constexpr pattern apply(const Op& op, const P&... inputs) {
    pattern p = of({.op = &info_of<Op>, .is = term::what::operation}, inputs...);
    if constexpr (detail::has_attributes<Op>) {
      vector<std::int64_t> codes;
      encode(op, codes);
      p.terms.back().first_code = static_cast<std::uint8_t>(p.attributes.size());
      p.terms.back().codes = static_cast<std::uint8_t>(codes.size());
      if (p.attributes.count + codes.count > most_codes)
        p.terms.back().codes = too_many;  // of these only a slot can say
      else
        for (const std::int64_t code : codes) p.attributes.push_back(code);
    }
    return p;
  }

 private:
  // Behind the terms that there are; a variable that is among them is not said again.
  constexpr void append(term& reader, const pattern& p) {
    std::uint8_t number[most_terms] = {};
    const auto first_code = static_cast<std::uint8_t>(attributes.size());
    for (std::size_t k = 0; k < p.terms.count; ++k) {
      term t = p.terms.items[k];
      for (std::size_t i = 0; i < t.inputs; ++i) t.input[i] = number[t.input[i]];
      t.first_code = static_cast<std::uint8_t>(t.first_code + first_code);
      std::size_t at = t.is == term::what::variable ? 0 : terms.count;
      while (at < terms.count && !(terms.items[at].is == t.is && terms.items[at].name == t.name)) ++at;
      if (at == terms.count) add(t);
      number[k] = static_cast<std::uint8_t>(at);
    }
    if (attributes.count + p.attributes.count > most_codes) mistake::attributes_have_more_numbers_than<most_codes>();
    for (std::size_t i = 0; i < p.attributes.count; ++i) attributes.push_back(p.attributes.items[i]);
    reader.input[reader.inputs++] = number[p.terms.count - 1];
  }
  constexpr void add(const term& t) {
    if (terms.count == most_terms) mistake::a_side_has_more_terms_than<most_terms>();
    terms.push_back(t);
  }
};

// A name for attributes.
struct slot {
  std::uint8_t name = 0;
};
constexpr pattern pattern::operator[](const slot& s) const {
  pattern p = *this;
  term& t = p.terms.back();
  if (t.codes != 0 && t.codes != too_many) p.attributes.resize(t.first_code);
  t.codes = 0;
  t.slot = s.name;
  return p;
}

// Variables for operators: element-wise ones of one and of two operands, with their attributes.
struct unary_variable {
  std::uint8_t name = 0;
  algebra laws = algebra::none;
  constexpr pattern operator()(const pattern& x) const {
    return pattern::of({.is = term::what::unary, .name = name, .laws = laws}, x);
  }
};
struct binary_variable {
  std::uint8_t name = 0;
  algebra laws = algebra::none;
  constexpr pattern operator()(const pattern& x, const pattern& y) const {
    return pattern::of({.is = term::what::binary, .name = name, .laws = laws}, x, y);
  }
};

constexpr pattern variable(std::uint8_t name, stands_for range = stands_for::tensor) {
  return pattern(term{.is = term::what::variable, .range = range, .name = name});
}

constexpr pattern operator+(const pattern& a, const pattern& b) { return pattern::apply(op::add{}, a, b); }
constexpr pattern operator-(const pattern& a, const pattern& b) { return pattern::apply(op::sub{}, a, b); }
constexpr pattern operator*(const pattern& a, const pattern& b) { return pattern::apply(op::mul{}, a, b); }
constexpr pattern operator/(const pattern& a, const pattern& b) { return pattern::apply(op::div{}, a, b); }
constexpr pattern operator-(const pattern& a) { return pattern::apply(op::neg{}, a); }

// Names that rules are written with.
namespace names {
inline constexpr pattern a = variable(0), b = variable(1), c = variable(2), d = variable(3);
inline constexpr pattern u = variable(4, stands_for::setup), v = variable(5, stands_for::setup),
                         w = variable(6, stands_for::setup);
inline constexpr pattern s = variable(7, stands_for::number), t = variable(8, stands_for::number);
inline constexpr pattern zero(0.0);
inline constexpr unary_variable f{0};
inline constexpr unary_variable projection{0, algebra::projection};
inline constexpr binary_variable g{0}, selection{0, algebra::idempotent},
    joined_selection{0, algebra::idempotent | algebra::associative};
inline constexpr slot p{0}, q{1};
}  // namespace names

}  // namespace dnnkit::rewrite
