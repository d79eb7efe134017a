// SPDX-License-Identifier: MIT
// Einsum: shapes and values.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/einsum.hpp"

#include <doctest/doctest.h>

#include "tests/support/inferred.hpp"
#include "tests/support/operator_cases.hpp"

using namespace dnnkit;

namespace {

constexpr sym L{"L", {1, 512}};

constexpr std::string_view of(std::string_view equation, text& t) {
  t = inferred([&](builder& g) {
    return einsum(equation, vector<tensor>{g.input("a", f32, {2, L, 4}), g.input("b", f32, {2, 4, 5})});
  });
  return t.view();
}
constexpr bool says(std::string_view equation, std::string_view expected) {
  text t;
  return of(equation, t) == expected;
}
static_assert(says("bij,bjk->bik", "f32 [2, L, 5]"));
static_assert(says("bij,bjk", "f32 [L, 5]"));
static_assert(says("...ij,...jk", "f32 [2, L, 5]"));
static_assert(says("bij,bjk->biq", "Einsum: the output names an axis that no input has"));
static_assert(says("bij,bj->bi", "Einsum: a term of the equation does not have as many axes as its tensor"));
static_assert(says("bij,ijk->bk", "f32 [2, 5]"));  // it is assumed that L is 2
static_assert(says("bij,bkj->bk", "Einsum: an axis of one name is 5, but another of that name is 4"));

TEST_CASE("einsum: results from elsewhere, with known and with symbolic extents") {
  const auto outcome = operator_cases::run("einsum");
  CHECK(outcome.cases >= 31);
  CHECK(outcome.symbolic_graphs >= 30);
}

}  // namespace
