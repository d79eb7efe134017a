// SPDX-License-Identifier: MIT
// A dimension: known | expression over symbols | unknown. Expressions are canonical polynomials kept in a symbol_table,
// so two dimensions are equal exactly when their codes are (SoD2, section 4.1: known, symbolic and operation-inferred
// constants of the lattice; "unknown" is its nac).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "dnnkit/core/static_vector.hpp"
#include "dnnkit/core/text.hpp"

namespace dnnkit {

struct dim {
  constexpr dim() = default;
  constexpr dim(std::int64_t extent) : code(extent) {}

  static constexpr dim unknown() { return dim(-1); }
  static constexpr dim of_expression(std::size_t index) { return dim(-2 - static_cast<std::int64_t>(index)); }

  constexpr bool is_known() const { return code >= 0; }
  constexpr bool is_unknown() const { return code == -1; }
  constexpr bool is_expression() const { return code <= -2; }
  constexpr std::int64_t value() const { return code; }
  constexpr std::size_t expression() const { return static_cast<std::size_t>(-2 - code); }
  friend constexpr bool operator==(dim, dim) = default;

  std::int64_t code = -1;
};

struct bounds {
  std::int64_t min = 0;
  std::int64_t max = std::numeric_limits<std::int32_t>::max();
};

struct symbol {
  text name;
  bounds limits;
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

class symbol_table {
 public:
  std::vector<symbol> symbols;
  std::vector<atom> atoms;
  std::vector<polynomial> polynomials;

  // The dimension named `name`; the same name always gives the same dimension, with the bounds of its first mention.
  constexpr dim symbol_named(std::string_view name, bounds limits) {
    for (std::size_t i = 0; i < symbols.size(); ++i)
      if (symbols[i].name.view() == name) return from_atom({atom_kind::symbol, static_cast<std::int64_t>(i), 0});
    symbols.push_back({text(name), limits});
    return from_atom({atom_kind::symbol, static_cast<std::int64_t>(symbols.size() - 1), 0});
  }

  constexpr dim add(dim a, dim b) {
    if (a.is_known() && b.is_known()) return a.value() + b.value();
    if (a.is_unknown() || b.is_unknown()) return dim::unknown();
    return intern(sum(terms(a), terms(b), 1));
  }
  constexpr dim sub(dim a, dim b) {
    if (a.is_known() && b.is_known() && a.value() >= b.value()) return a.value() - b.value();
    if (a.is_unknown() || b.is_unknown()) return dim::unknown();
    return intern(sum(terms(a), terms(b), -1));
  }
  constexpr dim add(dim a, std::int64_t b) {
    if (a.is_unknown()) return a;
    return intern(sum(terms(a), constant(b), 1));
  }
  constexpr dim mul(dim a, dim b) {
    if (a.is_known() && b.is_known()) return a.value() * b.value();
    if (a == dim(0) || b == dim(0)) return 0;
    if (a.is_unknown() || b.is_unknown()) return dim::unknown();
    polynomial result;
    for (const monomial& x : terms(a))
      for (const monomial& y : terms(b)) result = sum(result, polynomial{product(x, y)}, 1);
    return intern(result);
  }

  // floor(a / b), b > 0. A part of the sum that b divides leaves the floor: floor((b q + r) / b) = q + floor(r / b).
  constexpr dim floor_div(dim a, dim b) {
    if (b == dim(1)) return a;
    if (a.is_known() && b.is_known() && b.value() > 0) return a.value() / b.value();
    if (a.is_unknown() || b.is_unknown() || b == dim(0)) return dim::unknown();
    polynomial quotient, rest;
    split(a, b, quotient, rest);
    if (rest.empty()) return intern(quotient);
    if (b.is_known() && rest.size() == 1 && rest[0].factors.empty()) {
      const std::int64_t r = rest[0].coefficient;
      const std::int64_t floor_of_rest = r >= 0 ? r / b.value() : -((-r + b.value() - 1) / b.value());
      return intern(sum(quotient, constant(floor_of_rest), 1));
    }
    const dim r = intern(rest);
    if (r.is_unknown()) return r;
    return intern(sum(quotient, terms(from_atom({atom_kind::floor_div, r, b})), 1));
  }
  constexpr dim ceil_div(dim a, dim b) {
    if (b == dim(1)) return a;
    return floor_div(add(a, add(b, -1)), b);
  }
  // a / b when b divides a exactly as polynomials, else unknown.
  constexpr dim exact_div(dim a, dim b) {
    if (b == dim(1) || a == b) return a == b ? dim(1) : a;
    if (a.is_known() && b.is_known())
      return b.value() != 0 && a.value() % b.value() == 0 ? dim(a.value() / b.value()) : dim::unknown();
    if (a.is_unknown() || b.is_unknown() || b == dim(0)) return dim::unknown();
    polynomial quotient, rest;
    split(a, b, quotient, rest);
    return rest.empty() ? intern(quotient) : dim::unknown();
  }
  constexpr dim mod(dim a, dim b) {
    if (a.is_known() && b.is_known() && b.value() > 0) return a.value() % b.value();
    if (a.is_unknown() || b.is_unknown() || b == dim(0)) return dim::unknown();
    if (!exact_div(a, b).is_unknown()) return 0;
    return from_atom({atom_kind::mod, a, b});
  }
  constexpr dim min(dim a, dim b) { return extremum(atom_kind::min, a, b); }
  constexpr dim max(dim a, dim b) { return extremum(atom_kind::max, a, b); }

