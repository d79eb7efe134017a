// SPDX-License-Identifier: MIT
// Activations: shapes and values.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/activation.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/inferred.hpp"
#include "tests/support/operator_cases.hpp"

using namespace dnnkit;

namespace {

constexpr sym L{"L", {1, 512}};

static_assert(inferred([](builder& g) { return silu(relu(g.input("x", f32, {2, L}))); }) == "f32 [2, L]");
static_assert(inferred([](builder& g) {
                return prelu(g.input("x", f32, {2, 3, L}), g.weight("slope", {3, 1}));
              }) == "f32 [2, 3, L]");
static_assert(inferred([](builder& g) {
                return gelu(sigmoid(g.input("x", f64, {L})), {.approximate = gelu_approximation::by_tanh});
              }) == "f64 [L]");

TEST_CASE("Softplus and Mish of 32-bit floats keep what is small") {
  for (double x = -80; x <= 80; x += 0.37) {
    CAPTURE(x);
    const auto given = static_cast<float>(x);
    const double right = std::max<double>(given, 0) + std::log1p(std::exp(-std::abs(static_cast<double>(given))));
    CHECK(std::abs(op::softplus::apply(given) - right) <= 4e-7 * right);
    CHECK(std::abs(op::mish::apply(given) - given * std::tanh(right)) <= 6e-7 * std::abs(given) * std::tanh(right));
  }
  CHECK(op::softplus::apply(-INFINITY) == 0);
  CHECK(op::softplus::apply(INFINITY) == INFINITY);
  CHECK(std::isnan(op::softplus::apply(NAN)));
}

TEST_CASE("activation: ONNX Runtime's results, with known and with symbolic extents") {
  const auto outcome = operator_cases::run("activation");
  CHECK(outcome.cases >= 39);
  CHECK(outcome.symbolic_graphs >= 60);
}

}  // namespace
