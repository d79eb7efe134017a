// SPDX-License-Identifier: MIT
// Outputs that no kernel would store, and nodes that no output depends on.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/pass/separate_outputs.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

#include "dnnkit/graph/verify.hpp"
#include "dnnkit/op/builtin.hpp"

namespace dk = dnnkit;

namespace {

std::string operators(const dk::graph& g) {
  std::string all;
  for (const dk::node& n : g.nodes) all += (all.empty() ? "" : " ") + std::string(n.op->name);
  return all;
}
template <class Build> dk::graph separated(Build build) {
  dk::builder b;
  build(b, b.input("x", dk::f32, {2, 3}));
  dk::graph g = dk::passes::separate_outputs::run(b.value());
  CHECK(dk::verify(g).view() == "");
  CHECK(std::set<dk::value_id>(g.outputs.begin(), g.outputs.end()).size() == g.outputs.size());
  return g;
}

}  // namespace

TEST_CASE("an input, a weight and what depends on weights alone are copied") {
  CHECK(operators(separated([](dk::builder& b, dk::tensor x) { b.output("y", x); })) == "Identity");
  CHECK(operators(separated([](dk::builder& b, dk::tensor) { b.output("y", b.weight("w", {2})); })) == "Identity");
  CHECK(operators(separated([](dk::builder& b, dk::tensor) { b.output("y", dk::exp(b.weight("w", {2}))); })) ==
        "Exp Identity");
}

TEST_CASE("a value given out twice is copied for the second") {
  const dk::graph g = separated([](dk::builder& b, dk::tensor x) {
    const dk::tensor y = dk::relu(x);
    b.output("y", y);
    b.output("again", y);
  });
  CHECK(operators(g) == "Relu Identity");
  CHECK(g.text_of(g.output_names[1]) == "again");
}

TEST_CASE("one that a kernel stores stays as it is; dead nodes go") {
  CHECK(operators(separated([](dk::builder& b, dk::tensor x) { b.output("y", dk::relu(x)); })) == "Relu");
  CHECK(operators(separated([](dk::builder& b, dk::tensor x) {
          dk::exp(dk::exp(x));
          b.output("y", dk::relu(x));
        })) == "Relu");
}
