// SPDX-License-Identifier: MIT
// AssumeShape: what may be assumed, the elements, and views that agree with them.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/assume_shape.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "dnnkit/op/builtin.hpp"
#include "dnnkit/reference/evaluator.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/inferred.hpp"
#include "tests/support/movement_laws.hpp"

using namespace dnnkit;

namespace {

constexpr sym L{"L", {1, 512}};

static_assert(inferred([](builder& g) { return assume_shape(g.input("x", f32, {L, 3}), {4, 3}); }) == "f32 [4, 3]");
static_assert(inferred([](builder& g) { return assume_shape(g.input("x", f32, {L, 3}), {L, 3}); }) == "f32 [L, 3]");
static_assert(inferred([](builder& g) {
                return assume_shape(g.input("x", f32, {L, 3}), {4});
              }) == "AssumeShape: the shape that is assumed has another rank");
static_assert(inferred([](builder& g) {
                return assume_shape(g.input("x", f32, {L, 3}), {4, 2});
              }) == "AssumeShape: extent 1 is 3, which is never 2 as it is assumed to be");
static_assert(inferred([](builder& g) { return assume_shape(g.input("x", f32, {L}), {513}); }) ==
              "AssumeShape: extent 0 is L, which is never 513 as it is assumed to be");

TEST_CASE("the elements are those of the input, whose extents must be as assumed") {
  builder b;
  b.output("y", neg(assume_shape(b.input("x", f32, {"N", 2}), {2, 2}, "Neg 'minus'")));
  CHECK(evaluate(b.value(), std::vector{host_tensor({2, 2}, {1, 2, 3, 4})})[0].reals ==
        std::vector<double>{-1, -2, -3, -4});
  CHECK(error_of([&] {
          return evaluate(b.value(), std::vector{host_tensor({3, 2}, {1, 2, 3, 4, 5, 6})});
        }) == "Neg 'minus', tensor 'x': an extent is not what it needs, expected 2, found N = 3");
}

TEST_CASE("at() and views agree") {
  const auto seed = std::random_device{}();
  CAPTURE(seed);
  positions::generator random(seed);
  movement_laws::outcome outcome;
  for (int round = 0; round < 100; ++round) {
    const positions::index_list in = random.shape_of(1, 3);
    movement_laws::check(op::assume_shape{positions::to_shape(in)}, in, random, outcome);
  }
  CHECK(outcome.refused == 0);

  symbol_table table;
  const dim n = table.symbol_named("N", {1, 100}), three = 3;
  view_algebra algebra(table);
  view v = algebra.row_major({n, n});
  const shape from{n, n}, to{n, three};
  REQUIRE(op::assume_shape::forward({algebra, from, to}, v));
  CHECK(v.dims[1][0] == axis{three, 1});
  CHECK(v.dims[0][0] == axis{n, n});
  REQUIRE(op::assume_shape::backward({algebra, from, to}, v));
  CHECK(v == algebra.row_major({n, n}));
}

}  // namespace
