// SPDX-License-Identifier: MIT
// Which scales and shifts go into convolutions, and which stay.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/pass/fold_into_convolution.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "dnnkit/graph/verify.hpp"
#include "dnnkit/op/builtin.hpp"
#include "dnnkit/pass/pipeline.hpp"
#include "tests/support/harness.hpp"

namespace dk = dnnkit;
using dk::tensor;

namespace {

// How many operators of this name a run of the graph computes behind the pass: those that depend on weights alone are
// computed before. -1 where the graph is not legal or computes something else.
template <class Build> int left(const char* name, Build build) {
  dk::builder b;
  const tensor x = b.input("x", dk::f32, {1, 3, 6, 6});
  build(b, dk::conv(x, b.weight("w", {4, 3, 3, 3}), b.weight("b", {4})));
  const dk::graph g = dk::passes::expand_composites::run(b.value()), folded = dk::passes::fold_into_convolution::run(g);
  if (!dk::verify(folded).view().empty()) return -1;
  const harness::test_data data = harness::random_data(g, 1);
  const auto expected = harness::reference(g, data), found = harness::reference(folded, data);
  const auto allowed = harness::tolerances(g, data, expected);
  for (std::size_t k = 0; k < expected.size(); ++k)
    if (harness::difference(found[k], expected[k], allowed[k]) != "") return -1;
  const auto setup = dk::setup_values(folded), alive = dk::live_nodes(folded);
  int count = 0;
  for (std::size_t k = 0; k < folded.nodes.size(); ++k) {
    const dk::node& n = folded.nodes[k];
    count += alive[k] != 0 && n.op->name == name && setup[static_cast<std::size_t>(n.output)] == 0;
  }
  return count;
}

}  // namespace

TEST_CASE("what multiplies or shifts each channel by a number goes into the weights") {
  const auto scaled = [](dk::builder& b, tensor y) { b.output("y", y * b.weight("s", {4, 1, 1})); };
  const auto shifted = [](dk::builder& b, tensor y) { b.output("y", b.weight("s", {1, 4, 1, 1}) + y); };
  const auto both = [](dk::builder& b, tensor y) { b.output("y", y * b.weight("s", {4, 1, 1}) + b.weight("t", {1})); };
  CHECK(left("Mul", scaled) == 0);
  CHECK(left("Add", shifted) == 0);
  CHECK(left("Mul", both) == 0);
  CHECK(left("Add", both) == 0);
  const auto normalised = [](dk::builder& b, tensor y) {
    b.output("y", dk::batch_normalization(y, b.weight("s", {4}), b.weight("t", {4}), b.weight("m", {4}),
                                          b.weight("variance", {4})));
  };
  CHECK(left("Mul", normalised) == 0);
  CHECK(left("Add", normalised) == 0);
  CHECK(left("Conv", normalised) == 1);
}

TEST_CASE("what varies along another axis, is computed in the run, or has another reader stays") {
  CHECK(left("Mul", [](dk::builder& b, tensor y) { b.output("y", y * b.weight("s", {4, 4})); }) == 1);
  CHECK(left("Mul", [](dk::builder& b, tensor y) { b.output("y", y * b.input("s", dk::f32, {4, 1, 1})); }) == 1);
  CHECK(left("Mul", [](dk::builder& b, tensor y) {
          b.output("y", y * b.weight("s", {4, 1, 1}));
          b.output("z", dk::relu(y));
        }) == 1);
  CHECK(left("Mul", [](dk::builder& b, tensor y) {
          b.output("plain", y);
          b.output("y", y * b.weight("s", {4, 1, 1}));
        }) == 1);
  CHECK(left("Mul", [](dk::builder& b, tensor y) { b.output("y", dk::relu(y) * b.weight("s", {4, 1, 1})); }) == 1);
  // broadcasting that gives the result another axis
  CHECK(left("Mul", [](dk::builder& b, tensor y) { b.output("y", y * b.weight("s", {2, 1, 4, 1, 1})); }) == 1);
  // whoever has the sign of a subtraction has another operator
  CHECK(left("Sub", [](dk::builder& b, tensor y) { b.output("y", y - b.weight("s", {4, 1, 1})); }) == 1);
}
