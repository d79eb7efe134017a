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
  CHECK(error_of([&] {
          values.bind({w}, {8}, "input 'z'");
          return 0;
        }) == "input 'z', symbol 'W': symbol has two values, expected 9, found 8");
}
