// SPDX-License-Identifier: MIT
// Symbols bound by the shapes of inputs, and the expressions that follow.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/reference/symbol_values.hpp"

#include <doctest/doctest.h>

#include "tests/support/error_of.hpp"

using namespace dnnkit;

TEST_CASE("values of expressions") {
  symbol_table t;
  const dim h = t.symbol_named("H", {1, 10}), w = t.symbol_named("W", {0, 10});
  const dim half = t.ceil_div(h, 2), difference = t.sub(h, w);
  symbol_values values(t);
  CHECK(error_of([&] { return values.of(half); }) == "symbol 'H': symbol has no value: no input has it for an extent");
  values.bind({4, h, half}, {4, 7, 99}, "input 'x'");  // only symbols that stand alone are bound
  CHECK(values.of(half) == dim(4));
  CHECK(values.of(5) == dim(5));
  CHECK(values.of(dim::unknown()).is_unknown());
  values.bind({w}, {9}, "input 'y'");
  CHECK(error_of([&] { return values.of(difference); }) == "-W+H: extent is negative, found -2");
  CHECK(values.number(difference) == -2);
  CHECK(values.number(5) == 5);
  CHECK(error_of([&] {
          values.bind({w}, {8}, "input 'z'");
          return 0;
        }) == "input 'z', symbol 'W': symbol has two values, expected 9, found 8");
}

TEST_CASE("multiples of a symbol, and sums with a number") {
  symbol_table t;
  const dim n = t.symbol_named("n", {1, 10}), k = t.symbol_named("k", {0, 4});
  symbol_values values(t);
  values.bind({t.mul(n, 16), t.add(k, 3)}, {48, 5}, "input 'x'");
  CHECK(values.of(n) == dim(3));
  CHECK(values.of(k) == dim(2));
  CHECK(error_of([&] {
          symbol_values(t).bind({t.mul(n, 16)}, {50}, "input 'x'");
          return 0;
        }) == "input 'x', symbol 'n': extent is not of the form it must have, expected 16*n, found 50");
  CHECK(error_of([&] {
          symbol_values(t).bind({t.mul(n, 16)}, {176}, "input 'x'");
          return 0;
        }) == "input 'x', symbol 'n': extent is out of bounds, expected 1 to 10, found 11");
}
