// SPDX-License-Identifier: MIT
// Numbers that may be expressions, compared with the numbers that they are for each value of the symbol.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/tensor/symbolic_number.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "dnnkit/operator/scalar.hpp"

using namespace dnnkit;
using number_function = std::function<std::int64_t(std::int64_t, std::int64_t)>;
using symbolic_function = std::function<symbolic_number(symbolic_number, symbolic_number)>;

namespace {

constexpr std::int64_t least = 1, most = 12;

// Wherever f says something of two operands, it is what `expected` says of them for each value of the symbol. Of how
// many pairs it says something.
int said(const symbolic_function& f, const number_function& expected) {
  symbol_table t;
  const dim l = t.symbol_named("L", {least, most});
  std::vector<symbolic_number> operands{
      {t, l}, {t, t.mul(l, 2)}, {t, t.sub(l, 5)}, {t, t.floor_div(l, 2)}, {t, t.sub(l, t.mul(t.floor_div(l, 2), 2))},
      {}};
  for (std::int64_t n : {-3, -1, 0, 1, 2, 12, 13}) operands.emplace_back(n);
  int count = 0;
  for (const symbolic_number a : operands)
    for (const symbolic_number b : operands) {
      const symbolic_number y = f(a, b);
      if (y.is_unknown()) continue;
      ++count;
      if (a.is_unknown() || b.is_unknown()) continue;  // 0 times anything, and the like
      for (std::int64_t value = least; value <= most; ++value) {
        const auto of = [&](symbolic_number x) { return x.is_number() ? x.number() : t.evaluate(x.in(t), &value); };
        CAPTURE(value);
        CAPTURE(of(a));
        CAPTURE(of(b));
        CHECK(of(y) == expected(of(a), of(b)));
      }
    }
  return count;
}

}  // namespace

TEST_CASE("arithmetic is that of the numbers, and sums, differences and products are always said") {
  CHECK(said([](auto a, auto b) { return a + b; }, [](auto a, auto b) { return a + b; }) == 144);
  CHECK(said([](auto a, auto b) { return a - b; }, [](auto a, auto b) { return a - b; }) == 144);
  CHECK(said([](auto a, auto b) { return a * b; }, [](auto a, auto b) { return a * b; }) == 146);
  CHECK(said([](auto a, auto b) { return minimum(a, b); }, [](auto a, auto b) { return a < b ? a : b; }) == 144);
  CHECK(said([](auto a, auto b) { return maximum(a, b); }, [](auto a, auto b) { return a < b ? b : a; }) == 144);
  CHECK(said([](auto a, auto b) { return quotient(a, b); }, [](auto a, auto b) { return quotient(a, b); }) > 70);
  CHECK(said([](auto a, auto b) { return modulo(a, b); }, [](auto a, auto b) { return modulo(a, b); }) > 70);
}

TEST_CASE("comparisons hold, or not, whatever the symbol is") {
  CHECK(said([](auto a, auto b) { return a == b; }, [](auto a, auto b) { return a == b; }) > 80);
  CHECK(said([](auto a, auto b) { return a != b; }, [](auto a, auto b) { return a != b; }) > 80);
  CHECK(said([](auto a, auto b) { return a < b; }, [](auto a, auto b) { return a < b; }) > 80);
  CHECK(said([](auto a, auto b) { return a <= b; }, [](auto a, auto b) { return a <= b; }) > 80);
  CHECK(said([](auto a, auto b) { return a > b; }, [](auto a, auto b) { return a > b; }) > 80);
  CHECK(said([](auto a, auto b) { return a >= b; }, [](auto a, auto b) { return a >= b; }) > 80);
}

TEST_CASE("truth values, as far as they are known") {
  const symbolic_number yes = 1, no = 0, unknown;
  for (const symbolic_number a : {yes, no, unknown})
    for (const symbolic_number b : {yes, no, unknown}) {
      const bool one_is_false = is_same(a, no) || is_same(b, no), one_is_true = is_same(a, yes) || is_same(b, yes);
      CHECK((a & b).is_unknown() == (!one_is_false && (a.is_unknown() || b.is_unknown())));
      CHECK((a | b).is_unknown() == (!one_is_true && (a.is_unknown() || b.is_unknown())));
      CHECK((a ^ b).is_unknown() == (a.is_unknown() || b.is_unknown()));
    }
  CHECK(is_same(select(yes, 3, 4), 3));
  CHECK(is_same(select(no, 3, 4), 4));
  CHECK(is_same(select(unknown, 3, 3), 3));
  CHECK(select(unknown, 3, 4).is_unknown());
}

// The lattice of SoD2, figure 2: meet is idempotent and commutative, and nothing is below what is not known.
TEST_CASE("meet") {
  symbol_table t;
  const dim l = t.symbol_named("L", {least, most});
  const symbolic_number all[] = {3, 4, {t, l}, {t, t.mul(l, 2)}, {}};
  for (const symbolic_number a : all) {
    CHECK((is_same(meet(a, a), a) || a.is_unknown()));
    CHECK(meet(a, {}).is_unknown());
    for (const symbolic_number b : all) CHECK(is_same(meet(a, b), meet(b, a)) == is_same(a, b));
  }
}

TEST_CASE("numbers that leave 64 bits are not known") {
  const symbolic_number large = INT64_MAX;
  CHECK((large + symbolic_number(1)).is_unknown());
  CHECK((large * large).is_unknown());
  CHECK((symbolic_number(INT64_MIN) - symbolic_number(1)).is_unknown());
  CHECK(quotient(large, symbolic_number(0)).is_unknown());
}
