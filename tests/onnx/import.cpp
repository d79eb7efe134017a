// SPDX-License-Identifier: MIT
// Whole models imported: what becomes of names, weights and constants, and what is said of models that cannot be.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include "dnnkit/graph/verify.hpp"
#include "tests/support/onnx_models.hpp"

using namespace dnnkit;
using namespace onnx_models;

TEST_CASE("names of nodes and weights are kept, and the numbers are right") {
  graph_of g;
  g.input("x", f32, {1, 2, 3}).output("y");
  g.initializer(reals("w", {1, 2, 3, 4, 5, 6}, {3, 2})).initializer(reals("scale", {0.5f}, {}));
  g.node("MatMul", {"x", "w"}, {"h"}, {}, "layer/product").node("Mul", {"h", "scale"}, {"y"}, {}, "layer/scaled");
  const auto m = model_of(g);
  const auto r = import(m);
  REQUIRE(problems(r) == "");
  CHECK(verify(r.graph).empty());
  CHECK(operators(r.graph) == "MatMul Mul");
  CHECK(r.graph.text_of(r.graph.nodes[0].name) == "layer/product");
  CHECK(r.weights.size() == 1);  // a single number is a constant
  CHECK(r.tensors.at("h") == r.graph.nodes[0].output);
  const auto y = run(r, std::vector<host_tensor>{host_tensor({1, 2, 3}, {1, 0, 0, 0, 1, 1})})[0];
  CHECK(y.reals == std::vector<double>{0.5, 1, 4, 5});
}

TEST_CASE("constants in every form, and outputs that are inputs or constants") {
  graph_of g;
  g.input("x", f32, {2}).output("a").output("b").output("c").output("x");
  g.node("Constant", {}, {"one"}, {real("value_float", 1)})
      .node("Constant", {}, {"list"}, {integers("value_ints", {3, 4})});
  g.node("Add", {"x", "one"}, {"a"}).node("Cast", {"list"}, {"b"}, {integer("to", 1)}).node("Identity", {"x"}, {"c"});
  const auto r = import(g);
  REQUIRE(problems(r) == "");
  const auto y = run(r, std::vector<host_tensor>{host_tensor({2}, {7, 8})});
  CHECK(y[0].reals == std::vector<double>{8, 9});
  CHECK(y[1].reals == std::vector<double>{3, 4});
  CHECK(y[2].reals == y[3].reals);
  CHECK(y[3].reals == std::vector<double>{7, 8});
}

TEST_CASE("a Concat of one tensor is that tensor") {
  graph_of g;
  g.input("x", f32, {2}).output("y").node("Concat", {"x"}, {"h"}, {integer("axis", 0)}).node("Relu", {"h"}, {"y"});
  const auto r = import(g);
  REQUIRE(problems(r) == "");
  CHECK(operators(r.graph) == "Relu");
}

TEST_CASE("the mask of Dropout says what is kept from opset 12 on; before, it is what ONNX Runtime makes it") {
  graph_of g;
  g.input("x", f32, {2}).output("y").output("mask").node("Dropout", {"x"}, {"y", "mask"});
  for (std::int64_t opset : {7, 11, 12, 17}) {
    const auto m = model_of(g, opset);
    const auto r = import(m);
    REQUIRE(problems(r) == "");
    const auto mask = run(r, std::vector<host_tensor>{host_tensor({2}, {3, 4})})[1];
    if (opset < 10) CHECK(mask.reals == std::vector<double>{0, 0});
    else CHECK(mask.integers == std::vector<std::int64_t>(2, opset < 12 ? 0 : 1));
  }
}

