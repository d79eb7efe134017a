// SPDX-License-Identifier: MIT
// Composite operators said in terms of others: none is left, and what they mean is the same.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/pass/expand_composites.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "dnnkit/graph/verify.hpp"
#include "dnnkit/op/builtin.hpp"
#include "tests/support/harness.hpp"

namespace dk = dnnkit;

namespace {

template <class Build> std::set<std::string> operators_of(Build build) {
  dk::builder b;
  const dk::tensor x = b.input("x", dk::f32, {2, 4, 6});
  b.output("y", build(b, x));
  const dk::graph g = b.value(), expanded = dk::passes::expand_composites::run(g);
  CHECK(dk::verify(expanded).view() == "");
  const harness::test_data data = harness::random_data(g, 1);
  const auto expected = harness::reference(g, data), found = harness::reference(expanded, data);
  CHECK(harness::difference(found[0], expected[0], harness::tolerances(g, data, expected)[0]) == "");
  std::set<std::string> names;
  for (const dk::node& n : expanded.nodes) {
    CHECK(n.op->kind != dk::form::composite);
    names.insert(std::string(n.op->name));
  }
  return names;
}

}  // namespace

TEST_CASE("normalisations, products with a bias, and composites made of composites") {
  const auto layer = operators_of(
      [](dk::builder& g, dk::tensor x) { return dk::layer_normalization(x, g.weight("s", {6}), g.weight("t", {6})); });
  CHECK(!layer.contains("LayerNormalization"));
  CHECK(layer.contains("Mul"));
  CHECK(layer.contains("Add"));
  const auto product = operators_of([](dk::builder& g, dk::tensor x) {
    return dk::gemm(dk::flatten(x), g.weight("w", {24, 5}), g.weight("b", {5}), {.alpha = 0.5F});
  });
  CHECK(product.contains("MatMul"));
  CHECK(!product.contains("Gemm"));
  operators_of([](dk::builder& g, dk::tensor x) {
    return dk::group_normalization(x, g.weight("s", {4}), g.weight("t", {4}), {.num_groups = 2});
  });
  operators_of([](dk::builder&, dk::tensor x) { return dk::mean_variance_normalization(x, {.axes = {0, 2}}); });
}

TEST_CASE("a graph without any is left as it is") {
  dk::builder b;
  b.output("y", dk::relu(b.input("x", dk::f32, {3})) + 1.0);
  CHECK(dk::passes::expand_composites::run(b.value()).nodes.size() == b.value().nodes.size());
}
