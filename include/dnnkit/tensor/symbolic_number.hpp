// SPDX-License-Identifier: MIT
// A whole number as far as it is known: a number of 64 bits, an expression over symbols, or neither. It is what the
// values of shapes are computed with (SoD2, section 4.1: known, symbolic and operation-inferred constants; "unknown" is
// nac), and a number as the scalar definitions of operators see one: they compute on it as on integers. Truth values
// are 0 and 1.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>

#include "dnnkit/tensor/dim.hpp"

namespace dnnkit {

// Whether d is at least 0: by its bounds, or because it is a remainder, f(n, d / k) - k * f(n, d) with f the quotient
// rounded down, or as much as that and more.
constexpr bool is_natural(symbol_table& t, dim d) {
  if (d.is_unknown() || t.range(d).min >= 0) return !d.is_unknown();
  const polynomial p = t.polynomials[d.expression()];
  for (const monomial& m : p) {
    if (m.coefficient >= 0 || m.factors.size() != 1) continue;
    const atom a = t.atoms[m.factors[0]];
    const std::int64_t k = -m.coefficient;
    if (a.kind != atom_kind::floor_div || !a.b.is_known() || a.b.value() % k != 0) continue;
    const dim whole = t.floor_div(a.a, a.b.value() / k), floor = t.floor_div(a.a, a.b);
    const dim rest = t.sub(d, t.sub(whole, t.mul(floor, k)));
    if (!rest.is_unknown() && t.range(rest).min >= 0) return true;
  }
  return false;
}

class symbolic_number {
  // f of two numbers of which one, at least, is no number of 64 bits.
  static constexpr symbolic_number of(symbolic_number a, symbolic_number b, auto f) {
    if (a.is_unknown() || b.is_unknown()) return {};
    symbol_table& t = a.table_ != nullptr ? *a.table_ : *b.table_;
    const dim x = a.in(t), y = b.in(t);
    return x.is_unknown() || y.is_unknown() ? symbolic_number() : symbolic_number(t, f(t, x, y));
  }

 public:
  using value_type = std::int64_t;

  constexpr symbolic_number() = default;  // unknown
  constexpr symbolic_number(std::integral auto n) : state_(state::number), number_(static_cast<std::int64_t>(n)) {}
  // An expression of one constant term is a number.
  constexpr symbolic_number(symbol_table& table, dim d) : table_(&table) {
    if (d.is_unknown()) return;
    const bounds r = table.range(d);
    if (d.is_known() || (r.min == r.max && table.polynomials[d.expression()].size() <= 1)) {
      state_ = state::number;
      number_ = r.min;
    } else {
      state_ = state::expression;
      expression_ = d;
    }
  }

  constexpr bool is_unknown() const { return state_ == state::unknown; }
  constexpr bool is_number() const { return state_ == state::number; }
  constexpr bool is_expression() const { return state_ == state::expression; }
  constexpr std::int64_t number() const { return number_; }
  // As a dimension of this table: negative numbers become expressions of one constant term.
  constexpr dim in(symbol_table& table) const {
    if (is_expression()) return expression_;
    if (is_unknown()) return dim::unknown();
    return number_ >= 0 ? dim(number_) : table.add(dim(0), number_);
  }
  // The same number for certain.
  friend constexpr bool is_same(symbolic_number a, symbolic_number b) {
    return a.state_ == b.state_ && !a.is_unknown() && a.number_ == b.number_ && a.expression_ == b.expression_;
  }

  // Unknown as well where numbers overflow.
  friend constexpr symbolic_number operator+(symbolic_number a, symbolic_number b) {
    std::int64_t n = 0;
    if (both_are_numbers(a, b))
      return __builtin_add_overflow(a.number_, b.number_, &n) ? symbolic_number() : symbolic_number(n);
    return of(a, b, [](symbol_table& t, dim x, dim y) { return t.add(x, y); });
  }
  friend constexpr symbolic_number operator-(symbolic_number a, symbolic_number b) {
    std::int64_t n = 0;
    if (both_are_numbers(a, b))
      return __builtin_sub_overflow(a.number_, b.number_, &n) ? symbolic_number() : symbolic_number(n);
    return of(a, b, [](symbol_table& t, dim x, dim y) { return t.sub(x, y); });
  }
  friend constexpr symbolic_number operator*(symbolic_number a, symbolic_number b) {
    std::int64_t n = 0;
    if (both_are_numbers(a, b))
      return __builtin_mul_overflow(a.number_, b.number_, &n) ? symbolic_number() : symbolic_number(n);
    if (a.is(0) || b.is(0)) return 0;
    return of(a, b, [](symbol_table& t, dim x, dim y) { return t.mul(x, y); });
  }
  friend constexpr symbolic_number operator-(symbolic_number a) { return symbolic_number(0) - a; }

