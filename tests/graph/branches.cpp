// SPDX-License-Identifier: MIT
// Which nodes belong to one branch only: nested ones, shared ones, and those that are outputs.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/graph/branches.hpp"

#include <doctest/doctest.h>

#include <string>

#include "dnnkit/graph/builder.hpp"
#include "dnnkit/op/elementwise.hpp"

using namespace dnnkit;
using namespace dnnkit::plan;

namespace {

// The branches of every node: "Exp: | Neg: 3+ | ...", the number of the Combine with + (taken if true) or -.
std::string branches(const graph& g) {
  std::string s;
  const auto all = branches_of(g);
  for (std::size_t n = 0; n < g.nodes.size(); ++n) {
    s += (n ? ", " : "") + std::string(g.nodes[n].op->name) + ":";
    for (const branch& b : all[n]) s += " " + std::to_string(b.at) + (b.when ? "+" : "-");
  }
  return s;
}

TEST_CASE("without a Combine nothing is guarded") {
  builder b;
  b.output("y", dnnkit::exp(neg(b.input("x", f32, {2}))));
  CHECK(branches(b.value()) == "Neg:, Exp:");
}

TEST_CASE("what both branches read belongs to none") {
  builder b;
  const auto x = b.input("x", f32, {2}), c = b.input("c", boolean, {});
  const auto shared = dnnkit::exp(x), a = neg(shared), z = dnnkit::abs(shared);
  b.output("y", combine(c, a, z));
  CHECK(branches(b.value()) == "Exp:, Neg: 3+, Abs: 3-, If:");
}

TEST_CASE("a branch within a branch, and one whose result is an output too") {
  builder b;
  const auto x = b.input("x", f32, {2}), c = b.input("c", boolean, {}), d = b.input("d", boolean, {});
  const auto first = dnnkit::exp(x), second = neg(x), inner = combine(d, first, second), third = dnnkit::abs(x);
  b.output("y", combine(c, inner, third));
  CHECK(branches(b.value()) == "Exp: 4+ 2+, Neg: 4+ 2-, If: 4+, Abs: 4-, If:");
  b.output("z", third);
  CHECK(branches(b.value()) == "Exp: 4+ 2+, Neg: 4+ 2-, If: 4+, Abs:, If:");
}

TEST_CASE("the condition is always needed") {
  builder b;
  const auto x = b.input("x", f32, {});
  const auto c = less(x, b.scalar(1)), a = dnnkit::exp(x);
  b.output("y", combine(c, a, x));
  CHECK(branches(b.value()) == "Less:, Exp: 2+, If:");
}

TEST_CASE("of 1,000 branches within each other the outermost are told apart") {
  builder b;
  const auto x = b.input("x", f32, {2}), c = b.input("c", boolean, {});
  auto y = x;
  for (int i = 0; i < 1'000; ++i) y = combine(c, neg(y), x);
  b.output("y", y);
  const auto all = branches_of(b.value());
  CHECK(all[0].size() == most_nested_branches);
  CHECK(all[0][0] == branch{1'999, true});
  CHECK(all[1'998].size() == 1);
}

}  // namespace
