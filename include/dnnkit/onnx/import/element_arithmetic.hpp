// SPDX-License-Identifier: MIT
// Arithmetic on known elements: numbers are computed, expressions over symbols stay expressions, and what neither can
// say is unknown (SoD2, section 4.1: the value half of the forward transfer functions).
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>

#include "dnnkit/onnx/import/known_elements.hpp"
#include "dnnkit/operator/scalar.hpp"

namespace dnnkit::onnx {

class element_arithmetic {
 public:
  explicit element_arithmetic(symbol_table& table) : table_(table) {}

  // A number or expression as a dimension (negative numbers become expressions of one constant term).
  dim to_dim(const known_element& e) const {
    if (e.is_expression()) return e.expression;
    if (e.is_real() && std::trunc(e.real) == e.real && std::fabs(e.real) < 0x1p53)
      return to_dim(known_element::of_number(static_cast<std::int64_t>(e.real)));
    if (!e.is_number()) return dim::unknown();
    return e.number >= 0 ? dim(e.number) : table_.add(dim(0), e.number);
  }
  // The element that a dimension is; expressions of one constant term become numbers again.
  known_element to_element(dim d) const {
    if (!d.is_expression()) return known_element::of_dim(d);
    const bounds r = table_.range(d);
    if (r.min == r.max && table_.polynomials[d.expression()].size() <= 1) return known_element::of_number(r.min);
    return known_element::of_dim(d);
  }

  known_element add(const known_element& a, const known_element& b) const {
    std::int64_t n = 0;
    if (a.is_number() && b.is_number())
      return __builtin_add_overflow(a.number, b.number, &n) ? known_element{} : known_element::of_number(n);
    if (a.is_numeric() && b.is_numeric()) return known_element::of_real(a.as_real() + b.as_real());
    if (const auto r = halved(a, b))
      return fraction(table_.add(table_.mul(r->a, r->under_b), table_.mul(r->b, r->under_a)),
                      table_.mul(r->under_a, r->under_b));
    return to_element(table_.add(to_dim(a), to_dim(b)));
  }
  known_element sub(const known_element& a, const known_element& b) const {
    std::int64_t n = 0;
    if (a.is_number() && b.is_number())
      return __builtin_sub_overflow(a.number, b.number, &n) ? known_element{} : known_element::of_number(n);
    if (a.is_numeric() && b.is_numeric()) return known_element::of_real(a.as_real() - b.as_real());
    if (const auto r = halved(a, b))
      return fraction(table_.sub(table_.mul(r->a, r->under_b), table_.mul(r->b, r->under_a)),
                      table_.mul(r->under_a, r->under_b));
    return to_element(table_.sub(to_dim(a), to_dim(b)));
  }
  known_element mul(const known_element& a, const known_element& b) const {
    std::int64_t n = 0;
    if (a.is_number() && b.is_number())
      return __builtin_mul_overflow(a.number, b.number, &n) ? known_element{} : known_element::of_number(n);
    if (a.is_numeric() && b.is_numeric()) return known_element::of_real(a.as_real() * b.as_real());
    if (const auto r = halved(a, b)) return fraction(table_.mul(r->a, r->b), table_.mul(r->under_a, r->under_b));
    return to_element(table_.mul(to_dim(a), to_dim(b)));
  }
  // Integers: without the fraction, as ONNX's Div. Reals: a fraction when an operand is an expression.
  known_element div(const known_element& a, const known_element& b, bool integers) const {
    if (a.is_number() && b.is_number() && integers) {
      if (b.number == 0) return {};  // which the operator says when the network runs
      return known_element::of_number(quotient(a.number, b.number));
    }
    if (a.is_numeric() && b.is_numeric()) return known_element::of_real(a.as_real() / b.as_real());
    const dim x = to_dim(a), y = to_dim(b);
    if (x.is_unknown() || y.is_unknown() || table_.range(y).min < 1) return {};
    if (const dim exact = table_.exact_div(x, y); !exact.is_unknown()) return to_element(exact);
    if (!integers) return fraction(x, y);
    if (!is_natural(x)) {
      if (!y.is_known() || table_.range(x).min <= -y.value()) return {};
      return to_element(table_.floor_div(table_.max(x, dim(0)), y));  // above -y, the quotient is 0
    }
    return to_element(table_.floor_div(x, y));
  }
  // Whether d is at least 0: by its bounds, or because it is a remainder, f(n, d / k) - k * f(n, d) with f the quotient
  // rounded down, or as much as that and more.
  bool is_natural(dim d) const {
    if (d.is_unknown() || table_.range(d).min >= 0) return !d.is_unknown();
    const polynomial p = table_.polynomials[d.expression()];
    for (const monomial& m : p) {
      if (m.coefficient >= 0 || m.factors.size() != 1) continue;
      const atom a = table_.atoms[m.factors[0]];
      const std::int64_t k = -m.coefficient;
      if (a.kind != atom_kind::floor_div || !a.b.is_known() || a.b.value() % k != 0) continue;
      const dim whole = table_.floor_div(a.a, a.b.value() / k), quotient = table_.floor_div(a.a, a.b);
      const dim rest = table_.sub(d, table_.sub(whole, table_.mul(quotient, k)));
      if (!rest.is_unknown() && table_.range(rest).min >= 0) return true;
    }
    return false;
  }
  // The whole number below (or, if `up`, above) a fraction. A quotient of whole numbers that is none lies so far from
  // the next one that rounding to 32-bit floats cannot reach it.
  known_element rounded(const known_element& e, bool up) const {
    if (!e.is_fraction()) return e.is_expression() || e.is_number() ? e : known_element{};
    if (!e.denominator.is_known()) return {};
    return to_element(up ? table_.ceil_div(e.expression, e.denominator)
                         : table_.floor_div(e.expression, e.denominator));
  }
  // The sign of the result is that of the divisor (ONNX's Mod), or of the dividend (fmod).
  known_element mod(const known_element& a, const known_element& b, bool fmod) const {
    if (a.is_number() && b.is_number()) {
      if (b.number == 0 || b.number == -1) return b.number == 0 ? known_element{} : known_element::of_number(0);
      const std::int64_t r = a.number % b.number;
      return known_element::of_number(!fmod && r != 0 && (r < 0) != (b.number < 0) ? r + b.number : r);
    }
    const dim x = to_dim(a), y = to_dim(b);
    if (x.is_unknown() || y.is_unknown() || table_.range(y).min < 1 || (fmod && table_.range(x).min < 0)) return {};
    return to_element(table_.mod(x, y));
  }
  known_element min(const known_element& a, const known_element& b) const {
    if (a.is_number() && b.is_number()) return a.number <= b.number ? a : b;
    if (a.is_numeric() && b.is_numeric()) return a.as_real() <= b.as_real() ? a : b;
    return to_element(table_.min(to_dim(a), to_dim(b)));
  }
  known_element max(const known_element& a, const known_element& b) const {
    if (a.is_number() && b.is_number()) return a.number >= b.number ? a : b;
    if (a.is_numeric() && b.is_numeric()) return a.as_real() >= b.as_real() ? a : b;
    return to_element(table_.max(to_dim(a), to_dim(b)));
  }

