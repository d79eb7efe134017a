// SPDX-License-Identifier: MIT
// What depends on the extents of the inputs is computed in every run, even where its own extents are known and it reads
// weights alone.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include "dnnkit/compile.hpp"
#include "dnnkit/graph/walk.hpp"
#include "dnnkit/op/builtin.hpp"
#include "tests/support/compiled.hpp"

namespace dk = dnnkit;
using dk::f32;

namespace {

// 2 S + 1, as an element
struct extent {
  static constexpr void build(dk::builder& g) {
    const dk::dim s = g.symbol({"S", {1, 9}});
    g.output("y", dk::relu(g.input("x", f32, {s, 3})));
    const dk::tensor twice = g.apply(dk::op::dims{{g.value().symbols.mul(s, 2)}}, {});
    g.output("sizes", dk::reshape(dk::cast(twice, {.to = f32}), {1, 1}) + g.scalar(1));
  }
};

// Numbers below zero, which no extent is, as elements
struct below_zero {
  static constexpr void build(dk::builder& g) {
    const dk::extent s = g.size({"S", {1, 9}});
    const dk::tensor x = g.input("x", f32, {s, 4});
    const dk::tensor numbers = g.apply(dk::op::dims{{s * -1, s * -3 + 2, s - s - 1, s - 9}}, {});
    g.output("numbers", numbers);
    g.output("y", x * dk::cast(numbers, {.to = f32}));
  }
};

// Two rows of a table of weights, those at S
struct part_of_weight {
  static constexpr void build(dk::builder& g) {
    const dk::dim s = g.symbol({"S", {1, 9}});
    const dk::tensor x = g.input("x", f32, {s, 4});
    g.output("y", dk::relu(x));
    const dk::tensor rows = g.apply(dk::op::split{0, s, 2}, {g.weight("table", {11, 4})});
    g.output("rows", dk::matmul(rows, g.weight("w", {4, 5})));
  }
};

// Two elements of a transposed table that begin anywhere in its rows, which no strides lead to: each is looked up.
struct part_of_transposed {
  static constexpr void build(dk::builder& g) {
    const dk::dim s = g.symbol({"S", {1, 9}});
    g.output("y", dk::relu(g.input("x", f32, {s, 4})));
    const dk::tensor turned = dk::transpose(g.input("table", f32, {4, 3}), {.perm = {1, 0}});
    g.output("part", dk::relu(g.apply(dk::op::split{0, s, 2}, {dk::reshape(turned, {12})})));
  }
};

// As many halves as there are rows: the sum has a known shape, its value is an extent.
struct sum_of_halves {
  static constexpr void build(dk::builder& g) {
    const dk::dim s = g.symbol({"S", {1, 9}});
    const dk::tensor x = g.input("x", f32, {s, 4});
    const dk::tensor sum = dk::reduce_sum(g.constant({0.5}, {s, 4}), {.axes = {0}});
    g.output("y", x * sum);
    g.output("sum", sum);
  }
};

template <class Model> constexpr int setup_nodes() {
  const dk::graph g = dk::graph_of<Model>();
  const auto setup = dk::setup_values(g);
  int count = 0;
  for (const dk::node& n : g.nodes) count += setup[n.output];
  return count;
}
static_assert(setup_nodes<extent>() == 0);
static_assert(setup_nodes<part_of_weight>() == 0);
static_assert(setup_nodes<sum_of_halves>() == 0);

TEST_CASE("an extent is an element") { CHECK(harness::compiled_error(harness::compiled<extent>("extent"), 1) == ""); }
TEST_CASE("a number below zero is an element") {
  CHECK(harness::compiled_error(harness::compiled<below_zero>("below_zero"), 1) == "");
}
TEST_CASE("a constant has as many elements as an extent says") {
  CHECK(harness::compiled_error(harness::compiled<sum_of_halves>("sum_of_halves"), 1) == "");
}
TEST_CASE("a part of a weight begins at an extent") {
  CHECK(harness::compiled_error(harness::compiled<part_of_weight>("part_of_weight"), 1) == "");
}
TEST_CASE("a part of a transposed table begins at an extent") {
  CHECK(harness::compiled_error(harness::compiled<part_of_transposed>("part_of_transposed"), 1) == "");
}

}  // namespace