TEST_CASE("everything that is wrong is listed at once") {
  graph_of g;
  g.input("x", f32, {1, 4}).output("y").output("missing");
  g.node("Frobnicate", {"x"}, {"a"}, {}, "first");
  g.node("Relu", {"a"}, {"b"}, {}, "after the first");
  g.node("Softmax", {"x"}, {"c"}, {word("axis", "last")}, "second");
  g.node("Elu", {"x"}, {"d"}, {real("beta", 1)}, "third");
  g.node("Add", {"x", "nowhere"}, {"e"}, {}, "fourth");
  g.node("Relu", {"x"}, {"c"}, {}, "fifth");
  g.node("MatMul", {"x", "x"}, {"f"}, {}, "sixth");
  g.node("Wobble", {"b"}, {"h"}, {}, "behind unknown");
  g.node("Relu", {"x"}, {"y"});
  const auto r = import(g);
  CHECK(problems(r) ==
        "Frobnicate 'first': the operator is not supported\n"
        "Softmax 'second': attribute 'axis' is of type STRING, expected INT\n"
        "Elu 'third': attribute 'beta' is not supported\n"
        "Add 'fourth': input 'nowhere' is computed by no earlier node\n"
        "Relu 'c': the name is defined twice\n"
        "MatMul 'sixth': the inner extent of A is 4, but that of B is 1\n"
        "Wobble 'behind unknown': the operator is not supported\n"
        "output 'missing': no node computes it\n");
  CHECK_THROWS_AS(r.value(), error);
}

TEST_CASE("models no graph can be made of") {
  const auto of = [](const graph_of& g, std::int64_t opset = 17) { return problems(import(g, opset)); };
  graph_of ok;
  ok.input("x", f32, {2}).output("y").node("Relu", {"x"}, {"y"});
  CHECK(of(ok) == "");
  CHECK(of(ok, 99) == "opset 99 is not supported, only 1 to 28\n");
  graph_of empty;
  CHECK(of(empty) == "the model has no output\n");
  graph_of cycle;
  cycle.input("x", f32, {2}).output("a").node("Add", {"x", "b"}, {"a"}).node("Relu", {"a"}, {"b"});
  CHECK(of(cycle) == "Add 'a': input 'b' is computed by no earlier node\n");
  graph_of twice;
  twice.input("x", f32, {2}).input("x", f32, {2}).output("y").node("Relu", {"x"}, {"y"});
  CHECK(of(twice) == "input 'x': the name is defined twice\n");
  graph_of negative;
  negative.input("x", f32, {-3}).output("y").node("Relu", {"x"}, {"y"});
  CHECK(of(negative) == "input 'x': an extent is negative\n");
  graph_of high;
  high.input("x", f32, {1, 1, 1, 1, 1, 1, 1, 1, 1}).output("y").node("Relu", {"x"}, {"y"});
  CHECK(of(high) == "input 'x': a rank above 8 is not supported\n");
  graph_of truncated;
  truncated.input("x", f32, {2}).output("y").initializer(numbers("s", {1}, {2})).node("Reshape", {"x", "s"}, {"y"});
  CHECK(of(truncated).find("number of elements differs") != std::string::npos);
  graph_of strings = ok;
  strings.g.inputs[0].data_type = 8;
  CHECK(of(strings) == "input 'x': element type STRING is not supported\n");
  graph_of sequence = ok;
  sequence.g.inputs[0].kind = onnx::value_kind::sequence;
  CHECK(of(sequence) == "input 'x': is no tensor but of kind sequence, which is not supported\n");
  graph_of rankless = ok;
  rankless.g.inputs[0].shape.reset();
  CHECK(of(rankless) == "input 'x': has no shape, not even a rank\n");
  graph_of outside;
  outside.input("x", f32, {2, 3}).output("y").node("Softmax", {"x"}, {"y"}, {integer("axis", 5)});
  CHECK(of(outside) == "Softmax 'y': axis is outside the input\n");
  graph_of domain = ok;
  domain.g.nodes[0].domain = "com.example";
  CHECK(of(domain) == "Relu 'y': operators of domain 'com.example' are not supported\n");
  auto unversioned = model_of(ok);
  unversioned.opset_imports.clear();
  CHECK(problems(import(unversioned)) == "the model imports no version of ONNX's operators\n");
}

