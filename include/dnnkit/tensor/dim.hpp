// SPDX-License-Identifier: MIT
// A dimension: known | expression over symbols | unknown. Expressions are canonical polynomials kept in a symbol_table,
// so two dimensions are equal exactly when their codes are (SoD2, section 4.1: known, symbolic and operation-inferred
// constants of the lattice; "unknown" is its nac).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "dnnkit/core/static_vector.hpp"
#include "dnnkit/core/text.hpp"
#include "dnnkit/core/vector.hpp"
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

// factor * symbol + offset, factor > 0: what an input's extent may be for the symbol's value to follow from it.
struct linear_dim {
  std::size_t symbol = 0;
  std::int64_t factor = 1, offset = 0;

  // The symbol's value where the dimension is `extent`; nothing when there is none.
  constexpr std::optional<std::int64_t> solve(std::int64_t extent) const {
    std::int64_t rest = 0;
    if (__builtin_sub_overflow(extent, offset, &rest) || rest % factor != 0) return std::nullopt;
    return rest / factor;
  }
};

// Two dimensions that must be equal for a graph to be legal; `follows`: they are, wherever the rest of it is legal.
struct equation {
  dim left, right;
  bool follows = false;
};

class symbol_table {
 public:
  // Expressions come from files: one that would have more atoms than this, written out, is unknown. So walking one
  // takes little time and little of the stack.
  static constexpr std::size_t most_atoms_written_out = 1000;

  vector<symbol> symbols;
  vector<atom> atoms;
  vector<polynomial> polynomials;
  // While `collects_equations`, what could be equal for some values of the symbols, and must be, is noted here instead
  // of refused (an importer solves the equations: SoD2's backward transfer).
  vector<equation> equations;
  bool collects_equations = false;

  // Whether a and b may be taken for equal: they are noted as an equation.
  constexpr bool note_equation(dim a, dim b, bool follows = false) {
    if (!collects_equations) return false;
    const bounds r = range(sub(a, b));
    if (r.min > 0 || r.max < 0) return false;
    equations.push_back({a, b, follows});
    return true;
  }

  // The dimension named `name`; the same name always gives the same dimension, with the bounds of its first mention.
  // Unknown where there are more symbols and expressions than can be numbered.
  [[nodiscard]] constexpr dim symbol_named(std::string_view name, bounds limits) {
    for (std::size_t i = 0; i < symbols.size(); ++i)
      if (symbols[i].name.view() == name) return from_atom({atom_kind::symbol, static_cast<std::int64_t>(i), 0});
    symbols.push_back({text(name), limits});
    return from_atom({atom_kind::symbol, static_cast<std::int64_t>(symbols.size() - 1), 0});
  }

  // The results below are `unknown` if an operand is, and where they fit neither 64 bits nor the capacity of a
  // polynomial, or are too long.
  [[nodiscard]] constexpr dim add(dim a, dim b) { return combine(a, b, 1); }
  [[nodiscard]] constexpr dim sub(dim a, dim b) { return combine(a, b, -1); }
  [[nodiscard]] constexpr dim add(dim a, std::int64_t b) {
    if (a.is_unknown()) return a;
    if (std::int64_t n = 0; a.is_known() && !__builtin_add_overflow(a.value(), b, &n) && n >= 0) return n;
    maybe r;
    r.add(terms(a));
    r.add(monomial{b, {}});
    return intern(r);
  }
  [[nodiscard]] constexpr dim mul(dim a, dim b) {
    if (std::int64_t n = 0; a.is_known() && b.is_known())
      return __builtin_mul_overflow(a.value(), b.value(), &n) ? dim::unknown() : dim(n);
    if (a == dim(0) || b == dim(0)) return 0;
    if (a.is_unknown() || b.is_unknown()) return dim::unknown();
    return intern(product(terms(a), terms(b)));
  }