  // Whether a == b, or a < b; nothing when that depends on the symbols' values.
  std::optional<bool> equal(const known_element& a, const known_element& b) const {
    if (a.is_number() && b.is_number()) return a.number == b.number;
    if (a.is_numeric() && b.is_numeric()) return a.as_real() == b.as_real();
    const std::optional<bounds> r = difference(a, b);
    if (!r) return std::nullopt;
    if (r->min == 0 && r->max == 0) return true;
    return r->min > 0 || r->max < 0 ? std::optional(false) : std::nullopt;
  }
  std::optional<bool> less(const known_element& a, const known_element& b) const {
    if (a.is_number() && b.is_number()) return a.number < b.number;
    if (a.is_numeric() && b.is_numeric()) return a.as_real() < b.as_real();
    const std::optional<bounds> r = difference(a, b);
    if (!r) return std::nullopt;
    if (r->max < 0) return true;
    return r->min >= 0 ? std::optional(false) : std::nullopt;
  }

  // As ONNX's Cast converts an element of `from` to `to`.
  known_element cast(const known_element& e, dtype from, dtype to) const {
    if (e.is_expression()) {
      if (to == boolean) {
        const std::optional<bool> zero = equal(e, known_element::of_number(0));
        return zero ? known_element::of_number(*zero ? 0 : 1) : known_element{};
      }
      // narrower types would have to wrap; f16 and bf16 would have to round
      return to == i64 || to == i32 || to == f32 || to == f64 ? e : known_element{};
    }
    if (e.is_fraction()) {
      if (to == f32 || to == f64) return e;
      return (to == i64 || to == i32) && table_.range(e.expression).min >= 0 ? rounded(e, false) : known_element{};
    }
    if (!e.is_numeric()) return {};
    if (from == u64 || to == u64) return {};
    host_tensor one(to, {});
    if (e.is_real()) one.set(0, e.real);
    else one.set(0, e.number);
    return is_floating(to) ? known_element::of_real(one.reals[0]) : known_element::of_number(one.integers[0]);
  }

  symbol_table& table() const { return table_; }

 private:
  // Two elements one of which is a fraction in halves, quarters, eighths or sixteenths, such as 0.5 or L / 4: sums and
  // products with these are exact in 32-bit floats, too.
  struct two_fractions {
    dim a, under_a, b, under_b;
  };
  std::optional<two_fractions> halved(const known_element& a, const known_element& b) const {
    two_fractions r{to_dim(a), 1, to_dim(b), 1};
    if (!split(a, r.a, r.under_a) || !split(b, r.b, r.under_b)) return std::nullopt;
    return r.under_a == dim(1) && r.under_b == dim(1) ? std::nullopt : std::optional(r);
  }
  bool split(const known_element& e, dim& over, dim& under) const {
    constexpr std::int64_t most = 16;
    if (e.is_fraction()) {
      over = e.expression;
      under = e.denominator;
    } else if (e.is_real() && over.is_unknown() && std::fabs(e.real) < 0x1p20) {
      over = to_dim(known_element::of_real(e.real * most));
      under = most;
    }
    return !over.is_unknown() && under.is_known() && most % under.value() == 0;
  }
  known_element fraction(dim over, dim under) const {
    if (over.is_unknown() || under.is_unknown()) return {};
    for (std::int64_t n = 2; under.is_known() && under.value() % n == 0;) {  // out of halves, if they can be
      const dim half = table_.exact_div(over, n);
      if (half.is_unknown()) break;
      over = half;
      under = under.value() / n;
    }
    return under == dim(1) ? to_element(over) : known_element::of_fraction(over, under);
  }

  std::optional<bounds> difference(const known_element& a, const known_element& b) const {
    const dim x = to_dim(a), y = to_dim(b);
    if (x.is_unknown() || y.is_unknown()) return std::nullopt;
    const dim d = table_.sub(x, y);
    if (d.is_unknown()) return std::nullopt;
    return table_.range(d);
  }

  symbol_table& table_;
};

}  // namespace dnnkit::onnx