TEST_CASE("inputs that decide shapes are named, and bound") {
  graph_of g;
  g.input("x", f32, {2, 6}).input("s", i64, {2}).output("y").node("Reshape", {"x", "s"}, {"y"});
  const auto m = model_of(g);
  const auto open = import(m);
  CHECK(problems(open) ==
        "Reshape 'y': the shape ('s') must be known when the model is imported: give the values of the "
        "inputs it depends on\n");
  CHECK(open.inputs_to_bind == std::vector<std::string>{"s"});
  onnx::import_options options;
  options.bind.emplace("s", host_tensor::of_integers(i64, {2}, {3, -1}));
  const auto bound = import(m, options);
  REQUIRE(problems(bound) == "");
  CHECK(bound.graph.inputs.size() == 1);
  CHECK(shape_of_output(bound.graph) == "[3, 4]");
  options.bind.insert_or_assign("s", host_tensor::of_integers(i32, {2}, {3, -1}));
  CHECK(problems(import(m, options)).find("the value given is i32 [2], the model says i64 [2]") != std::string::npos);
}

TEST_CASE("extents are given by the names that the model has for them") {
  graph_of g;
  g.input("x", f32, {"N", "2*H", ""}).output("y").node("Relu", {"x"}, {"y"});
  const auto m = model_of(g);
  onnx::import_options options;
  options.sizes = {{"N", 2}, {"2*H", 6}, {"x.2", 5}};
  const auto r = import(m, options);
  REQUIRE(problems(r) == "");
  CHECK(shape_of_input(r.graph) == "[2, 6, 5]");
  options.sizes = {{"N", 2}, {"H", 3}};
  CHECK(problems(import(m, options)) ==
        "no extent of an input is called 'H', to which 3 was given; those that are no numbers: '2*H', 'N', 'x.2'\n");
  graph_of known;
  known.input("x", f32, {3}).output("y").node("Relu", {"x"}, {"y"});
  options.sizes = {{"N", 3}};
  CHECK(problems(import(model_of(known), options)) ==
        "no extent of an input is called 'N', to which 3 was given; all of them are numbers\n");
}

TEST_CASE("functions of the model are inlined, with attributes and defaults") {
  graph_of g;
  g.input("x", f32, {2}).output("y").output("z");
  g.node("Leaky", {"x"}, {"y"}, {}, "a").node("Leaky", {"y"}, {"z"}, {real("slope", 0.25f)}, "b");
  for (onnx::node& n : g.g.nodes) n.domain = "local";
  auto m = model_of(g);
  m.opset_imports.push_back({"local", 1});
  onnx::function f;
  f.name = "Leaky";
  f.domain = "local";
  f.inputs = {"v"};
  f.outputs = {"w"};
  f.default_attributes = {real("slope", 0.5f)};
  f.opset_imports = {{"", 17}};
  graph_of inner;
  inner.node("LeakyRelu", {"v"}, {"w"}, {real("alpha", 0)}, "leaky");
  inner.g.nodes[0].attributes[0].ref_attr_name = "slope";
  f.nodes = inner.g.nodes;
  m.functions.push_back(f);
  const auto r = import(m);
  REQUIRE(problems(r) == "");
  CHECK(r.graph.text_of(r.graph.nodes[1].name) == "b/leaky");
  const auto y = run(r, std::vector<host_tensor>{host_tensor({2}, {-8, 8})});
  CHECK(y[0].reals == std::vector<double>{-4, 8});
  CHECK(y[1].reals == std::vector<double>{-1, 8});
  m.functions[0].nodes[0].op_type = "Leaky";  // itself
  m.functions[0].nodes[0].domain = "local";
  CHECK(problems(import(m)).find("functions are nested too deeply, or call themselves") != std::string::npos);
}
