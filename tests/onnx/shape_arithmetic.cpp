// SPDX-License-Identifier: MIT
// What exporters write to compute shapes leaves no node behind, in static models and in models with symbols.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include "tests/support/onnx_models.hpp"

using namespace dnnkit;
using namespace onnx_models;

namespace {

// x -> y = Reshape(x, what `write` computes under the name "s")
std::string reshaped(std::vector<declared_extent> dims, const std::function<void(graph_of&)>& write,
                     std::string_view expected_operators) {
  graph_of g;
  g.input("x", f32, std::move(dims)).output("y");
  write(g);
  g.node("Reshape", {"x", "s"}, {"y"});
  const auto r = import(g);
  CHECK(problems(r) == "");
  if (!r.ok()) return {};
  CHECK(operators(r.graph) == expected_operators);
  return shape_of_output(r.graph);
}

}  // namespace

TEST_CASE("heads are split: [1, L, 12 * 64] -> [1, L, 12, 64], as PyTorch writes it") {
  const auto write = [](graph_of& g) {
    g.node("Shape", {"x"}, {"shape0"})
        .scalar("zero", 0)
        .node("Gather", {"shape0", "zero"}, {"n"}, {integer("axis", 0)});
    g.node("Shape", {"x"}, {"shape1"}).scalar("one", 1).node("Gather", {"shape1", "one"}, {"l"}, {integer("axis", 0)});
    g.constant("axes", {0}).node("Unsqueeze", {"n", "axes"}, {"n1"}).node("Unsqueeze", {"l", "axes"}, {"l1"});
    g.constant("heads", {12}).constant("width", {64});
    g.node("Concat", {"n1", "l1", "heads", "width"}, {"s"}, {integer("axis", 0)});
  };
  CHECK(reshaped({1, "L", 768}, write, "Reshape") == "[1, L, 12, 64]");
  CHECK(reshaped({2, 37, 768}, write, "Reshape") == "[2, 37, 12, 64]");
  CHECK(reshaped({"N", "L", 768}, write, "Reshape") == "[N, L, 12, 64]");
}

TEST_CASE("arithmetic on extents: windows of seven rows") {
  const auto write = [](graph_of& g) {
    g.node("Shape", {"x"}, {"shape"}).constant("seven", {7}).constant("rest", {49});
    g.constant("b0", {0}).constant("b1", {1}).constant("b2", {2}).constant("end", {9223372036854775807});
    g.node("Slice", {"shape", "b0", "b1"}, {"h"}).node("Slice", {"shape", "b1", "b2"}, {"w"});
    g.node("Slice", {"shape", "b2", "end"}, {"c"});
    g.node("Div", {"h", "seven"}, {"rows"})
        .node("Div", {"w", "seven"}, {"columns"})
        .node("Mul", {"rows", "columns"}, {"windows"});
    g.node("Concat", {"windows", "rest", "c"}, {"s"}, {integer("axis", 0)});
  };
  CHECK(reshaped({14, 21, 96}, write, "Reshape") == "[6, 49, 96]");
}

TEST_CASE("choices by comparison, constants of a shape, products of a part") {
  CHECK(reshaped(
            {2, "L", 6},
            [](graph_of& g) {
              // -1 where the extent asked for is -1, else the extent
              g.constant("wanted", {-1, 2, 3}).node("Shape", {"wanted"}, {"rank"});
              g.node("ConstantOfShape", {"rank"}, {"ones"}, {stored("value", numbers("", {1}, {1}))});
              g.scalar("minus", -1).node("Mul", {"ones", "minus"}, {"minus_ones"});
              g.node("Equal", {"wanted", "minus_ones"}, {"open"}).node("Shape", {"x"}, {"shape"});
              g.node("ReduceProd", {"shape"}, {"all"}, {integers("axes", {0}), integer("keepdims", 1)})
                  .constant("six", {6});
              g.node("Div", {"all", "six"}, {"rest"}).node("Where", {"open", "rest", "wanted"}, {"s"});
            },
            "Reshape") == "[2*L, 2, 3]");
  CHECK(reshaped(
            {"N", 4, 5},
            [](graph_of& g) {
              g.node("Shape", {"x"}, {"shape"}, {integer("start", 1)}).node("Size", {"x"}, {"size"});
              g.node("ReduceProd", {"shape"}, {"inner"}, {integers("axes", {0}), integer("keepdims", 0)});
              g.node("Div", {"size", "inner"}, {"outer"})
                  .constant("axes", {0})
                  .node("Unsqueeze", {"outer", "axes"}, {"o"});
              g.node("Unsqueeze", {"inner", "axes"}, {"i"}).node("Concat", {"o", "i"}, {"s"}, {integer("axis", 0)});
            },
            "Reshape") == "[N, 20]");
}

