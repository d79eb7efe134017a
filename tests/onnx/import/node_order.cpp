// SPDX-License-Identifier: MIT
// Nodes in an order in which each comes behind those it reads from.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/onnx/import/node_order.hpp"

#include <doctest/doctest.h>

#include "tests/support/onnx_models.hpp"

using namespace dnnkit;
using namespace onnx_models;
using onnx_models::graph_of;  // not the one of dnnkit/compile.hpp

namespace {

std::vector<std::size_t> order(const graph_of& g) {
  const auto m = model_of(g);
  return onnx::node_order(m.graph.nodes);
}
using positions = std::vector<std::size_t>;

}  // namespace

TEST_CASE("the order of the file, if it is one; else readers go back as far as they must") {
  graph_of sorted;
  sorted.node("Neg", {"x"}, {"a"}).node("Abs", {"x"}, {"b"}).node("Add", {"a", "b"}, {"y"});
  CHECK(order(sorted) == positions{0, 1, 2});
  graph_of late;  // the first node reads what the last one computes
  late.node("Add", {"c", "b"}, {"y"}).node("Neg", {"x"}, {"a"}).node("Abs", {"a"}, {"b"}).node("Exp", {"a"}, {"c"});
  CHECK(order(late) == positions{1, 2, 3, 0});
}

TEST_CASE("bodies read, too") {
  graph_of then, other;
  then.output("t").node("Neg", {"late"}, {"t"});
  other.output("x");
  graph_of g;
  g.node("If", {"c"}, {"y"}, {body("then_branch", then.g), body("else_branch", other.g)});
  g.node("Exp", {"x"}, {"late"});
  CHECK(order(g) == positions{1, 0});
}

TEST_CASE("circles, names given twice and nodes that read themselves stay what they are") {
  graph_of g;
  g.node("Add", {"x", "b"}, {"a"}).node("Relu", {"a"}, {"b"}).node("Neg", {"own"}, {"own"}).node("Abs", {"x"}, {"a"});
  CHECK(order(g) == positions{3, 0, 1, 2});
}

TEST_CASE("a model whose nodes are out of order is imported") {
  graph_of g;
  g.input("x", f32, {2}).output("y").node("Neg", {"half"}, {"y"}).node("Abs", {"x"}, {"half"});
  const auto r = import(g);
  REQUIRE(problems(r) == "");
  CHECK(operators(r.graph) == "Abs Neg");
}

TEST_CASE("needed nodes: those behind the outputs, through bodies and names given twice too") {
  graph_of then, other;
  then.output("t").node("Neg", {"inside"}, {"t"});
  other.output("outside");
  graph_of g;
  g.node("Exp", {"x"}, {"inside"}).node("Abs", {"x"}, {"outside"}).node("Neg", {"x"}, {"dead"});
  g.node("If", {"c"}, {"y"}, {body("then_branch", then.g), body("else_branch", other.g)});
  g.node("Relu", {"dead"}, {"z"}).node("Cos", {"x"}, {"outside"}).output("y");
  const auto m = model_of(g);
  CHECK(onnx::needed_nodes(m.graph.nodes, m.graph.outputs) == std::vector<bool>{true, true, false, true, false, true});
}
