// SPDX-License-Identifier: MIT
// Exp, Log, Sqrt, Sin, Cos, Tanh, Erf.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/transcendental.hpp"

#include <doctest/doctest.h>

#include "tests/support/inferred.hpp"
#include "tests/support/operator_cases.hpp"

using namespace dnnkit;

namespace {

static_assert(inferred([](builder& g) {
                return dnnkit::exp(dnnkit::log(dnnkit::sqrt(g.input("x", f32, {sym{"L"}}))));
              }) == "f32 [L]");
static_assert(inferred([](builder& g) { return dnnkit::exp(g.input("x", i64, {2})); }) ==
              "Exp: input 0 is i64, expected a floating-point type");

TEST_CASE("transcendental: ONNX Runtime's results, with known and with symbolic extents") {
  const auto outcome = operator_cases::run("transcendental");
  CHECK(outcome.cases >= 8);
  CHECK(outcome.symbolic_graphs >= 15);
}

}  // namespace
