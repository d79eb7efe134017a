// SPDX-License-Identifier: MIT
// Arithmetic on numbers, expressions and what is not known.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/onnx/import/element_arithmetic.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace dnnkit;
using onnx::element_arithmetic;
using onnx::known_element;

namespace {

struct elements {
  symbol_table table;
  element_arithmetic a{table};
  known_element l = known_element::of_dim(table.symbol_named("L", {1, 100}));

  static known_element n(std::int64_t x) { return known_element::of_number(x); }
  static known_element r(double x) { return known_element::of_real(x); }
  std::string text(const known_element& e) const {
    if (e.is_unknown()) return "?";
    if (e.is_number()) return std::to_string(e.number);
    if (e.is_real()) return std::to_string(e.real);
    const std::string over = table.print(e.expression).str();
    return e.is_fraction() ? "(" + over + ") / (" + table.print(e.denominator).str() + ")" : over;
  }
};

TEST_CASE("numbers, also negative ones, and expressions") {
  elements e;
  CHECK(e.text(e.a.add(e.n(2), e.n(-5))) == "-3");
  CHECK(e.text(e.a.add(e.l, e.n(-5))) == "L-5");
  CHECK(e.text(e.a.sub(e.l, e.l)) == "0");
  CHECK(e.text(e.a.sub(e.a.sub(e.l, e.n(7)), e.l)) == "-7");
  CHECK(e.text(e.a.mul(e.a.add(e.l, e.n(1)), e.n(3))) == "3*L+3");
  CHECK(e.text(e.a.mul(e.l, e.n(0))) == "0");
  CHECK(e.text(e.a.add(known_element{}, e.n(1))) == "?");
  CHECK(e.text(e.a.add(e.n(INT64_MAX), e.n(1))) == "?");
}

TEST_CASE("quotients and remainders: towards zero, of either sign") {
  elements e;
  CHECK(e.text(e.a.div(e.n(-7), e.n(2), true)) == "-3");
  CHECK(e.text(e.a.div(e.n(7), e.n(0), true)) == "?");
  CHECK(e.text(e.a.div(e.n(INT64_MIN), e.n(-1), true)) == std::to_string(INT64_MIN));
  CHECK(e.text(e.a.mod(e.n(INT64_MIN), e.n(-1), false)) == "0");
  CHECK(e.text(e.a.min(e.n(INT64_MAX), e.n(INT64_MAX - 1))) == std::to_string(INT64_MAX - 1));
  CHECK(e.text(e.a.max(e.n(INT64_MAX - 1), e.n(INT64_MAX))) == std::to_string(INT64_MAX));
  CHECK(e.text(e.a.div(e.a.mul(e.l, e.n(4)), e.n(2), true)) == "2*L");
  CHECK(e.text(e.a.div(e.l, e.n(2), true)) == "floor_div(L, 2)");
  CHECK(e.text(e.a.div(e.a.sub(e.l, e.n(5)), e.n(2), true)) == "?");                          // which may be negative
  CHECK(e.text(e.a.div(e.a.sub(e.l, e.n(2)), e.n(2), true)) == "floor_div(max(0, L-2), 2)");  // at least -1
  CHECK(e.text(e.a.div(e.l, e.r(1), false)) == "L");
  CHECK(e.text(e.a.div(e.l, e.r(0.5), false)) == "2*L");
  CHECK(e.text(e.a.div(e.l, e.r(-1), false)) == "-L");
  CHECK(e.text(e.a.div(e.a.sub(e.l, e.r(0.5)), e.r(1.5), false)) == "(2*L-1) / (3)");
  CHECK(e.text(e.a.mod(e.n(-7), e.n(3), false)) == "2");
  CHECK(e.text(e.a.mod(e.n(-7), e.n(3), true)) == "-1");
  CHECK(e.text(e.a.mod(e.l, e.n(4), false)) == "mod(L, 4)");
}

TEST_CASE("fractions, as far as 32-bit floats are exact") {
  elements e;
  const known_element half = e.a.mul(e.l, e.r(0.5)), third = e.a.div(e.l, e.n(3), false);
  CHECK(e.text(half) == "(L) / (2)");
  CHECK(e.text(third) == "(L) / (3)");
  CHECK(e.text(e.a.div(e.n(3), e.l, false)) == "(3) / (L)");
  CHECK(e.text(e.a.add(half, half)) == "L");
  CHECK(e.text(e.a.add(half, e.r(0.25))) == "(2*L+1) / (4)");
  CHECK(e.text(e.a.sub(half, e.n(1))) == "(L-2) / (2)");
  CHECK(e.text(e.a.mul(half, e.n(4))) == "2*L");
  CHECK(e.text(e.a.mul(third, e.n(3))) == "?");  // which may be rounded
  CHECK(e.text(e.a.mul(e.l, e.r(0.3))) == "?");
  CHECK(e.text(e.a.rounded(half, false)) == "floor_div(L, 2)");
  CHECK(e.text(e.a.rounded(half, true)) == "floor_div(L+1, 2)");
  CHECK(e.text(e.a.rounded(third, true)) == "floor_div(L+2, 3)");
  CHECK(e.text(e.a.rounded(e.a.div(e.n(3), e.l, false), true)) == "floor_div(2, L)+1");
  CHECK(e.text(e.a.cast(third, f32, i64)) == "floor_div(L, 3)");
  CHECK(e.text(e.a.cast(e.a.sub(half, e.n(1)), f32, i64)) == "?");  // towards zero, of either sign
  CHECK(e.text(e.a.max(half, e.n(1))) == "?");
  CHECK(e.a.less(half, e.n(1)) == std::nullopt);
}

TEST_CASE("remainders are known to be natural numbers") {
  elements e;
  symbol_table& t = e.table;
  const dim l = e.l.expression, half = t.floor_div(l, 2), quarter = t.floor_div(l, 4);
  CHECK(e.a.is_natural(l));
  CHECK(e.a.is_natural(t.sub(l, t.mul(half, 2))));
  CHECK(e.a.is_natural(t.sub(half, t.mul(quarter, 2))));
  CHECK(e.a.is_natural(t.add(t.sub(half, t.mul(quarter, 2)), 1)));
  CHECK(!e.a.is_natural(t.sub(half, t.mul(quarter, 3))));
  CHECK(!e.a.is_natural(t.add(t.sub(l, t.mul(half, 2)), -1)));
  CHECK(!e.a.is_natural(t.add(l, -2)));
  CHECK(!e.a.is_natural(dim::unknown()));
}

TEST_CASE("comparisons are decided where bounds allow it") {
  elements e;
  CHECK(e.a.equal(e.l, e.l) == true);
  CHECK(e.a.equal(e.l, e.n(-1)) == false);
  CHECK(e.a.equal(e.l, e.n(7)) == std::nullopt);
  CHECK(e.a.less(e.n(0), e.l) == true);
  CHECK(e.a.less(e.l, e.n(101)) == true);
  CHECK(e.a.less(e.l, e.n(100)) == std::nullopt);
  CHECK(e.a.less(e.l, e.a.add(e.l, e.n(1))) == true);
  CHECK(e.text(e.a.max(e.l, e.n(0))) == "L");
  CHECK(e.text(e.a.min(e.n(-2), e.n(3))) == "-2");
}

TEST_CASE("casts") {
  elements e;
  CHECK(e.text(e.a.cast(e.n(300), i64, u8)) == "44");
  CHECK(e.text(e.a.cast(e.r(2.9), f32, i64)) == "2");
  CHECK(e.text(e.a.cast(e.l, i64, f32)) == "L");
  CHECK(e.text(e.a.cast(e.l, i64, i8)) == "?");
  CHECK(e.text(e.a.cast(e.l, i64, boolean)) == "1");
  CHECK(e.text(e.a.cast(e.n(0), i64, boolean)) == "0");
}

}  // namespace
