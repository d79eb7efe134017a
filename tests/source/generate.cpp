// SPDX-License-Identifier: MIT
// LABELS: no_sanitize
// OPTIONS: -O1
// Models, printed as C++ and compiled again, build the graphs they came from; and what the source looks like.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/source/generate.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "dnnkit/source/escapes.hpp"
#include "dnnkit/source/identifiers.hpp"
#include "dnnkit/source/layer_names.hpp"
#include "dnnkit/source/literals.hpp"
#include "dnnkit/source/scopes.hpp"
#include "generated_models.hpp"
#include "tests/source/fixtures/models.hpp"
#include "tests/source/same_graph.hpp"

namespace dk = dnnkit;

namespace {

template <class Model> dk::graph build() {
  dk::builder g;
  Model::build(g);
  CHECK(g.value().error.str() == "");
  return std::move(g.value());
}

template <class Model> std::string source(const std::string& name) {
  return dk::generation::generate_model(build<Model>(), name);
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE_TEMPLATE("what is generated builds the same graph", Pair, std::pair<dk::tests::residual, residual_again>,
                   std::pair<dk::tests::attention, attention_again>, std::pair<dk::tests::taps, taps_again>,
                   std::pair<dk::tests::symbolic, symbolic_again>, std::pair<dk::tests::constants, constants_again>,
                   std::pair<dk::tests::attributes, attributes_again>, std::pair<dk::tests::paths, paths_again>,
                   std::pair<dk::tests::hostile, hostile_again>) {
  CHECK(dk::tests::first_difference(build<typename Pair::first_type>(), build<typename Pair::second_type>()) == "");
}

namespace {

// The names of all operators.
std::vector<std::string> names_of(const dk::graph& g) {
  std::vector<std::string> names;
  for (const dk::node& n : g.nodes) names.emplace_back(g.text_of(n.name));
  return names;
}

}  // namespace

TEST_CASE_TEMPLATE("what is generated calls operators as the tool does", Pair,
                   std::pair<dk::tests::residual, residual_again>, std::pair<dk::tests::attention, attention_again>,
                   std::pair<dk::tests::attributes, attributes_again>, std::pair<dk::tests::paths, paths_again>,
                   std::pair<dk::tests::hostile, hostile_again>) {
  CHECK(names_of(dk::with_names_of_layers(build<typename Pair::first_type>())) ==
        names_of(build<typename Pair::second_type>()));
}

TEST_CASE("layers are called after their modules") {
  using dk::layer_name;
  CHECK(layer_name("/conv1/Conv") == "conv1");
  CHECK(layer_name("/layer3/layer3.0/conv2/Conv") == "layer3.0.conv2");
  CHECK(layer_name("/encoder/layer.0/attention/self/query/MatMul") == "encoder.layer.0.attention.self.query");
  CHECK(layer_name("/attention/MatMul_1") == "attention.MatMul_1");
  CHECK(layer_name("/layer1/layer10/Conv") == "layer1.layer10");
  CHECK(layer_name("/Conv") == "Conv");
  CHECK(layer_name("layer3.0.conv2") == "layer3.0.conv2");
  for (const char* as_it_is : {"", "/", "//", "a/b/Conv", "//a", "/a//b"}) CHECK(layer_name(as_it_is) == as_it_is);
  const std::string s = source<dk::tests::paths>("model");
  CHECK(contains(s, "return g.named(name, dk::conv(x, g.weight(dk::text(\"onnx::Conv_\") << n, {8, 8, 3, 3}), "));
  CHECK(contains(s, "dk::text(\"layer\") << i << \".0.conv1\""));
  CHECK(!contains(s, "\"head\""));  // which its weight says
}

TEST_CASE("a difference is found") {
  dk::builder a, b, c;
  for (dk::builder* g : {&a, &b, &c}) {
    const auto x = g->input("x", dk::f32, {2, 2});
    g->output("y", g == &b ? dk::leaky_relu(x, {.alpha = 0.5f}) : g == &c ? dk::sigmoid(x) : dk::leaky_relu(x));
  }
  CHECK(dk::tests::first_difference(a.value(), a.value()) == "");
  CHECK(dk::tests::first_difference(a.value(), b.value()) != "");
  CHECK(dk::tests::first_difference(a.value(), c.value()) != "");
}

TEST_CASE("repeated blocks are functions, and calls in a row a loop") {
  const std::string s = source<dk::tests::residual>("model");
  CHECK(contains(s, "struct model {"));
  CHECK(contains(s, "auto conv = [&](dk::tensor x, std::string_view name, int in, int out, int kernel) {"));
  CHECK(contains(s, "for (int i = 0; i < 8; ++i) y = block(y, i);"));
  CHECK(contains(s, "g.weight(name, \".bias\", {out})"));
  CHECK(contains(s, "dk::sym{\"H\", {1, 16384}}"));  // no variable: nothing computes with it
  CHECK(s.size() < 2000);
  const std::string t = source<dk::tests::attention>("model");
  CHECK(contains(t, "auto linear = "));
  CHECK(contains(t, "dk::text(\"onnx::MatMul_\") << n"));
}

TEST_CASE("what is assumed is said before what needs it, and inputs are declared as they were") {
  dk::builder b;
  const dk::extent h = b.size("H"), w = b.size("W");
  const dk::tensor x = b.input("x", dk::f32, {h}), z = b.input("z", dk::f32, {w / 2});
  b.output("y", dk::add(x, z));
  b.value().settle();
  const std::string s = dk::generation::generate_model(b.value(), "model");
  CHECK(contains(s, "const dk::extent W = g.size({\"W\"});\n    g.assume(H, (W / 2), \"Add\");\n"));
  CHECK(contains(s, "g.input(\"z\", dk::f32, {(W / 2)});"));
}

TEST_CASE("lines are not longer than 120 characters") {
  const std::string s = source<dk::tests::residual>("a") + source<dk::tests::attention>("b") +
                        source<dk::tests::symbolic>("c") + source<dk::tests::constants>("d") +
                        source<dk::tests::attributes>("e");
  for (std::size_t begin = 0; begin < s.size();) {
    const std::size_t end = s.find('\n', begin);
    CHECK_MESSAGE(end - begin <= 120, s.substr(begin, end - begin));
    begin = end + 1;
  }
}

TEST_CASE("numbers are read back as the same bits") {
  using namespace dk::generation;
  CHECK(real_literal(0.5) == "0.5");
  CHECK(real_literal(2) == "2");
  CHECK(real_literal(static_cast<double>(0.1f)) == "0.1f");
  CHECK(real_literal(0.1) == "0.1");
  CHECK(real_literal(-1e-5) == "-1e-5");
  CHECK(real_literal(1e300) == "1e300");
  CHECK(float_literal(1e-5f) == "1e-5f");
  CHECK(float_literal(6) == "6");
  CHECK(float_literal(-std::numeric_limits<float>::infinity()) == "-std::numeric_limits<float>::infinity()");
  CHECK(integer_literal(std::numeric_limits<std::int64_t>::min()) == "std::numeric_limits<std::int64_t>::min()");
  CHECK(integer_literal(-7) == "-7");
}

TEST_CASE("names become identifiers, strings literals") {
  using namespace dk::generation;
  CHECK(identifier("layer1.0", "t") == "layer1_0");
  CHECK(identifier("/a/LayerNorm", "t") == "a_layer_norm");
  CHECK(identifier("0.weight", "t") == "t_0_weight");
  CHECK(identifier("::", "t") == "t");
  CHECK(identifier("class", "t") == "class_");
  CHECK(string_literal("a\"\\\n") == "\"a\\\"\\\\\\012\"");
  CHECK(path_of({"/a/b.0/Add", "/a/b.0/c/Mul"}) == "/a/b.0/");
  CHECK(path_of({"/a/Add", "/b/Mul"}) == "");
  CHECK(module_name({"/x/layer1/layer1.0/", "/x/layer2/layer2.3/"}, "block") == "layer");
}
