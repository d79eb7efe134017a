// SPDX-License-Identifier: MIT
// TopK and Hardmax: shapes and values.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/top_k.hpp"

#include <doctest/doctest.h>

#include "tests/support/inferred.hpp"
#include "tests/support/operator_cases.hpp"

using namespace dnnkit;

namespace {

constexpr sym L{"L", {1, 512}};

static_assert(inferred([](builder& g) {
                return top_k(g.input("x", f32, {7, L}), {.k = 3, .axis = 0, .output = 1});
              }) == "i64 [3, L]");
static_assert(inferred([](builder& g) {
                return top_k(g.input("x", f32, {7, L}), {.k = 9, .axis = 0});
              }) == "TopK: k is more than there are elements");
static_assert(inferred([](builder& g) {
                return top_k(g.input("x", f32, {7, L}), {.k = -1, .axis = 0});
              }) == "TopK: k is not known, or is -1, which no extent is");
static_assert(inferred([](builder& g) {
                return top_k(g.input("x", f32, {7, L}), {.k = g.size({"L"}) - 600, .axis = 0});
              }) == "TopK: k is L-600, which is negative");

TEST_CASE("top_k: results from elsewhere, with known and with symbolic extents") {
  const auto outcome = operator_cases::run("top_k");
  CHECK(outcome.cases >= 35);
  CHECK(outcome.symbolic_graphs >= 38);
}

}  // namespace
