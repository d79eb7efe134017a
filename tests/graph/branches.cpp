// SPDX-License-Identifier: MIT
// Which nodes belong to one branch only: nested ones, shared ones, and those that are outputs.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/graph/branches.hpp"

#include <doctest/doctest.h>

#include <string>

#include "dnnkit/graph/builder.hpp"
#include "dnnkit/op/assume_shape.hpp"
#include "dnnkit/op/elementwise.hpp"
#include "dnnkit/op/movement.hpp"

using namespace dnnkit;
using namespace dnnkit::plan;

namespace {

// The branches of every node: "Exp: | Neg: c+ | ...", the name of the condition with + (taken if true) or -.
std::string branches(const graph& g) {
  std::string s;
  const auto all = branches_of(g);
  for (std::size_t n = 0; n < g.nodes.size(); ++n) {
    s += (n ? ", " : "") + std::string(g.nodes[n].op->name) + ":";
    for (const branch& b : all[n]) s += " " + std::string(g.name_of(b.condition)) + (b.when ? "+" : "-");
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
  CHECK(branches(b.value()) == "Exp:, Neg: c+, Abs: c-, If:");
}

TEST_CASE("a branch within a branch, and one whose result is an output too") {
  builder b;
  const auto x = b.input("x", f32, {2}), c = b.input("c", boolean, {}), d = b.input("d", boolean, {});
  const auto first = dnnkit::exp(x), second = neg(x), inner = combine(d, first, second), third = dnnkit::abs(x);
  b.output("y", combine(c, inner, third));
  CHECK(branches(b.value()) == "Exp: c+ d+, Neg: c+ d-, If: c+, Abs: c-, If:");
  b.output("z", third);
  CHECK(branches(b.value()) == "Exp: c+ d+, Neg: c+ d-, If: c+, Abs:, If:");
}

TEST_CASE("the condition is always needed") {
  builder b;
  const auto x = b.input("x", f32, {});
  const auto c = less(x, b.scalar(1)), a = dnnkit::exp(x);
  b.output("y", combine(c, a, x));
  CHECK(branches(b.value()) == "Less:, Exp: Less+, If:");
}

TEST_CASE("of 1,000 branches within each other the outermost are told apart") {
  builder b;
  const auto x = b.input("x", f32, {2});
  auto y = x, last = x;
  for (int i = 0; i < 1'000; ++i) y = combine(last = b.input("c" + std::to_string(i), boolean, {}), neg(y), x);
  b.output("y", y);
  const auto all = branches_of(b.value());
  CHECK(all[0].size() == most_nested_branches);
  CHECK(all[0][0] == branch{last.id(), true});
  CHECK(all[1'998].size() == 1);
}

TEST_CASE("an If with several results: what both need of one branch belongs to it") {
  builder b;
  const auto x = b.input("x", f32, {2}), c = b.input("c", boolean, {1}), d = dnnkit::reshape(c, {});
  const auto shared = dnnkit::exp(x);
  b.output("y", combine(c, shared, x));
  b.output("z", combine(d, neg(shared), x));
  CHECK(branches(b.value()) == "Reshape:, Exp: c+, If:, Neg: c+, If:");
}

TEST_CASE("what no output needs leaves a branch what it is") {
  builder b;
  const auto x = b.input("x", f32, {2}), c = b.input("c", boolean, {});
  const auto taken = dnnkit::exp(x);
  static_cast<void>(neg(taken));
  b.output("y", combine(c, taken, x));
  CHECK(branches(b.value()) == "Exp: c+, Neg:, If:");
}

TEST_CASE("of booleans a kernel needs both branches") {
  builder b;
  const auto x = b.input("x", boolean, {2}), c = b.input("c", boolean, {});
  b.output("y", combine(c, logical_not(x), x));
  CHECK(branches_of(b.value())[0] == vector<branch>{{c.id(), true}});
  CHECK(branches_of(b.value(), joins_booleans::of_both)[0].empty());
}

TEST_CASE("a Combine reads a branch that is not taken: values whose sizes that decides are stored as it reads them") {
  builder b;
  const auto x = b.input("x", f32, {sym{"N"}}), z = b.input("z", f32, {2}), c = b.input("c", boolean, {});
  const auto same = dnnkit::reshape(dnnkit::exp(z), {2}), assumed = assume_shape(dnnkit::exp(x), {2}, "the branch");
  b.output("y", combine(c, assumed, same));
  CHECK(guard_sets(b.value()).stored() == vector<value_id>{c.id(), c.id(), assumed.id()});
}

}  // namespace
