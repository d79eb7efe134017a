// SPDX-License-Identifier: MIT
// RNN, GRU, LSTM: shapes and values.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/recurrent.hpp"

#include <doctest/doctest.h>

#include "dnnkit/reference/evaluator.hpp"
#include "tests/support/inferred.hpp"
#include "tests/support/operator_cases.hpp"

using namespace dnnkit;

namespace {

constexpr sym L{"L", {1, 512}};

static_assert(inferred([](builder& g) {
                return g.apply(op::lstm{.direction = recurrent_direction::bidirectional},
                               {g.input("x", f32, {L, 2, 5}), g.weight("w", {2, 12, 5}), g.weight("r", {2, 12, 3})});
              }) == "f32 [L, 2, 2, 3]");
static_assert(inferred([](builder& g) {
                return g.apply(op::gru{.output = 1},
                               {g.input("x", f32, {L, 2, 5}), g.weight("w", {1, 9, 5}), g.weight("r", {1, 12, 3})});
              }) == "GRU: the second extent of a weight is 12, but gates times units is 9");

TEST_CASE("a sequence length that the sequence does not have raises an error, as in ONNX Runtime") {
  builder g;
  const tensor x = g.input("x", f32, {3, 1, 1}), w = g.input("w", f32, {1, 1, 1}), r = g.input("r", f32, {1, 1, 1});
  g.output("y", g.apply(op::rnn{}, {x, w, r, tensor{}, g.input("lengths", i64, {1})}));
  const auto of = [](std::int64_t length) {
    const host_tensor one({1, 1, 1}, {1});
    return std::vector{host_tensor({3, 1, 1}, {1, 2, 3}), one, one, host_tensor::of_integers(i64, {1}, {length})};
  };
  CHECK(evaluate(g.value(), of(1))[0].reals[1] == 0);
  CHECK_THROWS_WITH_AS(evaluate(g.value(), of(4)), "RNN: sequence length is out of range, expected 0 to 3, found 4",
                       error);
  CHECK_THROWS_AS(evaluate(g.value(), of(-1)), error);
}

TEST_CASE("a row of the batch without steps gives out zeros, as in ONNX Runtime, and no initial value") {
  const auto weights = [](std::int64_t gates) { return host_tensor({2, gates, 1}, std::vector<double>(2 * gates, 1)); };
  const host_tensor x({2, 2, 1}, {1, 2, 3, 4}), initial({2, 2, 1}, {5, 6, 7, 8});
  const host_tensor lengths = host_tensor::of_integers(i32, {2}, {0, 2});
  const auto last_of = [&]<class Op>(Op op, std::int64_t gates, std::int64_t output, bool cells) {
    op.direction = recurrent_direction::bidirectional;
    op.output = output;
    builder g;
    const tensor in = g.input("x", f32, {2, 2, 1}), w = g.input("w", f32, {2, gates, 1}),
                 r = g.input("r", f32, {2, gates, 1}), n = g.input("n", i32, {2}), h = g.input("h", f32, {2, 2, 1});
    g.output("y", cells ? g.apply(op, {in, w, r, {}, n, h, h}) : g.apply(op, {in, w, r, {}, n, h}));
    return evaluate(g.value(), std::vector{x, weights(gates), weights(gates), lengths, initial})[0].reals;
  };
  for (const std::vector<double>& last : {last_of(op::rnn{}, 1, 1, false), last_of(op::gru{}, 3, 1, false),
                                          last_of(op::lstm{}, 4, 1, true), last_of(op::lstm{}, 4, 2, true)}) {
    REQUIRE(last.size() == 4);
    CHECK((last[0] == 0 && last[2] == 0));
    CHECK((last[1] != 0 && last[3] != 0));
  }
}

TEST_CASE("recurrent: results from elsewhere, with known and with symbolic extents") {
  const auto outcome = operator_cases::run("recurrent");
  CHECK(outcome.cases >= 56);
  CHECK(outcome.symbolic_graphs >= 40);
}

}  // namespace
