// SPDX-License-Identifier: MIT
// GatherElements, GatherND, ReverseSequence: shapes and values.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/gather_elements.hpp"

#include <doctest/doctest.h>

#include "dnnkit/reference/evaluator.hpp"
#include "tests/support/inferred.hpp"
#include "tests/support/operator_cases.hpp"

using namespace dnnkit;

namespace {

constexpr sym L{"L", {1, 512}};

static_assert(inferred([](builder& g) {
                return gather_elements(g.input("x", f32, {7, L}), g.input("i", i64, {2, L}));
              }) == "f32 [2, L]");
static_assert(inferred([](builder& g) {
                return gather_nd(g.input("x", f32, {7, 4, L}), g.input("i", i32, {2, 1}));
              }) == "f32 [2, 4, L]");
static_assert(inferred([](builder& g) {
                return gather_nd(g.input("x", f32, {7, L}), g.input("i", i64, {2, 3}));
              }) == "GatherND: batch_dims and the last extent of indices exceed data's rank");

static_assert(inferred([](builder& g) {
                return gather_elements(g.input("x", f32, {2, 2}), g.input("i", i64, {3, 2}), {.axis = 1});
              }) ==
              "GatherElements: indices are longer than data in an axis that is not the one they "
              "count along");

TEST_CASE("a symbol that makes indices longer than data raises an error") {
  builder g;
  const tensor x = g.input("x", f32, {2, 2}), i = g.input("i", i64, {L, 2});
  g.output("y", gather_elements(x, i, {.axis = 1}));
  const auto of = [](std::int64_t n) {
    return std::vector{host_tensor({2, 2}, {1, 2, 3, 4}), host_tensor(i64, {n, 2})};
  };
  CHECK(evaluate(g.value(), of(2))[0].reals == std::vector<double>{1, 1, 3, 3});
  CHECK_THROWS_AS(evaluate(g.value(), of(3)), error);
}

TEST_CASE("a sequence length that the sequence does not have raises an error, as in ONNX Runtime") {
  builder g;
  const tensor x = g.input("x", f32, {3, 2});
  g.output("y", reverse_sequence(x, g.input("n", i64, {2})));
  const auto of = [](std::int64_t a, std::int64_t b) {
    return std::vector{host_tensor({3, 2}, {1, 2, 3, 4, 5, 6}), host_tensor::of_integers(i64, {2}, {a, b})};
  };
  CHECK(evaluate(g.value(), of(0, 3))[0].reals == std::vector<double>{1, 6, 3, 4, 5, 2});
  const auto refused = [&](std::int64_t n) {
    return "ReverseSequence: sequence length is out of range, expected 0 to 3, found " + std::to_string(n);
  };
  CHECK_THROWS_WITH_AS(evaluate(g.value(), of(4, 1)), refused(4).c_str(), error);
  CHECK_THROWS_WITH_AS(evaluate(g.value(), of(1, -1)), refused(-1).c_str(), error);
}

TEST_CASE("gather_elements: results from elsewhere, with known and with symbolic extents") {
  const auto outcome = operator_cases::run("gather_elements");
  CHECK(outcome.cases >= 15);
  CHECK(outcome.symbolic_graphs >= 20);
}

}  // namespace
