// SPDX-License-Identifier: MIT
// What a branch assumes of extents holds in it alone, and its nodes are legal without it.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/graph/branch_extents.hpp"

#include <doctest/doctest.h>

#include <string>

#include "dnnkit/graph/branch_assumptions.hpp"
#include "dnnkit/graph/builder.hpp"
#include "dnnkit/graph/verify.hpp"
#include "dnnkit/op/builtin.hpp"

using namespace dnnkit;

namespace {

std::string dims_of(tensor t) { return print(t.owner().value().symbols, t.dims()).str(); }
// "T = 4 where c, ...": of the whole graph
std::string assumed(const graph& g) {
  std::string s;
  const auto add = [&](const assumption& a) {
    s += (s.empty() ? "" : ", ") + g.symbols.print(a.left).str() + " " + std::string(sign_of(a.is)) + " " +
         g.symbols.print(a.right).str();
  };
  for (const assumption& a : g.symbols.assumptions) add(a);
  for (const plan::branch_assumption& a : plan::branch_assumptions_of(g, plan::branches_of(g))) {
    add(a.assumed);
    for (const plan::branch& b : a.branches)
      s += (b.when ? " where " : " where not ") + std::string(g.name_of(b.condition));
  }
  return s;
}

struct in_and_out {
  builder b;
  tensor x = b.input("x", f32, {"T"}), c = b.input("c", boolean, {});
  tensor four = b.input("four", f32, {4}), three = b.input("three", f32, {3});
};

TEST_CASE("a symbol has the value that a branch needs in this branch, and none elsewhere") {
  in_and_out t;
  builder::branch_scope first(t.b);
  const tensor a = reduce_sum(add(t.x, t.four), {.keepdims = true});
  CHECK(dims_of(neg(t.x)) == "[4]");
  const auto needed = first.close({a.id()});
  REQUIRE(needed.size() == 1);
  CHECK(t.b.value().symbols.print(needed[0].left).str() == "T");
  builder::branch_scope second(t.b);
  const tensor e = reduce_sum(add(t.x, t.three), {.keepdims = true});
  second.close({e.id()});
  t.b.output("y", combine(t.c, a, e));
  t.b.output("z", neg(t.x));
  CHECK(!t.b.is_in_branch());
  CHECK(shape{t.b.value().at(t.b.value().outputs[1]).type.dims} == t.x.dims());
  t.b.value().settle();
  CHECK(verify(t.b.value()).str() == "");
  CHECK(assumed(t.b.value()) == "T = 4 where c, T = 3 where not c");
}

TEST_CASE("what is computed in a branch is restated once it is known to be otherwise") {
  in_and_out t;
  builder::branch_scope own(t.b);
  const tensor half = slice(t.x, {.starts = {0}, .ends = {-1}});
  const tensor sum = add(half, t.three);  // T is 4
  CHECK(dims_of(sum) == "[3]");
  CHECK(dims_of(concat({half, t.x}, {.axis = 0})) == "[7]");
  own.close({sum.id()});
  t.b.output("y", combine(t.c, sum, t.three));
  t.b.value().settle();
  CHECK(verify(t.b.value()).str() == "");
  CHECK(assumed(t.b.value()).find(" where c") != std::string::npos);
}

TEST_CASE("extents of which none can be replaced by the other") {
  builder b;
  const tensor x = b.input("x", f32, {"M", "N"}), c = b.input("c", boolean, {}), six = b.input("six", f32, {6});
  builder::branch_scope own(b);
  const tensor sum = add(flatten(x, {.axis = 0}), six);
  CHECK(dims_of(sum) == "[1, 6]");
  own.close({sum.id()});
  b.output("y", combine(c, sum, unsqueeze(six, {.axes = {0}})));
  b.value().settle();
  CHECK(verify(b.value()).str() == "");
  CHECK(assumed(b.value()) == "M*N = 6 where c");
}

TEST_CASE("a branch within a branch") {
  in_and_out t;
  const tensor d = t.b.input("d", boolean, {}), z = t.b.input("z", f32, {"L"});
  builder::branch_scope outer(t.b);
  const tensor sum = add(t.x, t.four);
  builder::branch_scope inner(t.b);
  const tensor same = add(add(z, t.x), t.x);  // which is of 4 elements here
  CHECK(dims_of(same) == "[4]");
  inner.close({same.id()});
  CHECK(dims_of(neg(z)) == "[L]");
  CHECK(dims_of(neg(t.x)) == "[4]");
  const tensor result = combine(d, same, sum);
  outer.close({result.id()});
  t.b.output("y", combine(t.c, result, t.four));
  t.b.value().settle();
  CHECK(verify(t.b.value()).str() == "");
  CHECK(assumed(t.b.value()) == "T = 4 where c where not d, T = 4 where c where d, L = 4 where c where d");
}

TEST_CASE("what no tensor says is assumed whichever branch is taken") {
  in_and_out t;
  {
    builder::branch_scope own(t.b);
    t.b.assume(sym{"T"}, relation::at_least, 2, "the branch");
    own.close({neg(t.x).id()});
  }
  CHECK(assumed(t.b.value()) == "T >= 2");
}

TEST_CASE("a scope that is left without being closed leaves nothing behind") {
  in_and_out t;
  { const builder::branch_scope own(t.b); }
  CHECK(!t.b.is_in_branch());
  CHECK(dims_of(add(t.x, t.four)) == "[4]");
  CHECK(assumed(t.b.value()) == "T = 4");
}

}  // namespace
