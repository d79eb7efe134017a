// SPDX-License-Identifier: MIT
// LABELS: twice
// Whole models imported: what becomes of names, weights and constants, and what is said of models that cannot be.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dnnkit/graph/verify.hpp"
#include "dnnkit/onnx/import/extent_option.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/is_sanitized.hpp"
#include "tests/support/onnx_models.hpp"

using namespace dnnkit;
using namespace onnx_models;
using onnx_models::graph_of;  // not the one of dnnkit/compile.hpp

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

TEST_CASE("a constant of equal numbers is one number, an initializer of such a weight") {
  const auto imported = [](bool as_node, std::vector<float> elements) {
    graph_of g;
    g.input("x", f32, {3}).output("y");
    const auto t = reals(as_node ? "" : "c", std::move(elements), {3});
    if (as_node) g.node("Constant", {}, {"c"}, {stored("value", t)});
    else g.initializer(t);
    g.node("Mul", {"x", "c"}, {"y"});
    const auto m = model_of(g);
    const auto r = import(m);
    REQUIRE(problems(r) == "");
    const auto y = run(r, std::vector<host_tensor>{host_tensor({3}, {1, 2, 3})})[0].reals;
    return std::pair(r.weights.size(), y);
  };
  CHECK(imported(true, {2, 2, 2}) == std::pair(std::size_t{0}, std::vector<double>{2, 4, 6}));
  CHECK(imported(true, {2, 2, 3}) == std::pair(std::size_t{1}, std::vector<double>{2, 4, 9}));
  CHECK(imported(false, {2, 2, 2}) == std::pair(std::size_t{1}, std::vector<double>{2, 4, 6}));
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
  CHECK_THROWS_WITH_AS(r.value(), doctest::Contains("\n`dnnkit operators` lists the operators that are supported"),
                       error);
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

TEST_CASE("extents are given bounds, or numbers, as command lines say") {
  graph_of g;
  g.input("x", f32, {"N", "2*H", ""}).output("y").node("Relu", {"x"}, {"y"});
  const auto m = model_of(g);
  onnx::import_options options;
  for (const char* s : {"2*H=0..6", "N=2", "x.2=5..5"}) onnx::set_extent(options, "--dim", s);
  for (const char* s : {"2*H=0..6", "2*H=4", "N=2", "N=1..2"})
    CHECK(error_of([&] {
            onnx::set_extent(options, "--dim", s);
            return 0;
          }) == "--dim " + std::string(s).substr(0, std::string(s).rfind('=')) + ": is given twice");
  const auto r = import(m, options);
  REQUIRE(problems(r) == "");
  CHECK(shape_of_input(r.graph) == "[2, 2*H, x.2]");
  REQUIRE(r.graph.symbols.symbols.size() == 2);
  CHECK(r.graph.symbols.symbols[0].limits == dnnkit::bounds{0, 6});
  CHECK(r.graph.symbols.symbols[1].limits == dnnkit::bounds{5, 5});
  options.ranges = {{"M", {3, 4}}};
  CHECK(problems(import(m, options)) ==
        "no extent of an input is called 'M', to which 3 to 4 were given; "
        "those that are no numbers: '2*H', 'N', 'x.2'\n");
  for (const char* s : {"", "N", "=3", "N=", "N=x", "N=-1", "N=3..", "N=..3", "N=3..2", "N=1..3000000000", "N=1...3"}) {
    CAPTURE(s);
    onnx::import_options none;
    CHECK(error_of([&] {
            onnx::set_extent(none, "--dim", s);
            return 0;
          }).find("is no extent, expected NAME=NUMBER or NAME=FIRST..LAST") != std::string::npos);
  }
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

TEST_CASE("a problem is said once for each function, however often that is called") {
  graph_of g;
  g.input("x", f32, {2}).output("y").node("f0", {"x"}, {"y"}, {}, "call");
  g.g.nodes[0].domain = "local";
  auto m = model_of(g);
  m.opset_imports.push_back({"local", 1});
  std::deque<std::string> functions;
  for (int k = 0; k <= 40; ++k) functions.push_back("f" + std::to_string(k));
  const auto define = [&](std::size_t count, std::string_view last) {
    m.functions.clear();
    for (std::size_t k = 0; k < count; ++k) {  // each calls the next twice
      const std::string_view next = k + 1 < count ? std::string_view(functions[k + 1]) : last;
      graph_of inner;
      inner.node(next, {"v"}, {"w"}, {}, "a").node(next, {"w"}, {"z"}, {}, "b");
      onnx::function f;
      f.name = functions[k];
      f.domain = "local";
      f.inputs = {"v"};
      f.outputs = {"z"};
      f.opset_imports = {{"", 17}, {"local", 1}};
      f.nodes = inner.g.nodes;
      if (k + 1 < count)
        for (onnx::node& n : f.nodes) n.domain = "local";
      m.functions.push_back(f);
    }
  };
  define(20, "Frobnicate");
  CHECK(import(m).problems.size() == 2);  // the two nodes of the last function
  define(41, "Relu");
  CHECK(import(m).problems.size() == 2);  // the two calls that are nested too deeply
  define(10, "Relu");
  CHECK(problems(import(m)) == "");
}

TEST_CASE("the first hundred problems are listed, the others counted") {
  graph_of g;
  std::deque<std::string> names;
  g.input("x", f32, {2}).output("y");
  for (int k = 0; k < 250; ++k) g.node("Frobnicate", {"x"}, {names.emplace_back("v" + std::to_string(k))});
  g.node("Relu", {"x"}, {"y"});
  const auto r = import(g);
  CHECK(r.problems.size() == 100);
  CHECK(r.problems_left_out == 150);
  CHECK(r.has_unknown_operators);
  CHECK_THROWS_WITH_AS(r.value(), doctest::Contains("\n  and 150 more"), error);
}

TEST_CASE("extents that are computed to be negative are problems of the node") {
  const auto refused = [](std::string_view op, names inputs, std::vector<std::int64_t> list, attributes more = {}) {
    graph_of g;
    g.input("x", f32, {2, 3, 4, 4}).output("y").node(op, std::move(inputs), {"y"}, std::move(more));
    const auto n = static_cast<std::int64_t>(list.size());
    g.initializer(numbers("n", std::move(list), {n}));
    return problems(import(g));
  };
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  CHECK(refused("TopK", {"x", "n"}, {-1}) == "TopK 'y': k is -1, which is negative\n");
  CHECK(refused("TopK", {"x", "n"}, {least}).find("k is -9223372036854775808, which is negative") != std::string::npos);
  CHECK(refused("Resize", {"x", "", "", "n"}, {2, 3, -1, 4}).find("a size is -1, which is negative") !=
        std::string::npos);
  CHECK(refused("Expand", {"x", "n"}, {-1, 3, 4, 4}) != "");
  CHECK(refused("Split", {"x", "n"}, {-1, 3}, {integer("axis", 0)}) != "");
}

namespace {

// v0 -> Relu -> v1 -> Relu ... -> y. The model views the names.
struct relu_chain {
  explicit relu_chain(std::size_t length) {
    g.input("v0", f32, {1}).output("y");
    std::string_view from = "v0";
    for (std::size_t i = 1; i <= length; ++i) {
      const std::string_view to = i == length ? "y" : std::string_view(names.emplace_back("v" + std::to_string(i)));
      g.node("Relu", {from}, {to});
      from = to;
    }
  }
  std::deque<std::string> names;
  graph_of g;
};

}  // namespace

TEST_CASE("100,000 nodes behind each other are imported, run and freed; more than 200,000 are refused") {
  const std::size_t nodes = harness::is_sanitized ? 10'000 : 100'000;
  const relu_chain chain(nodes);
  const auto m = model_of(chain.g);
  const auto r = import(m);
  REQUIRE(problems(r) == "");
  CHECK(r.graph.nodes.size() == nodes);
  CHECK(run(r, {host_tensor({1}, {2.5})})[0].reals == std::vector<double>{2.5});
  const relu_chain longer(200'001);
  CHECK(problems(import(longer.g)) ==
        "Relu 'y': the model has too many nodes: more than 200000, with functions inlined and loops unrolled\n"
        "output 'y': no node computes it\n");
}

TEST_CASE("a list computed by 100,000 nodes asks for the inputs that decide it") {
  graph_of g;
  std::deque<std::string> names;
  g.input("s", i64, {1}).input("x", f32, {4}).output("y");
  std::string_view from = "s";
  for (int i = 0; i < (harness::is_sanitized ? 10'000 : 100'000); ++i) {
    const std::string_view to = names.emplace_back("s" + std::to_string(i));
    g.node("Add", {from, from}, {to});
    from = to;
  }
  g.node("Reshape", {"x", from}, {"y"});
  const auto r = import(g);
  CHECK(r.inputs_to_bind == std::vector<std::string>{"s"});
}

TEST_CASE("a problem is one line without control characters, whatever the model's names are") {
  graph_of g;
  g.input("x", f32, {4}).output("y").node("Frob\x1b[2J", {"x"}, {"y"}, {}, "a\nb");
  CHECK(problems(import(g)) == "Frob\\x1b[2J 'a\\x0ab': the operator is not supported\n");
}

TEST_CASE("an input that must be there and is left out is an error") {
  const auto of = [](std::string_view op, names inputs, attributes list = {}) {
    graph_of g;
    g.input("x", f32, {2, 2}).output("y").node(op, std::move(inputs), {"y"}, std::move(list));
    return problems(import(g));
  };
  CHECK(of("Gemm", {"x", "", "x"}) == "Gemm 'y': b is left out\n");
  CHECK(of("Gemm", {"x"}) == "Gemm 'y': has 1 input, takes 2 to 3\n");
  CHECK(of("Sum", {"x", "", "x"}) == "Sum 'y': input 1 is missing\n");
  CHECK(of("Mean", {"", "x"}) == "Mean 'y': input 0 is missing\n");
  CHECK(of("Max", {"x", ""}) != "");
  CHECK(of("Concat", {"x", ""}, {integer("axis", 0)}) != "");
  CHECK(of("Einsum", {"x", ""}, {word("equation", "ij,jk->ik")}) != "");
}

TEST_CASE("extents that differ at run time: of inputs that broadcast, and of 0") {
  graph_of g;
  g.input("x", f32, {"a", 2}).input("z", f32, {"b", 2}).output("y").node("Add", {"x", "z"}, {"y"});
  const auto m = model_of(g);
  onnx::import_options options;
  options.sizes = {{"a", 1}, {"b", 3}};
  const auto r = import(m, options);
  REQUIRE(problems(r) == "");
  CHECK(run(r, {host_tensor({1, 2}, {1, 2}), host_tensor({3, 2}, {1, 2, 3, 4, 5, 6})})[0].reals ==
        std::vector<double>{2, 4, 4, 6, 6, 8});
  options.sizes = {{"a", 0}, {"b", 1}};
  const auto empty = import(m, options);
  REQUIRE(problems(empty) == "");
  CHECK(run(empty, {host_tensor({0, 2}, {}), host_tensor({1, 2}, {1, 2})})[0].dims == std::vector<std::int64_t>{0, 2});
}

TEST_CASE("an extent of -1 is one that is not known") {
  graph_of g;
  g.input("x", f32, {-1, 2}).output("y").node("Relu", {"x"}, {"y"});
  const auto r = import(g);
  REQUIRE(problems(r) == "");
  CHECK(shape_of_output(r.graph) == "[x.0, 2]");
  const auto m = model_of(g);
  onnx::import_options options;
  options.sizes = {{"x.0", 5}};
  CHECK(shape_of_output(import(m, options).graph) == "[5, 2]");
}

TEST_CASE("a step longer than the axis takes one element, however long it is") {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max(),
                         least = std::numeric_limits<std::int64_t>::min();
  const auto sliced = [](std::vector<std::int64_t> bounds, declared_extent rows) {
    graph_of g;
    g.input("x", f32, {rows}).output("y").initializer(numbers("axes", {0}, {1}));
    g.initializer(numbers("start", {bounds[0]}, {1})).initializer(numbers("end", {bounds[1]}, {1}));
    g.initializer(numbers("step", {bounds[2]}, {1}));
    g.node("Slice", {"x", "start", "end", "axes", "step"}, {"y"});
    const auto m = model_of(g);
    const auto r = import(m);
    REQUIRE(problems(r) == "");
    return run(r, {host_tensor({5}, {0, 1, 2, 3, 4})})[0].reals;
  };
  for (const declared_extent rows : {declared_extent(5), declared_extent("L")}) {
    CHECK(sliced({1, most, most}, rows) == std::vector<double>{1});
    CHECK(sliced({0, 5, std::int64_t{1} << 31}, rows) == std::vector<double>{0});
    CHECK(sliced({-1, least, least}, rows) == std::vector<double>{4});
    CHECK(sliced({3, 0, -(std::int64_t{1} << 32)}, rows) == std::vector<double>{3});
    CHECK(sliced({4, 2, most}, rows).empty());
    CHECK(sliced({0, 5, 4}, rows) == std::vector<double>{0, 4});
  }
}