  // The value of `d` when symbol i has values[i].
  constexpr std::int64_t evaluate(dim d, const std::int64_t* values) const {
    if (d.is_known()) return d.value();
    std::int64_t total = 0;
    for (const monomial& m : polynomials[d.expression()]) {
      std::int64_t term = m.coefficient;
      for (std::uint16_t f : m.factors) term *= evaluate(atoms[f], values);
      total += term;
    }
    return total;
  }

  // Bounds of `d` over all legal values of the symbols, by interval arithmetic (not necessarily tight).
  constexpr bounds range(dim d) const {
    if (d.is_known()) return {d.value(), d.value()};
    if (d.is_unknown()) return {};
    bounds total{0, 0};
    for (const monomial& m : polynomials[d.expression()]) {
      bounds term{m.coefficient, m.coefficient};
      for (std::uint16_t f : m.factors) term = times(term, range(atoms[f]));
      total = {total.min + term.min, total.max + term.max};
    }
    return total;
  }

  // The symbol that `d` is, alone; nothing for any other dimension.
  constexpr std::optional<std::size_t> symbol_of(dim d) const {
    if (!d.is_expression()) return std::nullopt;
    const polynomial& p = polynomials[d.expression()];
    if (p.size() != 1 || p[0].coefficient != 1 || p[0].factors.size() != 1) return std::nullopt;
    const atom& a = atoms[p[0].factors[0]];
    return a.kind == atom_kind::symbol ? std::optional(static_cast<std::size_t>(a.a.value())) : std::nullopt;
  }
  // Whether the value of `d` depends on symbol `i`.
  constexpr bool uses(dim d, std::size_t i) const {
    if (!d.is_expression()) return false;
    for (const monomial& m : polynomials[d.expression()])
      for (std::uint16_t f : m.factors) {
        const atom& a = atoms[f];
        if (a.kind == atom_kind::symbol ? a.a == dim(static_cast<std::int64_t>(i)) : uses(a.a, i) || uses(a.b, i))
          return true;
      }
    return false;
  }

  constexpr text print(dim d) const {
    text t;
    print(t, d);
    return t;
  }

 private:
  static constexpr polynomial constant(std::int64_t n) { return n == 0 ? polynomial{} : polynomial{monomial{n, {}}}; }

  constexpr polynomial terms(dim d) const { return d.is_known() ? constant(d.value()) : polynomials[d.expression()]; }

  constexpr dim intern(const polynomial& p) {
    if (p.empty()) return 0;
    if (p.size() == 1 && p[0].factors.empty() && p[0].coefficient >= 0) return p[0].coefficient;
    for (std::size_t i = 0; i < polynomials.size(); ++i)
      if (polynomials[i] == p) return dim::of_expression(i);
    polynomials.push_back(p);
    return dim::of_expression(polynomials.size() - 1);
  }

  constexpr dim from_atom(const atom& a) {
    std::size_t i = 0;
    while (i < atoms.size() && !(atoms[i] == a)) ++i;
    if (i == atoms.size()) atoms.push_back(a);
    monomial m{1, {}};
    m.factors.push_back(static_cast<std::uint16_t>(i));
    return intern(polynomial{m});
  }

  constexpr dim extremum(atom_kind kind, dim a, dim b) {
    if (a == b) return a;
    if (a.is_unknown() || b.is_unknown()) return dim::unknown();
    const bounds x = range(a), y = range(b);
    const bool a_below = x.max <= y.min, b_below = y.max <= x.min;
    if (a_below || b_below) return (kind == atom_kind::min) == a_below ? a : b;
    return from_atom({kind, a, b});
  }

  static constexpr int compare(const monomial& a, const monomial& b) {
    for (std::size_t i = 0; i < a.factors.size() && i < b.factors.size(); ++i)
      if (a.factors[i] != b.factors[i]) return a.factors[i] < b.factors[i] ? -1 : 1;
    return a.factors.size() == b.factors.size() ? 0 : (a.factors.size() < b.factors.size() ? -1 : 1);
  }

  // a + sign * b
  static constexpr polynomial sum(const polynomial& a, const polynomial& b, std::int64_t sign) {
    polynomial r;
    std::size_t i = 0, j = 0;
    while (i < a.size() || j < b.size()) {
      const int order = i == a.size() ? 1 : j == b.size() ? -1 : compare(a[i], b[j]);
      monomial m = order <= 0 ? a[i] : b[j];
      if (order > 0) m.coefficient *= sign;
      if (order == 0) m.coefficient += sign * b[j].coefficient;
      if (order <= 0) ++i;
      if (order >= 0) ++j;
      if (m.coefficient != 0) r.push_back(m);
    }
    return r;
  }

