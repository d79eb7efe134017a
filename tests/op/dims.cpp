// SPDX-License-Identifier: MIT
// Extents as a tensor: known ones, and expressions over the symbols of a graph.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/dims.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "dnnkit/op/builtin.hpp"
#include "dnnkit/reference/evaluator.hpp"
#include "tests/support/inferred.hpp"
#include "tests/support/operator_cases.hpp"

using namespace dnnkit;

namespace {

constexpr sym L{"L", {1, 512}};

constexpr tensor sizes_of(builder& g) {
  const dim l = g.symbol(L);
  symbol_table& t = g.value().symbols;
  return g.apply(op::dims{{l, t.mul(l, 2), t.floor_div(l, 4), 9}}, {});
}
static_assert(inferred([](builder& g) { return sizes_of(g); }) == "i64 [4]");
static_assert(inferred([](builder& g) {
                return g.apply(op::dims{{3, dim::unknown()}}, {});
              }) == "Dims: a value is not known");

static_assert(inferred([](builder& g) { return shape_of(g.input("x", f32, {2, L, 3})); }) == "i64 [3]");
static_assert(inferred([](builder& g) { return shape_of(g.input("x", f32, {2, L, 3}), {.start = -1}); }) == "i64 [1]");
static_assert(inferred([](builder& g) {
                return shape_of(g.input("x", f32, {2, L, 3}), {.start = 2, .end = 1});
              }) == "i64 [0]");

TEST_CASE("numbers, and extents of a tensor") {
  const auto outcome = operator_cases::run("dims");
  CHECK(outcome.cases == 7);
}

TEST_CASE("shape_of: extents that elements decide") {
  builder g;
  g.output("y", shape_of(non_zero(g.input("x", f32, {2, L}))));
  const auto y = evaluate(g.value(), std::vector<host_tensor>{host_tensor({2, 2}, {1, 0, 3, 4})})[0];
  CHECK(y.integers == std::vector<std::int64_t>{2, 3});
}

TEST_CASE("dims: expressions take the values of the symbols") {
  builder g;
  const tensor x = g.input("x", f32, {L});
  g.output("y", x);
  g.output("sizes", sizes_of(g));
  const auto sizes = evaluate(g.value(), std::vector<host_tensor>{host_tensor(f32, {10})})[1];
  CHECK(sizes.integers == std::vector<std::int64_t>{10, 20, 2, 9});
}

// The least number, which has no opposite
static_assert([] {
  builder g;
  const extent l = g.size(L);
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  return (l * least).d.is_expression() && (l - least).d.is_unknown();
}());

TEST_CASE("dims: numbers below zero, which no extent is") {
  builder g;
  const extent l = g.size(L);
  g.output("y", g.input("x", f32, {L}));
  g.output("numbers", g.apply(op::dims{{l * -1, l * -3 + 4, l - l + 6 - l, l - l - 1, l - l - 7, l - 10}}, {}));
  const auto numbers = evaluate(g.value(), std::vector<host_tensor>{host_tensor(f32, {10})})[1];
  CHECK(numbers.integers == std::vector<std::int64_t>{-10, -26, -4, -1, -7, 0});
}

}  // namespace
