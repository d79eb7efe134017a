// SPDX-License-Identifier: MIT
// Arithmetic on known elements: on whole numbers that of tensor/symbolic_number.hpp, which passes compute shapes with
// as well; besides on reals, and on the fractions of expressions that scales of a Resize are (SoD2, section 4.1: the
// value half of the forward transfer functions).
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>

#include "dnnkit/onnx/import/known_elements.hpp"
#include "dnnkit/tensor/symbolic_number.hpp"

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
  known_element to_element(dim d) const { return to_element(symbolic_number(table_, d)); }
  known_element to_element(symbolic_number x) const {
    if (x.is_number()) return known_element::of_number(x.number());
    return x.is_expression() ? known_element::of_dim(x.in(table_)) : known_element{};
  }

  known_element add(const known_element& a, const known_element& b) const {
    if (are_reals(a, b)) return known_element::of_real(a.as_real() + b.as_real());
    if (const auto r = halved(a, b))
      return fraction(table_.add(table_.mul(r->a, r->under_b), table_.mul(r->b, r->under_a)),
                      table_.mul(r->under_a, r->under_b));
    return to_element(whole(a) + whole(b));
  }
  known_element sub(const known_element& a, const known_element& b) const {
    if (are_reals(a, b)) return known_element::of_real(a.as_real() - b.as_real());
    if (const auto r = halved(a, b))
      return fraction(table_.sub(table_.mul(r->a, r->under_b), table_.mul(r->b, r->under_a)),
                      table_.mul(r->under_a, r->under_b));
    return to_element(whole(a) - whole(b));
  }
  known_element mul(const known_element& a, const known_element& b) const {
    if (are_reals(a, b)) return known_element::of_real(a.as_real() * b.as_real());
    if (const auto r = halved(a, b)) return fraction(table_.mul(r->a, r->b), table_.mul(r->under_a, r->under_b));
    return to_element(whole(a) * whole(b));
  }
  // Integers: without the fraction, as ONNX's Div; by 0 unknown, which the operator says when the network runs. Reals:
  // a fraction when an operand is an expression.
  known_element div(const known_element& a, const known_element& b, bool integers) const {
    if (integers && !are_reals(a, b)) return to_element(quotient(whole(a), whole(b)));
    if (a.is_numeric() && b.is_numeric()) return known_element::of_real(a.as_real() / b.as_real());
    if (b.is_numeric() && b.as_real() < 0) return div(negative(a), negative(b), integers);
    dim x = to_dim(a), y = to_dim(b), under_x = 1, under_y = 1;
    if (!split(a, x, under_x) || !split(b, y, under_y)) return {};
    x = table_.mul(x, under_y);
    y = table_.mul(y, under_x);
    if (x.is_unknown() || y.is_unknown() || table_.range(y).min < 1) return {};
    const dim exact = table_.exact_div(x, y);
    return exact.is_unknown() ? fraction(x, y) : to_element(exact);
  }
  known_element negative(const known_element& e) const { return sub(known_element::of_number(0), e); }
  bool is_natural(dim d) const { return dnnkit::is_natural(table_, d); }
  // The whole number below (or, if `up`, above) a fraction. A quotient of whole numbers that is none lies so far from
  // the next one that rounding to 32-bit floats cannot reach it.
  known_element rounded(const known_element& e, bool up) const {
    if (!e.is_fraction()) return e.is_expression() || e.is_number() ? e : known_element{};
    return to_element(up ? table_.ceil_div(e.expression, e.denominator)
                         : table_.floor_div(e.expression, e.denominator));
  }
  // The sign of the result is that of the divisor (ONNX's Mod), or of the dividend (fmod).
  known_element mod(const known_element& a, const known_element& b, bool fmod) const {
    if (!fmod) return to_element(modulo(whole(a), whole(b)));
    if (a.is_number() && b.is_number()) {
      if (b.number == 0 || b.number == -1) return b.number == 0 ? known_element{} : known_element::of_number(0);
      return known_element::of_number(a.number % b.number);
    }
    const symbolic_number negative = whole(a) < symbolic_number(0);
    return negative.is_number() && negative.number() == 0 ? to_element(modulo(whole(a), whole(b))) : known_element{};
  }
  known_element min(const known_element& a, const known_element& b) const {
    if (are_reals(a, b)) return a.as_real() <= b.as_real() ? a : b;
    return to_element(minimum(whole(a), whole(b)));
  }
  known_element max(const known_element& a, const known_element& b) const {
    if (are_reals(a, b)) return a.as_real() >= b.as_real() ? a : b;
    return to_element(maximum(whole(a), whole(b)));
  }

  // 1 or 0 where it is certain how a and b are related, else the comparison of two expressions, or not known.
  known_element compared(const known_element& a, relation is, const known_element& b) const {
    const bool by_equality = is == relation::equal || is == relation::different;
    const std::optional<bool> known = by_equality ? equal(a, b) : less(a, b);
    const bool negated = is == relation::different || is == relation::at_least;
    if (known) return known_element::of_number(*known != negated ? 1 : 0);
    const dim x = whole(a).in(table_), y = whole(b).in(table_);
    if (x.is_unknown() || y.is_unknown()) return {};
    if (const std::optional<bool> assumed = table_.assumed(x, is, y)) return known_element::of_number(*assumed ? 1 : 0);
    return known_element::of_comparison(x, is, y);
  }
  known_element negation(const known_element& e) const {
    if (e.is_number()) return known_element::of_number(e.number == 0 ? 1 : 0);
    if (!e.is_comparison()) return {};
    return known_element::of_comparison(e.expression, opposite(e.compared_by()), e.denominator);
  }
  // Whether a == b, or a < b; nothing when that depends on the symbols' values.
  std::optional<bool> equal(const known_element& a, const known_element& b) const {
    if (are_reals(a, b)) return a.as_real() == b.as_real();
    return truth(whole(a) == whole(b));
  }
  std::optional<bool> less(const known_element& a, const known_element& b) const {
    if (are_reals(a, b)) return a.as_real() < b.as_real();
    return truth(whole(a) < whole(b));
  }

  // As ONNX's Cast converts an element of `from` to `to`.
  known_element cast(const known_element& e, dtype from, dtype to) const {
    if (e.is_comparison()) return to == boolean ? e : known_element{};
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
  static constexpr std::int64_t most_parts = 16;
  struct two_fractions {
    dim a, under_a, b, under_b;
  };
  std::optional<two_fractions> halved(const known_element& a, const known_element& b) const {
    if (a.is_number() && b.is_number()) return std::nullopt;
    two_fractions r{to_dim(a), 1, to_dim(b), 1};
    if (!split(a, r.a, r.under_a) || !split(b, r.b, r.under_b)) return std::nullopt;
    for (const dim under : {r.under_a, r.under_b})
      if (!under.is_known() || most_parts % under.value() != 0) return std::nullopt;
    return r.under_a == dim(1) && r.under_b == dim(1) ? std::nullopt : std::optional(r);
  }
  // e = over / under, where `over` is e as a whole number so far, if it is one.
  bool split(const known_element& e, dim& over, dim& under) const {
    if (e.is_fraction()) {
      over = e.expression;
      under = e.denominator;
    } else if (e.is_real() && over.is_unknown() && std::fabs(e.real) < 0x1p20) {
      over = to_dim(known_element::of_real(e.real * most_parts));
      under = most_parts;
    }
    return !over.is_unknown();
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

  static bool are_reals(const known_element& a, const known_element& b) {
    return a.is_numeric() && b.is_numeric() && (a.is_real() || b.is_real());
  }
  // What the element is as a whole number, which arithmetic on extents is about; unknown where it is none.
  symbolic_number whole(const known_element& e) const {
    if (e.is_number()) return e.number;
    return {table_, to_dim(e)};
  }
  static std::optional<bool> truth(symbolic_number x) {
    return x.is_number() ? std::optional(x.number() != 0) : std::nullopt;
  }

  symbol_table& table_;
};

}  // namespace dnnkit::onnx
