// SPDX-License-Identifier: MIT
// Cast between element types.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/cast.hpp"

#include <doctest/doctest.h>

#include "tests/support/inferred.hpp"
#include "tests/support/operator_cases.hpp"

using namespace dnnkit;

namespace {

static_assert(inferred([](builder& g) { return cast(g.input("x", f32, {2, sym{"L"}}), {.to = i64}); }) == "i64 [2, L]");
static_assert(inferred([](builder& g) { return cast(g.input("x", boolean, {})); }) == "f32 []");

TEST_CASE("cast: ONNX Runtime's results, with known and with symbolic extents") {
  const auto outcome = operator_cases::run("cast");
  CHECK(outcome.cases >= 27);
  CHECK(outcome.symbolic_graphs >= 25);
}

}  // namespace
