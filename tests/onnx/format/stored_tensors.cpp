// SPDX-License-Identifier: MIT
// Names of all tensors that a model stores, in subgraphs and functions too; imported graphs use the same.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/onnx/format/stored_tensors.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/support/onnx_models.hpp"

using namespace dnnkit;
using namespace onnx_models;
using onnx_models::graph_of;  // not the one of dnnkit/compile.hpp

namespace {

constexpr std::int64_t count = 100;  // more than are written into a graph as constants

// The elements are x, and one of them -x: with all of them equal it would be a number, not a weight.
std::vector<float> elements(float x) {
  std::vector<float> list(count, x);
  list[1] = -x;
  return list;
}
onnx::tensor_data filled(std::string_view name, float x) { return reals(name, elements(x), {count}); }

// Both branches have an initialiser "w", and the function, called twice, a Constant "w" and one given as an attribute.
onnx::model nested() {
  graph_of yes, no, g;
  yes.initializer(filled("w", 2)).node("Mul", {"x", "w"}, {"t"}).output("t");
  no.initializer(filled("w", 3)).node("Mul", {"x", "w"}, {"e"}).output("e");
  g.input("x", f32, {count}).input("c", boolean, {}).output("y").initializer(filled("w#2", 5));
  g.node("If", {"c"}, {"a"}, {body("then_branch", yes.g), body("else_branch", no.g)});
  g.node("Shifted", {"a"}, {"b"}, {stored("by", filled("", 10))}, "first");
  g.node("Shifted", {"b"}, {"d"}, {stored("by", filled("", 100))}, "second");
  g.node("Add", {"d", "w#2"}, {"y"});
  onnx::model m = model_of(g);
  for (std::size_t i : {1u, 2u}) m.graph.nodes[i].domain = "local";
  onnx::function f;
  f.name = "Shifted";
  f.domain = "local";
  f.inputs = {"x"};
  f.outputs = {"y"};
  f.attributes = {"by"};
  f.opset_imports = {{"", 17}};
  onnx::attribute by;
  by.name = "value";
  by.type = onnx::attribute_type::tensor;
  by.ref_attr_name = "by";
  graph_of inside;
  inside.node("Constant", {}, {"v"}, {by}).node("Constant", {}, {"w"}, {stored("value", filled("", 1000))});
  inside.node("Add", {"x", "v"}, {"s"}).node("Add", {"s", "w"}, {"y"});
  f.nodes = inside.g.nodes;
  m.functions.push_back(f);
  return m;
}

std::vector<std::string> names_in(const onnx::model& m) {
  std::vector<std::string> all;
  const onnx::stored_tensors stored(m);
  for (const auto& e : stored.entries()) all.push_back(e.name);
  return all;
}

}  // namespace

TEST_CASE("names that several graphs use are numbered, those of the file come first") {
  CHECK(names_in(nested()) == std::vector<std::string>{"w#2", "w", "w#3", "b.by", "d.by", "w#4"});
}

TEST_CASE("a name given twice in one graph stays") {
  graph_of g;
  g.initializer(filled("w", 1)).initializer(filled("w", 2)).constant("c", {1}).constant("c", {2});
  CHECK(names_in(model_of(g)) == std::vector<std::string>{"w", "w", "c", "c"});
}

TEST_CASE("weights of branches and functions have these names, and the elements are theirs") {
  const onnx::model m = nested();
  const auto r = import(m);
  REQUIRE(problems(r) == "");
  CHECK(r.weights.size() == 6);
  const onnx::stored_tensors stored(m);
  for (const auto& [name, data] : r.weights) CHECK(stored.name_of(*data) == name);
  for (const bool taken : {true, false}) {
    const std::vector<host_tensor> given{host_tensor({count}, std::vector<double>(count, 1)),
                                         host_tensor::of_integers(boolean, {}, {taken})};
    const std::vector<float> sum = elements((taken ? 2 : 3) + 10 + 100 + 2 * 1000 + 5);
    CHECK(run(r, given)[0].reals == std::vector<double>(sum.begin(), sum.end()));
  }
}