  // floor(a / b), b > 0. Whole multiples of b leave the floor, floor((b q + r) / b) = q + floor(r / b), and of known b
  // as many as leave coefficients 0 ... b-1; floor((floor(x / c) + k) / b) = floor((x + c k) / (b c)).
  [[nodiscard]] constexpr dim floor_div(dim a, dim b) {
    if (b == dim(1)) return a;
    if (a.is_unknown() || b.is_unknown() || b == dim(0)) return dim::unknown();
    if (a.is_known() && b.is_known()) return a.value() / b.value();
    maybe quotient, rest;
    if (b.is_known()) divide_coefficients(terms(a), b.value(), quotient, rest);
    else split(a, b, quotient, rest);
    if (!quotient.ok || !rest.ok) return dim::unknown();
    if (b.is_known() && is_constant(rest.p)) return intern(quotient);  // 0 <= rest < b
    if (rest.p.empty()) return intern(quotient);
    dim numerator = intern(rest), denominator = b;
    if (b.is_known()) unnest(numerator, denominator, rest.p);
    if (numerator.is_unknown()) return numerator;
    const dim floor = from_atom({atom_kind::floor_div, numerator, denominator});
    if (floor.is_unknown()) return floor;
    quotient.add(terms(floor));
    return intern(quotient);
  }
  [[nodiscard]] constexpr dim ceil_div(dim a, dim b) {
    if (b == dim(1)) return a;
    return floor_div(add(a, add(b, -1)), b);
  }
  // a / b when b divides a exactly as polynomials, else unknown.
  [[nodiscard]] constexpr dim exact_div(dim a, dim b) {
    if (b == 1) return a;
    if (a.is_unknown() || b.is_unknown() || b == 0) return dim::unknown();
    if (a.is_known() && b.is_known()) return a.value() % b.value() == 0 ? a.value() / b.value() : -1;
    maybe quotient, rest;
    split(a, b, quotient, rest);
    return rest.ok && rest.p.empty() ? intern(quotient) : dim::unknown();
  }
  [[nodiscard]] constexpr dim mod(dim a, dim b) {
    if (a.is_unknown() || b.is_unknown() || b == dim(0)) return dim::unknown();
    if (a.is_known() && b.is_known()) return a.value() % b.value();
    if (!exact_div(a, b).is_unknown()) return 0;
    if (!b.is_known()) return from_atom({atom_kind::mod, a, b});
    maybe quotient, rest;
    divide_coefficients(terms(a), b.value(), quotient, rest);
    const dim r = intern(rest);
    return r.is_known() || r.is_unknown() ? r : from_atom({atom_kind::mod, r, b});
  }
  [[nodiscard]] constexpr dim min(dim a, dim b) { return extremum(atom_kind::min, a, b); }
  [[nodiscard]] constexpr dim max(dim a, dim b) { return extremum(atom_kind::max, a, b); }

  // The value of `d` when symbol i has values[i]; held at the ends of the 64-bit range.
  [[nodiscard]] constexpr std::int64_t evaluate(dim d, const std::int64_t* values) const {
    if (d.is_known()) return d.value();
    std::int64_t total = 0;
    for (const monomial& m : polynomials[d.expression()]) {
      std::int64_t term = m.coefficient;
      for (std::uint16_t f : m.factors) term = detail::saturating_mul(term, evaluate(atoms[f], values));
      total = detail::saturating_add(total, term);
    }
    return total;
  }

  // Bounds of `d` over all legal values of the symbols, by interval arithmetic (not necessarily tight).
  [[nodiscard]] constexpr bounds range(dim d) const {
    if (d.is_known()) return {d.value(), d.value()};
    if (d.is_unknown()) return {};
    bounds total{0, 0};
    for (const monomial& m : polynomials[d.expression()]) {
      bounds term{m.coefficient, m.coefficient};
      for (std::uint16_t f : m.factors) term = times(term, range(atoms[f]));
      total = {detail::saturating_add(total.min, term.min), detail::saturating_add(total.max, term.max)};
    }
    return total;
  }

