// SPDX-License-Identifier: MIT
// A frozen graph, thawed at run time, is the graph that the compiler made.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/graph/frozen_graph.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <string>

#include "dnnkit/compile.hpp"
#include "dnnkit/inspect/print.hpp"
#include "dnnkit/op/builtin.hpp"

namespace dk = dnnkit;

namespace {

// The order of an operator's operands is the compiler's choice: the two halves of the sum may come in either order.
struct two_halves {
  static constexpr void build(dk::builder& g) {
    const auto x = g.input("x", dk::f32, {2, dk::sym{"L", {1, 64}}, 8});
    g.output("y", dk::relu(x * g.constant({2}, {})) + dk::tanh(g.weight("w", {8}) - x));
  }
};

struct make {
  constexpr dk::graph operator()() const { return dk::graph_of<two_halves>(); }
};

// Names of the operators in order, computed by the compiler.
constexpr dk::text order = [] {
  const dk::graph g = make{}();
  dk::text t;
  for (const dk::node& n : g.nodes) t << n.op->name << " ";
  return t;
}();

}  // namespace

TEST_CASE("the nodes have the compiler's order") {
  const dk::graph g = dk::frozen_graph<make>::thaw();
  std::string names;
  for (const dk::node& n : g.nodes) names += std::string(n.op->name) + " ";
  CHECK(names == order.str());
  CHECK(g.nodes.size() == 5);
}

TEST_CASE("every table comes back") {
  const dk::graph g = dk::frozen_graph<make>::thaw();
  const std::string text = dk::print(g);
  for (const char* line :
       {"x: f32 [2, L, 8] = input\n", "w: f32 [8] = weight\n", "= constant {2}\n", "Sub: f32 [2, L, 8] = Sub(w, x)\n",
        "Add: f32 [2, L, 8] = Add(Relu, Tanh)\n", "output y = Add\n"})
    CHECK_MESSAGE(text.find(line) != std::string::npos, text);
  CHECK(g.symbols.symbols.size() == 1);
  CHECK(g.symbols.symbols[0].limits.max == 64);
}

TEST_CASE("the rewritten graph is the one whose nodes the plan numbers") {
  using net = dk::compile<two_halves>;
  const dk::graph g = dk::rewritten_graph_of<two_halves>();
  for (const dk::plan::step& s : net::plan.steps)
    for (std::int32_t n : net::plan.numbers_of(s.nodes)) REQUIRE(static_cast<std::size_t>(n) < g.nodes.size());
  const auto last = net::plan.numbers_of(net::plan.steps.back().nodes);
  CHECK(g.node_at(last.back()).op->name == "Add");
}
