// SPDX-License-Identifier: MIT
// Dimensions as numbers of expressions, and the canonical polynomials that expressions are: sums of products of atoms
// in one order, so that equal ones are equal member by member.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include "dnnkit/core/static_vector.hpp"
#include "dnnkit/tensor/symbol.hpp"

namespace dnnkit {

struct dim {
  dim() = default;  // unknown when value-initialised, dim{}; trivial, so that compilers make arrays of dims at no cost
  // -1 means unknown. A known extent is not negative: std::invalid_argument, a compile error in a constant expression.
  constexpr dim(std::int64_t extent) : code(~extent) {
    if (extent < -1) throw std::invalid_argument("dnnkit: a dimension is negative");
  }

  static constexpr dim unknown() { return dim{}; }
  static constexpr dim of_code(std::int64_t code) {
    dim d{};
    d.code = code;
    return d;
  }
  static constexpr dim of_expression(std::size_t index) { return of_code(static_cast<std::int64_t>(index) + 1); }

  constexpr bool is_known() const { return code < 0; }
  constexpr bool is_unknown() const { return code == 0; }
  constexpr bool is_expression() const { return code > 0; }
  constexpr std::int64_t value() const { return ~code; }
  constexpr std::size_t expression() const { return static_cast<std::size_t>(code - 1); }
  friend constexpr bool operator==(dim a, dim b) { return a.code == b.code; }
  friend constexpr bool operator==(dim a, std::int64_t extent) { return a.code == ~extent; }  // -1: unknown

  std::int64_t code;  // 0: unknown; below: the complement of a known extent; above: 1 + the number of an expression
};

// What cannot be written as a sum of products of smaller things.
enum class atom_kind : std::uint8_t { symbol, floor_div, mod, min, max };
struct atom {
  atom_kind kind{};
  dim a, b;  // symbol: a = index of the symbol
  friend constexpr bool operator==(const atom&, const atom&) = default;
};

// coefficient * product of atoms (indices ascending)
struct monomial {
  std::int64_t coefficient = 0;
  static_vector<std::uint16_t, 6> factors;
  friend constexpr bool operator==(const monomial&, const monomial&) = default;
};

// Sum of monomials, ordered by their factors; the constant term, if any, comes first. Empty is zero.
using polynomial = static_vector<monomial, 12>;

namespace detail::polynomials {

constexpr bool is_constant(const polynomial& p) { return p.empty() || (p.size() == 1 && p[0].factors.empty()); }

// Lexicographic, the largest atom deciding first, so that m < n implies m k < n k: what division relies on.
constexpr int compare(const monomial& a, const monomial& b) {
  std::size_t i = a.factors.size(), j = b.factors.size();
  while (i > 0 && j > 0)
    if (--i, --j; a.factors[i] != b.factors[j]) return a.factors[i] < b.factors[j] ? -1 : 1;
  return i == j ? 0 : (i < j ? -1 : 1);
}

constexpr bool multiply(const monomial& a, const monomial& b, monomial& r) {
  r = {};
  if (__builtin_mul_overflow(a.coefficient, b.coefficient, &r.coefficient)) return false;
  if (a.factors.size() + b.factors.size() > r.factors.capacity()) return false;
  std::size_t i = 0, j = 0;
  while (i < a.factors.size() || j < b.factors.size()) {
    const bool from_a = j == b.factors.size() || (i < a.factors.size() && a.factors[i] <= b.factors[j]);
    r.factors.push_back(from_a ? a.factors[i++] : b.factors[j++]);
  }
  return true;
}

// m / by, coefficient and factors; false when by does not divide m.
constexpr bool divide(const monomial& m, const monomial& by, monomial& quotient) {
  if (by.coefficient == 0 || m.coefficient % by.coefficient != 0) return false;
  quotient = {m.coefficient / by.coefficient, {}};
  std::size_t j = 0;
  for (std::uint16_t f : m.factors)
    if (j < by.factors.size() && by.factors[j] == f) ++j;
    else quotient.factors.push_back(f);
  return j == by.factors.size();
}

// A polynomial under construction; ok = false: a coefficient left 64 bits or there were too many terms or factors.
struct sum {
  polynomial p;
  bool ok = true;

  constexpr void add(const monomial& m) {
    std::size_t i = 0;
    while (i < p.size() && compare(p[i], m) < 0) ++i;
    if (i < p.size() && compare(p[i], m) == 0) {
      ok = ok && !__builtin_add_overflow(p[i].coefficient, m.coefficient, &p[i].coefficient);
      if (p[i].coefficient == 0) p.erase(i);
    } else if (m.coefficient != 0) {
      if (p.size() == polynomial::capacity()) ok = false;
      else p.insert(i, m);
    }
  }
  constexpr void add(const polynomial& q) {
    for (const monomial& m : q) add(m);
  }
  // adds factor * q
  constexpr void add(const monomial& factor, const polynomial& q) {
    for (const monomial& m : q) {
      monomial n;
      if (multiply(factor, m, n)) add(n);
      else ok = false;
    }
  }
};

constexpr sum product(const polynomial& a, const polynomial& b) {
  sum r;
  for (const monomial& m : a) r.add(m, b);
  return r;
}

// a = b * quotient + rest with every coefficient of rest in 0 ... b-1.
constexpr void divide_coefficients(const polynomial& a, std::int64_t b, sum& quotient, sum& rest) {
  for (const monomial& m : a) {
    const std::int64_t q = floor_quotient(m.coefficient, b);
    quotient.add(monomial{q, m.factors});
    rest.add(monomial{m.coefficient - q * b, m.factors});
  }
}

}  // namespace detail::polynomials

}  // namespace dnnkit
