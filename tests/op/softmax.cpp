// SPDX-License-Identifier: MIT
// Softmax and LogSoftmax: shapes and values.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/softmax.hpp"

#include <doctest/doctest.h>

#include "tests/support/inferred.hpp"
#include "tests/support/operator_cases.hpp"

using namespace dnnkit;

namespace {

constexpr sym L{"L", {1, 512}};

static_assert(inferred([](builder& g) { return softmax(g.input("x", f32, {12, L, L})); }) == "f32 [12, L, L]");
static_assert(inferred([](builder& g) {
                return log_softmax(g.input("x", f32, {12, L}), {.axis = 2});
              }) == "LogSoftmax: axis 2 is outside a tensor of rank 2");

// Each of two passes reads the elements, and each is written.
constexpr bool counts_operations() {
  builder g;
  softmax(g.input("x", f32, {2, 7, L}));
  return g.value().symbols.print(g.value().flops_of(g.value().nodes[0])).view() == "42*L";
}
static_assert(counts_operations());

TEST_CASE("softmax: ONNX Runtime's results, with known and with symbolic extents") {
  const auto outcome = operator_cases::run("softmax");
  CHECK(outcome.cases >= 10);
  CHECK(outcome.symbolic_graphs >= 20);
}

}  // namespace