  static constexpr monomial product(const monomial& a, const monomial& b) {
    monomial m{a.coefficient * b.coefficient, {}};
    std::size_t i = 0, j = 0;
    while (i < a.factors.size() || j < b.factors.size()) {
      const bool from_a = j == b.factors.size() || (i < a.factors.size() && a.factors[i] <= b.factors[j]);
      m.factors.push_back(from_a ? a.factors[i++] : b.factors[j++]);
    }
    return m;
  }

  // m / by, coefficient and factors; false when by does not divide m.
  static constexpr bool divide(const monomial& m, const monomial& by, monomial& quotient) {
    if (by.coefficient == 0 || m.coefficient % by.coefficient != 0) return false;
    quotient = {m.coefficient / by.coefficient, {}};
    std::size_t j = 0;
    for (std::uint16_t f : m.factors)
      if (j < by.factors.size() && by.factors[j] == f) ++j;
      else quotient.factors.push_back(f);
    return j == by.factors.size();
  }

  // a = b * quotient + rest: polynomial division by the leading (last) monomial of b.
  constexpr void split(dim a, dim b, polynomial& quotient, polynomial& rest) const {
    const polynomial divisor = terms(b);
    polynomial left = terms(a);
    quotient.clear();
    rest.clear();
    while (!left.empty()) {
      monomial q;
      if (divide(left.back(), divisor.back(), q)) {
        quotient = sum(quotient, polynomial{q}, 1);
        polynomial scaled;
        for (const monomial& m : divisor) scaled = sum(scaled, polynomial{product(m, q)}, 1);
        left = sum(left, scaled, -1);
      } else {
        rest = sum(rest, polynomial{left.back()}, 1);
        left.pop_back();
      }
    }
  }

  constexpr std::int64_t evaluate(const atom& x, const std::int64_t* values) const {
    if (x.kind == atom_kind::symbol) return values[x.a.value()];
    const std::int64_t a = evaluate(x.a, values), b = evaluate(x.b, values);
    const std::int64_t quotient = b == 0 ? 0 : a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
    switch (x.kind) {
      case atom_kind::floor_div:
        return quotient;
      case atom_kind::mod:
        return a - quotient * b;
      case atom_kind::min:
        return a < b ? a : b;
      default:
        return a < b ? b : a;
    }
  }

  static constexpr bounds times(bounds x, bounds y) {
    const std::int64_t p[] = {x.min * y.min, x.min * y.max, x.max * y.min, x.max * y.max};
    bounds r{p[0], p[0]};
    for (std::int64_t v : p) r = {v < r.min ? v : r.min, v > r.max ? v : r.max};
    return r;
  }

  constexpr bounds range(const atom& x) const {
    if (x.kind == atom_kind::symbol) return symbols[static_cast<std::size_t>(x.a.value())].limits;
    const bounds a = range(x.a), b = range(x.b);
    const std::int64_t least = b.min > 1 ? b.min : 1;
    switch (x.kind) {
      case atom_kind::floor_div:
        return {a.min >= 0 ? a.min / (b.max > 0 ? b.max : 1) : a.min, a.max / least};
      case atom_kind::mod:
        return {0, b.max - 1};
      case atom_kind::min:
        return {a.min < b.min ? a.min : b.min, a.max < b.max ? a.max : b.max};
      default:
        return {a.min > b.min ? a.min : b.min, a.max > b.max ? a.max : b.max};
    }
  }

  constexpr void print(text& t, dim d) const {
    if (d.is_known()) {
      t << d.value();
      return;
    }
    if (d.is_unknown()) {
      t << "?";
      return;
    }
    const polynomial& p = polynomials[d.expression()];
    for (std::size_t i = p.size(); i-- > 0;) {
      std::int64_t c = p[i].coefficient;
      if (i + 1 < p.size()) t << (c < 0 ? "-" : "+");
      else if (c < 0) t << "-";
      if (c < 0) c = -c;
      if (c != 1 || p[i].factors.empty()) t << c;
      for (std::size_t f = 0; f < p[i].factors.size(); ++f) {
        if (f > 0 || c != 1) t << "*";
        print(t, atoms[p[i].factors[f]]);
      }
    }
  }

  constexpr void print(text& t, const atom& x) const {
    constexpr std::string_view names[] = {"", "floor_div", "mod", "min", "max"};
    if (x.kind == atom_kind::symbol) {
      t << symbols[static_cast<std::size_t>(x.a.value())].name;
      return;
    }
    t << names[static_cast<std::size_t>(x.kind)] << "(";
    print(t, x.a);
    t << ", ";
    print(t, x.b);
    t << ")";
  }
};

}  // namespace dnnkit