  // The symbol that `d` is, alone; nothing for any other dimension.
  [[nodiscard]] constexpr std::optional<std::size_t> symbol_of(dim d) const {
    if (!d.is_expression()) return std::nullopt;
    const polynomial& p = polynomials[d.expression()];
    if (p.size() != 1 || p[0].coefficient != 1 || p[0].factors.size() != 1) return std::nullopt;
    const atom& a = atoms[p[0].factors[0]];
    return a.kind == atom_kind::symbol ? std::optional(static_cast<std::size_t>(a.a.value())) : std::nullopt;
  }
  // d as factor * symbol + offset with a positive factor; nothing for any other dimension.
  [[nodiscard]] constexpr std::optional<linear_dim> linear_of(dim d) const {
    if (!d.is_expression()) return std::nullopt;
    const polynomial& p = polynomials[d.expression()];
    if (p.empty() || p.size() > 2 || (p.size() == 2 && !p[0].factors.empty())) return std::nullopt;
    const monomial& m = p.back();
    if (m.factors.size() != 1 || m.coefficient <= 0) return std::nullopt;
    const atom& a = atoms[m.factors[0]];
    if (a.kind != atom_kind::symbol) return std::nullopt;
    return linear_dim{static_cast<std::size_t>(a.a.value()), m.coefficient, p.size() == 2 ? p[0].coefficient : 0};
  }
  // Whether the value of `d` depends on symbol `i`.
  [[nodiscard]] constexpr bool uses(dim d, std::size_t i) const {
    if (!d.is_expression()) return false;
    for (const monomial& m : polynomials[d.expression()])
      for (std::uint16_t f : m.factors) {
        const atom& a = atoms[f];
        if (a.kind == atom_kind::symbol ? a.a == dim(static_cast<std::int64_t>(i)) : uses(a.a, i) || uses(a.b, i))
          return true;
      }
    return false;
  }

  [[nodiscard]] constexpr text print(dim d) const {
    text t;
    print(t, d);
    return t;
  }

 private:
  // A polynomial under construction; ok = false: a coefficient left 64 bits or there were too many terms or factors.
  struct maybe {
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

  constexpr polynomial terms(dim d) const {
    if (!d.is_known()) return polynomials[d.expression()];
    return d.value() == 0 ? polynomial{} : polynomial{monomial{d.value(), {}}};
  }
  static constexpr bool is_constant(const polynomial& p) {
    return p.empty() || (p.size() == 1 && p[0].factors.empty());
  }

  constexpr dim intern(const maybe& m) { return m.ok ? intern(m.p) : dim::unknown(); }
  constexpr dim intern(const polynomial& p) {
    if (p.empty()) return 0;
    if (is_constant(p) && p[0].coefficient >= 0) return p[0].coefficient;
    for (std::size_t i = 0; i < polynomials.size(); ++i)
      if (polynomials[i] == p) return dim::of_expression(i);
    polynomials.push_back(p);
    return dim::of_expression(polynomials.size() - 1);
  }

  // Has d at most `left` atoms, written out? What it has is taken off.
  constexpr bool is_short(dim d, std::size_t& left) const {
    if (!d.is_expression()) return true;
    for (const monomial& m : polynomials[d.expression()])
      for (std::uint16_t f : m.factors) {
        if (left == 0) return false;
        --left;
        const atom& x = atoms[f];
        if (x.kind != atom_kind::symbol && !(is_short(x.a, left) && is_short(x.b, left))) return false;
      }
    return true;
  }

  constexpr dim from_atom(const atom& a) {
    std::size_t i = 0;
    while (i < atoms.size() && !(atoms[i] == a)) ++i;
    if (i == atoms.size()) {
      std::size_t left = most_atoms_written_out - 1;
      if (i > std::numeric_limits<std::uint16_t>::max()) return dim::unknown();
      if (a.kind != atom_kind::symbol && !(is_short(a.a, left) && is_short(a.b, left))) return dim::unknown();
      atoms.push_back(a);
    }
    monomial m{1, {}};
    m.factors.push_back(static_cast<std::uint16_t>(i));
    return intern(polynomial{m});
  }

  // a + sign * b
  constexpr dim combine(dim a, dim b, std::int64_t sign) {
    if (a.is_unknown() || b.is_unknown()) return dim::unknown();
    if (a.is_known() && b.is_known()) return add(a, sign * b.value());
    maybe r;
    r.add(terms(a));
    r.add(monomial{sign, {}}, terms(b));
    return intern(r);
  }

  constexpr dim extremum(atom_kind kind, dim a, dim b) {
    if (a == b) return a;
    if (a.is_unknown() || b.is_unknown()) return dim::unknown();
    if (a.is_known() && b.is_known()) return (a.value() < b.value()) == (kind == atom_kind::min) ? a : b;
    if (const dim difference = sub(a, b); !difference.is_unknown()) {
      const bounds r = range(difference);
      if (r.max <= 0) return kind == atom_kind::min ? a : b;
      if (r.min >= 0) return kind == atom_kind::min ? b : a;
    }
    return a.code < b.code ? from_atom({kind, a, b}) : from_atom({kind, b, a});
  }

