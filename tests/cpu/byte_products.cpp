// SPDX-License-Identifier: MIT
// OPTIONS: -O1
// LABELS: no_sanitize
// Products of 8-bit integers, compiled: all signs and zero points, weights and computed factors, movement on either
// side, and what quantised models have before and behind them.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "dnnkit/op/builtin.hpp"
#include "tests/support/fused_groups.hpp"
#include "tests/support/thoroughly.hpp"

namespace dk = dnnkit;
using dk::f32, dk::i32, dk::i8, dk::u8;
using harness::check_model;

namespace {

constexpr dk::tensor product(dk::tensor a, dk::tensor b, dk::tensor a_zero = {}, dk::tensor b_zero = {}) {
  return dk::apply(dk::op::matmul_integer{}, a, b, a_zero, b_zero);
}

template <bool Symbolic> struct signs {  // of both factors, with zero points of one, of rows and of columns
  static constexpr void build(dk::builder& g) {
    const dk::dim rows = Symbolic ? dk::dim(g.symbol({"M", {1, 20}})) : dk::dim(7);
    const dk::tensor u = g.input("u", u8, {2, rows, 39}), i = g.input("i", i8, {rows, 30});
    g.output("plain", product(u, g.weight("a", {39, 20}, i8)));
    g.output("zeros", product(u, g.weight("b", {39, 33}, u8), g.input("z", u8, {}), g.weight("bz", {33}, u8)));
    g.output("one", product(u, g.weight("c", {39, 70}, i8), g.scalar(200, u8), g.weight("cz", {}, i8)));
    g.output("signed", product(i, g.weight("d", {30, 16}, i8)));
    g.output("unsigned", product(i, g.weight("e", {30, 17}, u8), g.scalar(-128, i8), g.scalar(255, u8)));
    if constexpr (!Symbolic) g.output("each", product(i, g.weight("f", {30, 9}, i8), g.input("r", i8, {7})));
  }
};

struct computed {  // second factors that the run computes, batches, and factors that lie elsewhere
  static constexpr void build(dk::builder& g) {
    const dk::tensor a = g.input("a", u8, {3, 5, 21}), b = g.input("b", i8, {3, 21, 18}), c = g.input("c", u8, {21, 5});
    g.output("batches", product(a, b, g.scalar(7, u8), g.scalar(-3, i8)));
    g.output("turned", product(dk::transpose(c, {.perm = {1, 0}}), g.weight("w", {21, 19}, u8), {}, g.scalar(1, u8)));
    g.output("turned_weight", product(a, dk::transpose(g.weight("v", {18, 21}, i8), {.perm = {1, 0}})));
    g.output("both", product(dk::transpose(c, {.perm = {1, 0}}), dk::reshape(b, {21, 54})));
  }
};

struct dynamic {  // as tools quantise the products of transformers
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {2, 6, 24});
    const auto part = [&](std::int64_t i) { return dk::apply(dk::op::dynamic_quantize_linear{i}, x); };
    const dk::tensor y = part(0), scale = part(1), zero = part(2);
    const auto linear = [&](const char* name, std::int64_t width) {
      const dk::tensor p =
          product(y, g.weight(name, ".weight", {24, width}, i8), zero, g.weight(name, ".zero", {}, i8));
      return dk::cast(p, {.to = f32}) * (scale * g.scalar(0.01)) + g.weight(name, ".bias", {width});
    };
    g.output("query", linear("q", 20));
    g.output("key", dk::gelu(linear("k", 16)));
    g.output("value", dk::transpose(dk::reshape(linear("v", 24), {2, 6, 3, 8}), {.perm = {0, 2, 1, 3}}));
  }
};

struct requantised {  // scales that no rounding is decided by
  static constexpr void build(dk::builder& g) {
    const dk::tensor a = g.input("a", u8, {6, 32});
    const auto number = [&](double x) { return g.scalar(x); };
    const dk::tensor y =
        dk::apply(dk::op::qlinear_matmul{}, a, number(0.5), g.scalar(130, u8), g.weight("w", {32, 24}, i8),
                  number(0.25), g.scalar(0, i8), number(16), g.scalar(-10, i8));
    g.output("y", y);
    g.output("z", dk::dequantize_linear(y, number(2), g.scalar(3, i8)));
    g.output("wide", dk::cast(dk::cast(y, {.to = i32}) * g.scalar(1000, i32), {.to = u8}));
    g.output("bytes", dk::cast(g.input("f", f32, {5, 33}) * 3e9, {.to = u8}));
  }
};

// The family of each kernel with a product.
template <class Model> constexpr bool in_bytes() {
  using net = dk::compile<Model>;
  for (std::size_t r = 0; r < net::plan.recipes.size(); ++r)
    if (net::plan.recipes[r].anchor.id == dk::id_of<dk::op::matmul_integer> &&
        net::choices[r].family != "byte_matrix_product")
      return false;
  return true;
}
static_assert(in_bytes<computed>() && in_bytes<dynamic>() && in_bytes<requantised>());

}  // namespace

TEST_CASE("compiled: products of bytes of all signs and zero points") {
  check_model<signs<true>>("signs, symbolic");
  harness::thoroughly([](auto) {
    static_assert(in_bytes<signs<false>>());
    check_model<signs<false>>("signs");
  });
}
TEST_CASE("compiled: computed factors, batches, movement") { check_model<computed>("computed"); }
TEST_CASE("compiled: products quantised as they run") { check_model<dynamic>("dynamic"); }
TEST_CASE("compiled: products quantised again") { check_model<requantised>("requantised"); }
