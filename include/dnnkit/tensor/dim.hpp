// SPDX-License-Identifier: MIT
// A dimension: known | expression over symbols | unknown. Expressions are canonical polynomials kept in a symbol_table,
// so two dimensions are equal exactly when their codes are (SoD2, section 4.1: known, symbolic and operation-inferred
// constants of the lattice; "unknown" is its nac).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <string_view>

#include "dnnkit/core/text.hpp"
#include "dnnkit/core/vector.hpp"
#include "dnnkit/tensor/equation.hpp"
#include "dnnkit/tensor/polynomial.hpp"
#include "dnnkit/tensor/print_dim.hpp"
#include "dnnkit/tensor/symbol.hpp"

namespace dnnkit {

class symbol_table {
  using maybe = detail::polynomials::sum;

 public:
  // Expressions come from files: one that would have more atoms than this, written out, is unknown. So walking one
  // takes little time and little of the stack.
  static constexpr std::size_t most_atoms_written_out = 1000;

  vector<symbol> symbols;
  vector<atom> atoms;
  vector<polynomial> polynomials;
  vector<assumption> assumptions;  // in the order in which they were made
  // While `collects_equations`, what could be equal for some values of the symbols, and must be, is noted here instead
  // of assumed (an importer solves the equations: SoD2's backward transfer).
  vector<equation> equations;
  bool collects_equations = false;

  // Whether a and b may be taken for equal: they are noted as an equation, or assumed to be.
  constexpr bool note_equation(dim a, dim b, bool follows = false) {
    if (!collects_equations) return !follows && assume(a, b);
    if (!may_be_equal(a, b)) return false;
    equations.push_back({a, b, follows});
    return true;
  }
  // Takes a and b for equal from here on, unless they are already, or one is unknown; false where they never are. What
  // is computed from now on has the replacement; settled() puts it into what was computed before.
  constexpr bool assume(dim a, dim b, std::string_view needed_by = {}) {
    const dim x = settled(a), y = settled(b);
    if (x == y || x.is_unknown() || y.is_unknown()) return true;
    if (const std::optional<bool> known = assumed(x, relation::equal, y)) return *known;
    if (!may_be_equal(x, y)) return false;
    assumption made{a, b, relation::equal, text(needed_by)};
    find_replacement(made, sub(x, y));
    assumptions.push_back(made);
    if (!made.replaces()) return true;
    for (assumption& old : assumptions)
      if (old.replaces()) old.by = settled(old.by);
    for (assumption& old : assumptions)
      if (old.replaces() && mentions_replaced(old.by)) old.replaced = assumption::nothing;
    return true;
  }
  // The same of any relation.
  constexpr bool assume(dim a, relation is, dim b, std::string_view needed_by = {}) {
    if (is == relation::equal) return assume(a, b, needed_by);
    if (const dim d = sub(a, b); !d.is_unknown())
      if (const std::optional<bool> known = certain(range(d), is)) return *known;
    if (const std::optional<bool> known = assumed(a, is, b)) return *known;
    assumptions.push_back({a, b, is, text(needed_by)});
    return true;
  }
  // Whether it is assumed, or the opposite of it.
  [[nodiscard]] constexpr std::optional<bool> assumed(dim a, relation is, dim b) {
    const dim x = settled(a), y = settled(b);
    const bool either_way = is == relation::equal || is == relation::different;
    for (const assumption& known : assumptions) {
      const dim left = settled(known.left), right = settled(known.right);
      if (!((left == x && right == y) || (either_way && left == y && right == x))) continue;
      if (known.is == is || known.is == opposite(is)) return known.is == is;
    }
    return std::nullopt;
  }
  // `d` with what assumptions replace.
  [[nodiscard]] constexpr dim settled(dim d) {
    if (!mentions_replaced(d)) return d;
    return with_atoms(polynomials[d.expression()], [&](std::uint16_t f) { return settled_atom(f); });
  }
  // Forgets what is assumed but follows from what the other assumptions replace.
  constexpr void drop_implied() {
    vector<assumption> kept;
    for (const assumption& a : assumptions)
      if (a.replaces() || a.is != relation::equal || !(settled(a.left) == settled(a.right))) kept.push_back(a);
    if (kept.count != assumptions.count) assumptions = static_cast<vector<assumption>&&>(kept);
  }
  // The assumption that replaces symbol `i`; null where none does.
  [[nodiscard]] constexpr const assumption* replacement_of(std::size_t i) const {
    for (const assumption& a : assumptions)
      if (a.replaces())
        if (const atom& x = atoms[static_cast<std::size_t>(a.replaced)];
            x.kind == atom_kind::symbol && x.a == dim(static_cast<std::int64_t>(i)))
          return &a;
    return nullptr;
  }

