// SPDX-License-Identifier: MIT
// MatMul and Gemm: shapes and values.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/matmul.hpp"

#include <doctest/doctest.h>

#include "tests/support/inferred.hpp"
#include "tests/support/operator_cases.hpp"

using namespace dnnkit;

namespace {

constexpr sym L{"L", {1, 512}};

static_assert(inferred([](builder& g) {
                return matmul(g.input("q", f32, {1, 12, L, 64}), g.input("k", f32, {1, 12, 64, L}));
              }) == "f32 [1, 12, L, L]");
static_assert(inferred([](builder& g) {
                return matmul(g.input("x", f32, {4}), g.input("y", f32, {2, 4, 3}));
              }) == "f32 [2, 3]");
static_assert(inferred([](builder& g) {
                return matmul(g.input("x", f32, {L, 4}), g.weight("w", {5, 3}));
              }) == "MatMul: the inner extent of A is 4, but that of B is 5");
static_assert(inferred([](builder& g) {
                return gemm(g.input("x", f32, {L, 4}), g.weight("w", {3, 4}), g.weight("b", {3}), {.trans_b = true});
              }) == "f32 [L, 3]");
static_assert(inferred([](builder& g) {
                return gemm(g.input("x", f32, {L, 4}), g.weight("w", {4, 3}), g.weight("b", {2}));
              }) == "Gemm: shapes [L, 3] and [2] do not broadcast");

constexpr bool counts_operations() {
  builder g;
  matmul(g.input("x", f32, {2, L, 4}), g.weight("w", {4, 3}));
  return g.value().symbols.print(g.value().flops_of(g.value().nodes[0])).view() == "48*L";
}
static_assert(counts_operations());

TEST_CASE("matmul: ONNX Runtime's results, with known and with symbolic extents") {
  const auto outcome = operator_cases::run("matmul");
  CHECK(outcome.cases >= 18);
  CHECK(outcome.symbolic_graphs >= 45);
}

}  // namespace
