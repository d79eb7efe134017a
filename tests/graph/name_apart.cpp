// SPDX-License-Identifier: MIT
// Operators of one kind and name get numbers by their place in the model, and keep them behind passes.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/graph/name_apart.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "dnnkit/op/builtin.hpp"
#include "dnnkit/pass/pipeline.hpp"

namespace dk = dnnkit;

namespace {

std::vector<std::string> labels(const dk::graph& g) {
  std::vector<std::string> list;
  for (const dk::node& n : g.nodes) list.push_back(g.label_of(n).str());
  return list;
}
using list = std::vector<std::string>;

}  // namespace

TEST_CASE("the second of a kind and name has a number") {
  dk::builder b;
  dk::tensor x = b.input("x", dk::f32, {4, 4});
  const dk::tensor w = b.weight("layer.weight", {4, 4});
  x = dk::relu(dk::matmul(dk::relu(x), w));
  x = b.named("last", dk::relu(dk::matmul(x, w)));
  b.output("y", b.named("last", dk::neg(b.named("last", dk::relu(x)))));
  dk::graph g = b.value();
  dk::name_apart(g);
  CHECK(labels(g) ==
        list{"Relu", "MatMul 'layer'", "Relu #2", "MatMul 'layer #2'", "Relu 'last'", "Relu 'last #2'", "Neg 'last'"});
  CHECK(g.name_of(g.node_at(2).output) == "Relu #2");
  const list once = labels(g);
  dk::name_apart(g);
  CHECK(labels(g) == once);
}

TEST_CASE("what passes leave, and what they put in the place of an operator, has the number of that") {
  dk::builder b;
  const dk::tensor x = b.input("x", dk::f32, {4, 4});
  b.output("y", dk::softmax(dk::exp(dk::softmax(dk::exp(dk::log(dk::exp(x)))))));
  const dk::schedule s = dk::rewriting_of<dk::default_pipeline>::run_logged(b.value());
  // the first two are one operator less each, behind which names have not moved up
  CHECK(labels(s.g) == list{"Exp #2", "Softmax", "Exp #3", "Softmax #2"});
  std::string rewritten;
  for (const dk::plan::decision& d : s.log.decisions)
    if (d.operators.count != 0) rewritten = std::string(s.log.characters.items + d.operators.first, d.operators.count);
  CHECK(rewritten == "Log");
}
