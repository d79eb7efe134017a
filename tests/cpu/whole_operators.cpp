// SPDX-License-Identifier: MIT
// LABELS: no_sanitize
// OPTIONS: -O1
// Operators that compute their output as a whole, and others that move elements by index, compiled.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/builtin.hpp"
#include "tests/support/fused_groups.hpp"
#include "tests/support/thoroughly.hpp"

namespace dk = dnnkit;
using dk::f32;
using harness::check_model;

namespace {

template <bool Symbolic> struct sums {
  static constexpr void build(dk::builder& g) {
    const dk::dim_argument n = Symbolic ? dk::dim_argument(dk::sym("N", {4, 30})) : dk::dim_argument(13);
    const dk::tensor x = g.input("x", f32, {3, n, 2}), y = dk::relu(x);
    g.output("sum", dk::tanh(dk::cum_sum(y, {.axis = 1, .reverse = true})));
    g.output("of a view", dk::cum_sum(dk::transpose(x, {.perm = {2, 1, 0}}), {.axis = 0, .exclusive = true}));
    const dk::tensor part = dk::slice(x, {.starts = {0}, .ends = {-1}, .axes = {1}});
    g.output("of a part", dk::cum_sum(part, {.axis = 2}));
    g.output("moved", dk::transpose(dk::cum_sum(x, {.axis = 2}), {.perm = {1, 0, 2}}));
    g.output("product", dk::cum_prod(dk::sigmoid(x), {.axis = 1, .exclusive = true}) * 2.0);
    g.output("best", dk::top_k(x, {.k = 4, .axis = 1}));
    g.output("where", dk::top_k(y, {.k = 3, .axis = 1, .largest = false, .output = 1}));
    g.output("first", dk::hardmax(x, {.axis = 1}));
    const dk::tensor triangle = dk::trilu(x, {.upper = false, .k = -1});
    g.output("triangle", triangle * 2.0);
    g.output("count", dk::range(g.scalar(3), g.scalar(0.5), {.count = x.size(1)}));
    g.output("eye", dk::eye_like(dk::reshape(x, {3, -1}), {.k = 1}));
  }
};

struct by_index {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {4, 5});
    const dk::tensor rows = g.constant({1, -1}, {2, 1}, dk::i64), columns = g.constant({0, 3, -2, 1}, {4, 1}, dk::i64);
    const dk::tensor u = g.input("u", f32, {2, 5});
    g.output("rows replaced", dk::scatter_nd(x, rows, u) + 1.0);
    g.output("rows added", dk::scatter_nd(dk::sigmoid(x), rows, u, {.reduction = dk::scatter_reduction::plus}));
    g.output("elements", dk::scatter_elements(x, columns, dk::slice(x, {.starts = {2}, .ends = {3}, .axes = {1}}),
                                              {.axis = 1, .reduction = dk::scatter_reduction::most}));
    g.output("gathered", dk::gather_elements(x, columns, {.axis = 1}));
    g.output("gathered rows", dk::gather_nd(x, rows));
    const dk::tensor batches = g.input("batches", f32, {2, 4, 37});
    const dk::tensor of_each = g.constant({0, 3, -1, 2, 2, 1}, {2, 3, 1}, dk::i64);
    g.output("gathered in batches", dk::gather_nd(batches, of_each, {.batch_dims = 1}) + 1.0);
    g.output("reversed", dk::reverse_sequence(x, g.constant({1, 4, 0, 2, 3}, {5}, dk::i64)));
    g.output("hot", dk::one_hot(columns, g.constant({-1, 2}, {2}), {.depth = 4}));
    g.output("finite", dk::logical_not(dk::is_nan(dk::sqrt(x))));
    g.output("tangent", dk::tan(x) + dk::atan(x));
    g.output("remainder", dk::mod(x, g.scalar(0.3), {.fmod = true}));
    g.output("floor remainder", dk::mod(x, g.scalar(-0.3)));
    const dk::tensor bits = dk::apply(dk::op::bits_of_real{}, dk::exp(x));
    g.output("halved", dk::apply(dk::op::real_of_bits{}, bits - g.scalar(1 << 23, dk::i32)) * 3.0);
  }
};

struct quantised {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {1, 3, 6, 7}), a = g.input("a", f32, {5, 12});
    const dk::tensor scale = g.scalar(0.02), zero = g.scalar(100, dk::u8), weight_zero = g.scalar(0, dk::i8);
    const dk::tensor q = dk::quantize_linear(x, scale, zero);
    const dk::tensor w = dk::quantize_linear(g.weight("w", {4, 3, 3, 3}), scale, weight_zero);
    const dk::tensor c = dk::apply(dk::op::conv_integer{.pads = {1, 1, 1, 1}}, q, w, zero);
    g.output("convolved", c);
    g.output("back", dk::dequantize_linear(c, g.scalar(0.0004)));
    const dk::tensor p = dk::quantize_linear(a, scale, zero);
    const dk::tensor b = dk::quantize_linear(g.weight("b", {12, 8}), scale, weight_zero);
    g.output("product", dk::apply(dk::op::matmul_integer{}, p, b, zero));
  }
};

TEST_CASE("compiled: cumulative sums, the best elements, triangles") {
  check_model<sums<true>>("sums<true>");
  harness::thoroughly([](auto) { check_model<sums<false>>("sums<false>"); });
}
TEST_CASE("compiled: scattered and gathered elements") { check_model<by_index>("by_index"); }
TEST_CASE("compiled: integer products") { check_model<quantised>("quantised"); }

}  // namespace
