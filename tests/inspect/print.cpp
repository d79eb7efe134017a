// SPDX-License-Identifier: MIT
// print: a graph with each kind of value, against the whole text.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/inspect/print.hpp"

#include <doctest/doctest.h>

#include "dnnkit/graph/builder.hpp"
#include "dnnkit/op/builtin.hpp"

namespace dk = dnnkit;

TEST_CASE("every kind of value") {
  dk::builder g;
  const auto x = g.input("x", dk::f32, {2, dk::sym{"L", {1, 64}}, 8});
  const auto w = g.weight("w", {8, 4});
  const auto p = g.named("product", dk::matmul(x, w));
  const auto s = p + 0.5;
  const auto n = g.constant({1, 2, 3, 4, 5, 6, 7, 8, 9}, {9}, dk::i64);
  g.output("y", g.named("product", dk::relu(s)));  // a name twice: both are written as numbers
  g.output("n", n);
  CHECK(dk::print(g.value()) ==
        "x: f32 [2, L, 8] = input\n"
        "w: f32 [8, 4] = weight\n"
        "%2: f32 [2, L, 4] = MatMul(x, w)  # product\n"
        "%3: f32 [] = constant {0.5}\n"
        "Add: f32 [2, L, 4] = Add(%2, %3)\n"
        "%5: i64 [9] = constant {1, 2, 3, 4, 5, 6, 7, 8, ...}\n"
        "%6: f32 [2, L, 4] = Relu(Add)  # product\n"
        "output y = %6\n"
        "output n = %5\n");
}

TEST_CASE("attributes, inputs left out, and an error") {
  dk::builder g;
  const auto x = g.input("x", dk::f32, {1, 3, 8, 8});
  const auto y = dk::conv(x, g.weight("w", {4, 3, 3, 3}), {.strides = {2, 2}});
  g.output("y", y);
  CHECK(dk::print(g.value()) ==
        "x: f32 [1, 3, 8, 8] = input\n"
        "w: f32 [4, 3, 3, 3] = weight\n"
        "Conv: f32 [1, 4, 3, 3] = Conv(x, w) kernel_shape=[] strides=[2, 2] pads=[] dilations=[] group=1\n"
        "output y = Conv\n");
  g.value().error << "something is wrong";
  CHECK(dk::print(g.value()).ends_with("output y = Conv\nerror: something is wrong\n"));
}