  // Without the fraction. Of a divisor that may be 0, or of signs that are not known: unknown.
  friend constexpr symbolic_number quotient(symbolic_number a, symbolic_number b) {
    if (both_are_numbers(a, b)) {
      if (b.number_ == 0) return {};
      if (b.number_ != -1) return a.number_ / b.number_;
      return a.number_ == std::numeric_limits<std::int64_t>::min() ? a : -a;
    }
    return of(a, b, [](symbol_table& t, dim x, dim y) {
      if (t.range(y).min < 1) return dim::unknown();
      if (const dim exact = t.exact_div(x, y); !exact.is_unknown()) return exact;
      if (is_natural(t, x)) return t.floor_div(x, y);
      if (!y.is_known() || t.range(x).min <= -y.value()) return dim::unknown();
      return t.floor_div(t.max(x, dim(0)), y);  // above -y, the quotient is 0
    });
  }
  // The remainder with the sign of b; unknown where that may be 0 or negative.
  friend constexpr symbolic_number modulo(symbolic_number a, symbolic_number b) {
    if (both_are_numbers(a, b)) {
      if (b.number_ == 0 || b.number_ == -1) return b.number_ == 0 ? symbolic_number() : symbolic_number(0);
      const std::int64_t r = a.number_ % b.number_;
      return r != 0 && (r < 0) != (b.number_ < 0) ? r + b.number_ : r;
    }
    return of(a, b, [](symbol_table& t, dim x, dim y) { return t.range(y).min < 1 ? dim::unknown() : t.mod(x, y); });
  }
  friend constexpr symbolic_number minimum(symbolic_number a, symbolic_number b) {
    if (both_are_numbers(a, b)) return a.number_ <= b.number_ ? a : b;
    return of(a, b, [](symbol_table& t, dim x, dim y) { return t.min(x, y); });
  }
  friend constexpr symbolic_number maximum(symbolic_number a, symbolic_number b) {
    if (both_are_numbers(a, b)) return a.number_ >= b.number_ ? a : b;
    return of(a, b, [](symbol_table& t, dim x, dim y) { return t.max(x, y); });
  }

  // Whether it holds whatever the symbols are, or never; unknown where that depends on them.
  friend constexpr symbolic_number operator==(symbolic_number a, symbolic_number b) {
    const std::optional<bounds> r = difference(a, b);
    if (!r) return {};
    if (r->min == 0 && r->max == 0) return 1;
    return r->min > 0 || r->max < 0 ? symbolic_number(0) : symbolic_number();
  }
  friend constexpr symbolic_number operator<(symbolic_number a, symbolic_number b) {
    const std::optional<bounds> r = difference(a, b);
    if (!r) return {};
    if (r->max < 0) return 1;
    return r->min >= 0 ? symbolic_number(0) : symbolic_number();
  }
  friend constexpr symbolic_number operator!=(symbolic_number a, symbolic_number b) { return negation(a == b); }
  friend constexpr symbolic_number operator>(symbolic_number a, symbolic_number b) { return b < a; }
  friend constexpr symbolic_number operator<=(symbolic_number a, symbolic_number b) { return negation(b < a); }
  friend constexpr symbolic_number operator>=(symbolic_number a, symbolic_number b) { return negation(a < b); }

  // Of truth values.
  friend constexpr symbolic_number negation(symbolic_number a) {
    return a.is_number() ? symbolic_number(a.number_ == 0) : symbolic_number();
  }
  friend constexpr symbolic_number operator&(symbolic_number a, symbolic_number b) {
    if (a.is(0) || b.is(0)) return 0;
    return both_are_numbers(a, b) ? symbolic_number(1) : symbolic_number();
  }
  friend constexpr symbolic_number operator|(symbolic_number a, symbolic_number b) {
    return negation(negation(a) & negation(b));
  }
  friend constexpr symbolic_number operator^(symbolic_number a, symbolic_number b) { return a != b; }
  // condition ? a : b, which is a as well where both are the same
  friend constexpr symbolic_number select(symbolic_number condition, symbolic_number a, symbolic_number b) {
    if (condition.is_number()) return condition.number_ != 0 ? a : b;
    return meet(a, b);
  }
  // What both are, if that is one thing: SoD2's meet, where two ways join of which one is taken.
  friend constexpr symbolic_number meet(symbolic_number a, symbolic_number b) {
    return is_same(a, b) ? a : symbolic_number();
  }

 private:
  enum class state : std::uint8_t { unknown, number, expression };

  constexpr bool is(std::int64_t n) const { return is_number() && number_ == n; }
  static constexpr bool both_are_numbers(symbolic_number a, symbolic_number b) {
    return a.is_number() && b.is_number();
  }
  // The bounds of a - b; nothing where there are none.
  static constexpr std::optional<bounds> difference(symbolic_number a, symbolic_number b) {
    if (both_are_numbers(a, b)) {
      const std::int64_t sign = a.number_ < b.number_ ? -1 : a.number_ > b.number_ ? 1 : 0;
      return bounds{sign, sign};
    }
    if (a.is_unknown() || b.is_unknown()) return std::nullopt;
    symbol_table& t = a.table_ != nullptr ? *a.table_ : *b.table_;
    const dim d = t.sub(a.in(t), b.in(t));
    return d.is_unknown() ? std::nullopt : std::optional(t.range(d));
  }
  state state_ = state::unknown;
  std::int64_t number_ = 0;
  dim expression_ = dim::unknown();
  symbol_table* table_ = nullptr;  // of the expression
};

}  // namespace dnnkit