  // Lexicographic, the largest atom deciding first, so that m < n implies m k < n k: what division relies on.
  static constexpr int compare(const monomial& a, const monomial& b) {
    std::size_t i = a.factors.size(), j = b.factors.size();
    while (i > 0 && j > 0)
      if (--i, --j; a.factors[i] != b.factors[j]) return a.factors[i] < b.factors[j] ? -1 : 1;
    return i == j ? 0 : (i < j ? -1 : 1);
  }

  static constexpr maybe product(const polynomial& a, const polynomial& b) {
    maybe r;
    for (const monomial& m : a) r.add(m, b);
    return r;
  }

  static constexpr bool multiply(const monomial& a, const monomial& b, monomial& r) {
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
  constexpr void split(dim a, dim b, maybe& quotient, maybe& rest) const {
    const polynomial divisor = terms(b);
    maybe left;
    left.add(terms(a));
    while (!left.p.empty() && left.ok) {
      monomial q;
      if (divide(left.p.back(), divisor.back(), q)) {
        quotient.add(q);
        q.coefficient = -q.coefficient;
        left.add(q, divisor);
      } else {
        rest.add(left.p.back());
        left.p.pop_back();
      }
    }
    rest.ok = rest.ok && left.ok;
  }

  // a = b * quotient + rest with every coefficient of rest in 0 ... b-1.
  static constexpr void divide_coefficients(const polynomial& a, std::int64_t b, maybe& quotient, maybe& rest) {
    for (const monomial& m : a) {
      const std::int64_t q = detail::floor_quotient(m.coefficient, b);
      quotient.add(monomial{q, m.factors});
      rest.add(monomial{m.coefficient - q * b, m.factors});
    }
  }

  // floor((floor(x / c) + k) / b) as one division, when `rest` is a floor by a known c plus a constant k.
  constexpr void unnest(dim& numerator, dim& denominator, const polynomial& rest) {
    const monomial& m = rest.back();
    if (m.coefficient != 1 || m.factors.size() != 1 || rest.size() > 2 ||
        !(rest.size() == 1 || rest[0].factors.empty()))
      return;
    const atom inner = atoms[m.factors[0]];
    if (inner.kind != atom_kind::floor_div || !inner.b.is_known()) return;
    const dim k = rest.size() == 2 ? dim(rest[0].coefficient) : dim(0);
    const dim n = add(inner.a, mul(inner.b, k)), d = mul(denominator, inner.b);
    if (n.is_unknown() || d.is_unknown()) return;
    numerator = n;
    denominator = d;
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
    const std::int64_t p[] = {detail::saturating_mul(x.min, y.min), detail::saturating_mul(x.min, y.max),
                              detail::saturating_mul(x.max, y.min), detail::saturating_mul(x.max, y.max)};
    bounds r{p[0], p[0]};
    for (std::int64_t v : p) r = {v < r.min ? v : r.min, v > r.max ? v : r.max};
    return r;
  }

  constexpr bounds range(const atom& x) const {
    if (x.kind == atom_kind::symbol) return symbols[static_cast<std::size_t>(x.a.value())].limits;
    const bounds a = range(x.a), b = range(x.b);
    const std::int64_t least = b.min > 1 ? b.min : 1, most = b.max > 1 ? b.max : 1;
    switch (x.kind) {
      case atom_kind::floor_div:  // no divisor below 1 is legal
        return {detail::floor_quotient(a.min, a.min < 0 ? least : most),
                detail::floor_quotient(a.max, a.max < 0 ? most : least)};
      case atom_kind::mod:
        return {0, most - 1};
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
      const std::int64_t c = p[i].coefficient;
      const bool is_one = (c == 1 || c == -1) && !p[i].factors.empty();
      if (c >= 0 && i + 1 < p.size()) t << "+";
      if (!is_one) t << c;
      else if (c < 0) t << "-";
      for (std::size_t f = 0; f < p[i].factors.size(); ++f) {
        if (f > 0 || !is_one) t << "*";
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
