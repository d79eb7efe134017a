// SPDX-License-Identifier: MIT
// What is reduced twice, and what is computed of single elements behind it.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/pass/share_reductions.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <string_view>
#include <vector>

#include "dnnkit/graph/verify.hpp"
#include "dnnkit/op/builtin.hpp"
#include "dnnkit/pass/expand_composites.hpp"
#include "dnnkit/reference/evaluator.hpp"

namespace dk = dnnkit;

namespace {

// Nodes of that name that the pass leaves; -1 when it changes what the model means.
template <class Build> int nodes_left(std::string_view name, Build build) {
  dk::builder b;
  build(b, b.input("x", dk::f32, {2, 4}));
  const dk::graph before = dk::passes::expand_composites::run(b.value());
  const dk::graph after = dk::passes::share_reductions::run(before);
  if (!dk::verify(after).view().empty()) return -1;
  const std::vector<dk::host_tensor> inputs{dk::host_tensor({2, 4}, {1, -2, 3, -4, 0.5, -0.5, 6, 7})};
  const auto expected = evaluate(before, inputs), found = evaluate(after, inputs);
  for (std::size_t k = 0; k < expected.size(); ++k)
    if (found[k].reals != expected[k].reals || found[k].integers != expected[k].integers) return -1;
  int n = 0;
  for (const dk::node& x : after.nodes) n += x.op->name == name ? 1 : 0;
  return n;
}

}  // namespace

TEST_CASE("a tensor quantised as the model runs is searched for its range once") {
  const auto quantise = [](dk::builder& b, dk::tensor x) {
    for (std::int64_t i = 0; i < 3; ++i)
      b.output(i == 0 ? "y" : i == 1 ? "scale" : "zero", dk::apply(dk::op::dynamic_quantize_linear{i}, x));
  };
  CHECK(nodes_left("ReduceMin", quantise) == 1);
  CHECK(nodes_left("ReduceMax", quantise) == 1);
  CHECK(nodes_left("Where", quantise) == 1);
}

TEST_CASE("what differs in operator, axes or input stays") {
  const auto three = [](dk::builder& b, dk::tensor x) {
    b.output("a", dk::reduce_max(x, {.axes = {0}}) + dk::reduce_max(x, {.axes = {0}}));
    b.output("b", dk::reduce_max(x, {.axes = {1}}));
    b.output("c", dk::reduce_max(dk::relu(x), {.axes = {0}}));
  };
  CHECK(nodes_left("ReduceMax", three) == 3);
}

TEST_CASE("of single elements, constants are compared by what they are") {
  const auto scaled = [](dk::builder& b, dk::tensor x) {
    const auto most = [&] { return dk::reduce_max(x, {.keepdims = false}); };
    b.output("a", x * (most() * 2.0));
    b.output("b", x / (most() * 2.0));
    b.output("c", x - most() * 3.0);
  };
  CHECK(nodes_left("Mul", scaled) == 3);  // by 2, by 3, and that of x
}