TEST_CASE("floating-point detours, casts and halves") {
  CHECK(
      reshaped(
          {1, "L", 8},
          [](graph_of& g) {
            g.node("Shape", {"x"}, {"shape"}).scalar("one", 1).node("Gather", {"shape", "one"}, {"l"});
            g.node("Cast", {"l"}, {"real"}, {integer("to", 1)}).node("Constant", {}, {"two"}, {real("value_float", 2)});
            g.node("Mul", {"real", "two"}, {"twice"})
                .node("Floor", {"twice"}, {"floor"})
                .node("Cast", {"floor"}, {"n"}, {integer("to", 7)});
            g.constant("axes", {0}).node("Unsqueeze", {"n", "axes"}, {"n1"}).constant("four", {4});
            g.node("Concat", {"n1", "four"}, {"s"}, {integer("axis", 0)});
          },
          "Reshape") == "[2*L, 4]");
}

TEST_CASE("extents used as data become a tensor") {
  graph_of g;
  g.input("x", f32, {1, "L"}).output("y").output("z");
  g.node("Shape", {"x"}, {"shape"}).scalar("one", 1).node("Gather", {"shape", "one"}, {"l"});
  g.node("Cast", {"l"}, {"real"}, {integer("to", 1)}).node("Div", {"x", "real"}, {"y"});
  g.scalar("zero", 0).node("Range", {"zero", "l", "one"}, {"z"});
  const auto r = import(g);
  REQUIRE(problems(r) == "");
  CHECK(shape_of_output(r.graph, 1) == "[L]");
  for (std::int64_t l : {1, 4}) {
    const std::vector<double> x(static_cast<std::size_t>(l), 8);
    const auto y = run(r, std::vector<host_tensor>{host_tensor({1, l}, x)});
    CHECK(y[0].reals == std::vector<double>(x.size(), 8.0 / static_cast<double>(l)));
    REQUIRE(y[1].dims == std::vector<std::int64_t>{l});
    for (std::int64_t i = 0; i < l; ++i) CHECK(y[1].integers[static_cast<std::size_t>(i)] == i);
  }
}

TEST_CASE("parts up to the length of another tensor") {
  graph_of g;
  g.input("x", i64, {1, "L"}).output("y").initializer(numbers("table", std::vector<std::int64_t>(512, 3), {1, 512}));
  g.node("Shape", {"x"}, {"shape"}).scalar("one", 1).node("Gather", {"shape", "one"}, {"l"});
  g.constant("axes", {0}).node("Unsqueeze", {"l", "axes"}, {"end"}).constant("begin", {0}).constant("along", {1});
  g.node("Slice", {"table", "begin", "end", "along"}, {"part"}).node("Add", {"x", "part"}, {"y"});
  const auto m = model_of(g);
  const auto r = import(m);
  REQUIRE(problems(r) == "");
  CHECK(shape_of_output(r.graph) == "[1, L]");
  CHECK(r.graph.symbols.symbols[0].limits.max == 512);  // what the sum needs
  const auto y = run(r, std::vector<host_tensor>{host_tensor::of_integers(i64, {1, 2}, {10, 20})})[0];
  CHECK(y.integers == std::vector<std::int64_t>{13, 23});
  CHECK_THROWS_AS(run(r, std::vector<host_tensor>{host_tensor(i64, {1, 513})}), error);
}

TEST_CASE("a value that is not known is refused by name") {
  graph_of g;
  g.input("x", f32, {4}).input("k", f32, {2, 3}).output("y");
  g.node("Cast", {"k"}, {"s"}, {integer("to", 7)}).node("Reshape", {"x", "s"}, {"y"});
  const auto r = import(g);
  CHECK(problems(r) == "Reshape 'y': the shape ('s') must be known when the model is imported\n");
  CHECK(r.inputs_to_bind.empty());  // an image decides no shape
}