  // The dimension named `name`; the same name always gives the same dimension, with the bounds of its first mention.
  // Unknown where there are more symbols and expressions than can be numbered.
  [[nodiscard]] constexpr dim symbol_named(std::string_view name, bounds limits) {
    std::size_t i = 0;
    while (i < symbols.size() && symbols[i].name.view() != name) ++i;
    if (i == symbols.size()) symbols.push_back({text(name), limits});
    const std::size_t number = number_of({atom_kind::symbol, static_cast<std::int64_t>(i), 0});
    return number == no_number ? dim::unknown() : interned(polynomial{single(number)});
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
    return intern(detail::polynomials::product(terms(a), terms(b)));
  }

  // floor(a / b), b > 0. Whole multiples of b leave the floor, floor((b q + r) / b) = q + floor(r / b), and of known b
  // as many as leave coefficients 0 ... b-1; floor((floor(x / c) + k) / b) = floor((x + c k) / (b c)).
  [[nodiscard]] constexpr dim floor_div(dim a, dim b) {
    if (b == dim(1)) return a;
    if (a.is_unknown() || b.is_unknown() || b == dim(0)) return dim::unknown();
    if (a.is_known() && b.is_known()) return a.value() / b.value();
    maybe quotient, rest;
    if (b.is_known()) detail::polynomials::divide_coefficients(terms(a), b.value(), quotient, rest);
    else split(a, b, quotient, rest);
    if (!quotient.ok || !rest.ok) return dim::unknown();
    if (b.is_known() && detail::polynomials::is_constant(rest.p)) return intern(quotient);  // 0 <= rest < b
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
    detail::polynomials::divide_coefficients(terms(a), b.value(), quotient, rest);
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

  // What costs take `d` for: its value where symbols are what they typically are.
  [[nodiscard]] constexpr std::int64_t typical(dim d) const {
    if (d.is_unknown()) return symbol::usual;
    vector<std::int64_t> values;
    for (const symbol& s : symbols) values.push_back(s.typical);
    const std::int64_t n = evaluate(d, values.items);
    return n > 0 ? n : 1;
  }

  // Bounds of `d` over all legal values of the symbols, by interval arithmetic (not necessarily tight).
  [[nodiscard]] constexpr bounds range(dim d) const {
    if (d.is_known()) return {d.value(), d.value()};
    if (d.is_unknown()) return {};
    bounds total{0, 0};
    for (const monomial& m : polynomials[d.expression()]) {
      bounds term{m.coefficient, m.coefficient};
      for (std::uint16_t f : m.factors) term = detail::interval_product(term, range(atoms[f]));
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
    const dim number = static_cast<std::int64_t>(i);
    return mentions(d, [&](std::uint16_t f) { return atoms[f].kind == atom_kind::symbol && atoms[f].a == number; });
  }

  [[nodiscard]] constexpr text print(dim d) const { return detail::dim_printer{symbols, atoms, polynomials}(d); }

 private:
  constexpr polynomial terms(dim d) const {
    if (!d.is_known()) return polynomials[d.expression()];
    return d.value() == 0 ? polynomial{} : polynomial{monomial{d.value(), {}}};
  }
  constexpr bool may_be_equal(dim a, dim b) {
    const bounds r = range(sub(a, b));
    return r.min <= 0 && r.max >= 0;
  }
  constexpr const assumption* replacement_of_atom(std::uint16_t number) const {
    for (const assumption& a : assumptions)
      if (a.replaced == static_cast<std::int32_t>(number)) return &a;
    return nullptr;
  }
  constexpr bool mentions_replaced(dim d) const {
    return assumptions.count != 0 && mentions(d, [&](std::uint16_t f) { return replacement_of_atom(f) != nullptr; });
  }
  // Does test(number) hold of an atom in d, or in one of those?
  constexpr bool mentions(dim d, const auto& test) const {
    if (!d.is_expression()) return false;
    for (const monomial& m : polynomials[d.expression()])
      for (std::uint16_t f : m.factors) {
        const atom& x = atoms[f];
        if (test(f) || (x.kind != atom_kind::symbol && (mentions(x.a, test) || mentions(x.b, test)))) return true;
      }
    return false;
  }
  constexpr dim settled_atom(std::uint16_t number) {
    if (const assumption* const a = replacement_of_atom(number)) return a->by;
    const atom x = atoms[number];
    if (x.kind == atom_kind::symbol) return interned(polynomial{single(number)});
    const dim a = settled(x.a), b = settled(x.b);
    if (x.kind == atom_kind::floor_div) return floor_div(a, b);
    if (x.kind == atom_kind::mod) return mod(a, b);
    return x.kind == atom_kind::min ? min(a, b) : max(a, b);
  }
  // p with what `image` gives for the number of each atom.
  constexpr dim with_atoms(polynomial p, const auto& image) {
    dim sum = 0;
    for (const monomial& m : p) {
      dim term = add(dim(0), m.coefficient);
      for (std::uint16_t f : m.factors) term = mul(term, image(f));
      sum = add(sum, term);
    }
    return sum;
  }
  // p without the number and the atoms, none of which is 0, that all its terms have.
  constexpr polynomial without_common_factors(polynomial p) const {
    std::int64_t divisor = 0;
    for (const monomial& m : p) divisor = std::gcd(divisor, m.coefficient);
    for (monomial& m : p) m.coefficient /= divisor;
    for (std::size_t k = p[0].factors.size(); k-- > 0;) {
      monomial common = single(p[0].factors[k]), rest;
      bool everywhere = range(atoms[p[0].factors[k]]).min >= 1;
      for (const monomial& m : p) everywhere = everywhere && detail::polynomials::divide(m, common, rest);
      for (monomial& m : p)
        if (everywhere && detail::polynomials::divide(m, common, rest)) m = rest;
    }
    return p;
  }
  // `difference` is 0. Of the atoms that stand alone in a term, times 1 or -1, and occur nowhere else, the one made
  // last is replaced. A symbol only gives way where nothing else can, so that inputs' extents stay what they are.
  constexpr void find_replacement(assumption& made, dim difference) {
    if (!difference.is_expression()) return;
    const polynomial p = without_common_factors(polynomials[difference.expression()]);
    difference = interned(p);
    for (const bool symbols_too : {false, true})
      for (std::size_t i = p.size(); i-- > 0 && !made.replaces();) {
        const monomial& m = p[i];
        if (m.factors.size() != 1 || (m.coefficient != 1 && m.coefficient != -1)) continue;
        const std::uint16_t number = m.factors[0];
        if ((atoms[number].kind == atom_kind::symbol) != symbols_too) continue;
        const dim alone = interned(polynomial{single(number)});
        const dim rest = m.coefficient == 1 ? sub(alone, difference) : add(difference, alone);
        if (rest.is_unknown() || mentions(rest, [&](std::uint16_t f) { return f == number; })) continue;
        if (symbols_too && range(rest).min < 0) continue;
        made.replaced = static_cast<std::int32_t>(number);
        made.by = rest;
      }
  }

  constexpr dim intern(const maybe& m) { return m.ok ? intern(m.p) : dim::unknown(); }
  constexpr dim intern(const polynomial& p) {
    if (assumptions.count != 0)
      for (const monomial& m : p)
        for (std::uint16_t f : m.factors)
          if (replacement_of_atom(f) != nullptr)
            return with_atoms(p, [&](std::uint16_t x) {
              const assumption* const a = replacement_of_atom(x);
              return a != nullptr ? a->by : interned(polynomial{single(x)});
            });
    return interned(p);
  }
  constexpr dim interned(const polynomial& p) {
    if (p.empty()) return 0;
    if (detail::polynomials::is_constant(p) && p[0].coefficient >= 0) return p[0].coefficient;
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

  static constexpr std::size_t no_number = static_cast<std::size_t>(-1);
  constexpr std::size_t number_of(const atom& a) {
    std::size_t i = 0;
    while (i < atoms.size() && !(atoms[i] == a)) ++i;
    if (i == atoms.size()) {
      std::size_t left = most_atoms_written_out - 1;
      if (i > std::numeric_limits<std::uint16_t>::max()) return no_number;
      if (a.kind != atom_kind::symbol && !(is_short(a.a, left) && is_short(a.b, left))) return no_number;
      atoms.push_back(a);
    }
    return i;
  }
  static constexpr monomial single(std::size_t number) {
    monomial m{1, {}};
    m.factors.push_back(static_cast<std::uint16_t>(number));
    return m;
  }
  constexpr dim from_atom(const atom& a) {
    const std::size_t number = number_of(a);
    return number == no_number ? dim::unknown() : intern(polynomial{single(number)});
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

  // a = b * quotient + rest: polynomial division by the leading (last) monomial of b.
  constexpr void split(dim a, dim b, maybe& quotient, maybe& rest) const {
    const polynomial divisor = terms(b);
    maybe left;
    left.add(terms(a));
    while (!left.p.empty() && left.ok) {
      monomial q;
      if (detail::polynomials::divide(left.p.back(), divisor.back(), q)) {
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
};

}  // namespace dnnkit
