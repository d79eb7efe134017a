// SPDX-License-Identifier: MIT
// Reductions: shapes and values.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/reduction.hpp"

#include <doctest/doctest.h>

#include "dnnkit/reference/evaluator.hpp"
#include "tests/support/inferred.hpp"
#include "tests/support/operator_cases.hpp"

using namespace dnnkit;

namespace {

constexpr sym H{"H", {1, 512}};

// One that does not say its cost.
struct of_two_passes {
  static constexpr std::string_view name = "OfTwoPasses";
  static constexpr form kind = form::reduction;
  static constexpr traits properties{.map = mapping::many_to_many};
  static constexpr std::size_t passes = 2;
  constexpr axis_set axes(std::size_t rank) const { return axes_of({}, rank); }
  constexpr void infer(inference& c) const { c.out(c.type(0), {}); }
};
constexpr bool counts_what_is_read() {
  builder g;
  g.apply(of_two_passes{}, {g.input("x", f32, {H, 7})});
  return g.value().symbols.print(g.value().flops_of(g.value().nodes[0])).view() == "14*H";
}
static_assert(counts_what_is_read());

static_assert(inferred([](builder& g) {
                return reduce_sum(g.input("x", f32, {2, H, 3}), {.axes = {1}});
              }) == "f32 [2, 1, 3]");
static_assert(inferred([](builder& g) {
                return reduce_mean(g.input("x", f32, {2, H, 3}), {.axes = {0, -1}, .keepdims = false});
              }) == "f32 [H]");
static_assert(inferred([](builder& g) {
                return reduce_max(g.input("x", i64, {2, H}), {.keepdims = false});
              }) == "i64 []");
static_assert(inferred([](builder& g) {
                return reduce_min(g.input("x", f32, {2, H}), {.axes = {2}});
              }) == "ReduceMin: axis 2 is outside a tensor of rank 2");
static_assert(inferred([](builder& g) {
                return reduce_l2(g.input("x", i64, {2, H}));
              }) == "ReduceL2: input 0 is i64, expected a floating-point type");

TEST_CASE("reduction: ONNX Runtime's results, with known and with symbolic extents") {
  const auto outcome = operator_cases::run("reduction");
  CHECK(outcome.cases >= 69);
  CHECK(outcome.symbolic_graphs >= 190);
}

TEST_CASE("a row that is minus infinity throughout") {
  builder g;
  g.output("y", reduce_log_sum_exp(g.input("x", f32, {2}), {.keepdims = false}));
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK(evaluate(g.value(), std::vector{host_tensor({2}, {-infinity, -infinity})})[0].reals[0] == -infinity);
}

}  // namespace
