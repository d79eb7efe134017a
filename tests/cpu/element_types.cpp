// SPDX-License-Identifier: MIT
// LABELS: no_sanitize slow
// OPTIONS: -O1
// Kernels on elements of every type: inputs and outputs are f32 and i64, what lies between is not.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <initializer_list>

#include "dnnkit/op/builtin.hpp"
#include "tests/support/fused_groups.hpp"

namespace dk = dnnkit;
using dk::f32;
using harness::check_model;

namespace {

template <dk::dtype Type> struct floating {
  static constexpr void build(dk::builder& g) {
    const auto back = [](dk::tensor t) { return dk::cast(t, {.to = f32}); };
    const dk::tensor x = dk::cast(g.input("x", f32, {2, 3, 5, 18}), {.to = Type});
    const dk::tensor row = dk::cast(g.input("row", f32, {18}), {.to = Type});
    const dk::tensor w = dk::cast(g.weight("w", {4, 3, 3, 3}), {.to = Type});
    const dk::tensor m = dk::cast(g.weight("m", {3, 18, 20}), {.to = Type});
    g.output("map", back(dk::where(dk::greater(x, row), dk::tanh(x) * 2.0, x - row)));
    g.output("rounded", back(dk::cast(g.input("y", f32, {7}), {.to = Type})) * 3.0);
    g.output("convolution", back(dk::relu(dk::conv(x, w, {.pads = {1, 1, 1, 1}}))));
    g.output("product", back(dk::matmul(x, m)));
    g.output("row by matrices", back(dk::matmul(row, m)));
    g.output("matrices by a column", back(dk::matmul(x, row)));
    g.output("softmax", back(dk::softmax(x, {.axis = 1})));
    g.output("sum", back(dk::reduce_sum(x, {.axes = {1, 3}})));
    g.output("pool", back(dk::max_pool(x, {.kernel_shape = {2, 2}})));
    g.output("cumulative", back(dk::cum_sum(x, {.axis = 2})));
    g.output("moved", back(dk::transpose(dk::concat({x, x + 1.0}, {.axis = 1}), {.perm = {0, 2, 3, 1}})));
    g.output("constant", back(x + g.constant({0.1, 0.2, 0.3, 0.4, 0.5}, {5, 1}, Type)));
  }
};

struct convolutions_of_doubles {  // read in place and staged, one by one, in groups, a filter a channel, as one product
  static constexpr void build(dk::builder& g) {
    const auto wide = [](dk::tensor t) { return dk::cast(t, {.to = dk::f64}); };
    const auto back = [](dk::tensor t) { return dk::cast(t, {.to = f32}); };
    const auto filtered = [&](dk::tensor x, const char* name, std::initializer_list<dk::dim_argument> shape,
                              const dk::op::conv& c) {
      const dk::tensor weight = g.weight(name, ".weight", shape), bias = g.weight(name, ".bias", {*shape.begin()});
      return dk::conv(x, wide(weight), wide(bias), c);
    };
    const dk::sym n("N", {1, 3}), width("W", {4, 20});
    const dk::tensor x = wide(g.input("x", f32, {2, 3, 9, 11})), y = wide(g.input("y", f32, {n, 6, width}));
    const dk::tensor one = dk::relu(filtered(x, "a", {70, 3, 3, 3}, {.pads = {1, 1, 1, 1}}));
    g.output("second", back(filtered(one, "b", {5, 70, 2, 3}, {.strides = {2, 1}, .dilations = {1, 2}})));
    g.output("pixels", back(filtered(one, "c", {33, 70, 1, 1}, {})));
    g.output("groups", back(filtered(one, "d", {20, 7, 3, 3}, {.pads = {1, 0, 1, 0}, .group = 10})));
    g.output("channels", back(filtered(one, "e", {70, 1, 3, 3}, {.pads = {1, 1, 1, 1}, .group = 70})));
    g.output("lines", back(filtered(y, "f", {17, 6, 3}, {.pads = {1, 1}})));
  }
};

template <dk::dtype Type> struct integral {
  static constexpr void build(dk::builder& g) {
    const auto back = [](dk::tensor t) { return dk::cast(t, {.to = dk::i64}); };
    const dk::tensor a = dk::cast(g.input("a", dk::i64, {3, 21}), {.to = Type});
    const dk::tensor b = dk::cast(g.input("b", dk::i64, {21}), {.to = Type});
    g.output("sum", back(a + b));
    g.output("product", back(a * b - a));
    g.output("quotient", back(a / b));
    g.output("remainder", back(dk::mod(a, b)));
    g.output("larger", back(dk::max(a, b)));
    g.output("equal", dk::equal(a, b));
    g.output("chosen", back(dk::where(g.input("mask", dk::boolean, {3, 21}), a, dk::abs(b))));
    g.output("between", dk::logical_and(dk::less_or_equal(a, b), dk::greater(a, g.scalar(1, Type))));
    g.output("total", back(dk::reduce_sum(a, {.axes = {1}})));
    g.output("best", dk::arg_max(a, {.axis = 1}));
    g.output("bits", back(dk::bitwise_xor(a, dk::bitwise_not(b))));
    g.output("shifted", back(dk::bit_shift(dk::bitwise_and(a, g.scalar(15, Type)), g.scalar(2, Type))));
    g.output("shifted back", back(dk::bit_shift(a, g.scalar(2, Type), {.direction = dk::shift_direction::right})));
    g.output("matrix", back(dk::matmul(a, dk::transpose(a))));
    g.output("row by a matrix", back(dk::matmul(b, dk::transpose(a))));
    g.output("matrix by a column", back(dk::matmul(a, b)));
    g.output("row by a column", back(dk::matmul(b, b)));
    // the lowest number by -1, and divisors of 0
    const double lowest =
        dk::info(Type).is_signed ? -static_cast<double>(std::uint64_t{1} << (8 * dk::info(Type).bytes - 1)) : 0;
    const dk::tensor c = g.constant({lowest, lowest, 7, 0}, {4}, Type), minus = g.scalar(0, Type) - g.scalar(1, Type);
    const dk::tensor d = dk::concat({dk::reshape(minus, {1}), g.constant({1, 0, 0}, {3}, Type)});
    g.output("quotient of the lowest", back(c / d));
    g.output("remainders of the lowest", back(dk::concat({dk::mod(c, d), dk::mod(c, d, {.fmod = true})})));
    g.output("moved", back(dk::transpose(dk::pad(a, {.pads = {0, 1, 1, 0}, .value = 3}))));
  }
};

// Products, convolutions and rows of what is computed as another type, and other types computed of them.
template <bool Symbolic> struct mixed {
  static constexpr void build(dk::builder& g) {
    const dk::dim n = Symbolic ? g.symbol({"N", {.min = 1, .max = 4}}) : dk::dim(3);
    const dk::tensor x = g.input("x", dk::i64, {n, 4, 40});
    const dk::tensor hot = dk::cast(dk::equal(x, g.scalar(1, dk::i64)), {.to = f32}), number = dk::cast(x, {.to = f32});
    g.output("product", dk::matmul(hot, g.weight("m", {40, 21})));
    const dk::tensor y = dk::conv(number, g.weight("w", {18, 4, 3}), {.pads = {1, 1}});
    g.output("convolution", dk::cast(y * 8.0, {.to = dk::i64}));
    g.output("depthwise", dk::greater(dk::conv(number, g.weight("d", {4, 1, 3}), {.group = 4}), g.scalar(0)));
    g.output("pool", dk::cast(dk::max_pool(number, {.kernel_shape = {3}}), {.to = dk::i64}));
    const dk::tensor row = dk::cast(dk::softmax(number), {.to = dk::f16});
    g.output("row", dk::cast(row, {.to = f32}));
    g.output("joined", dk::concat({x, x * x, dk::abs(x)}, {.axis = 2}));
    g.output("chosen", dk::where(dk::greater(x, g.scalar(0, dk::i64)), dk::cast(number * 2.0, {.to = dk::i64}), -x));
    const dk::tensor rows =
        dk::transpose(dk::cast(g.input("z", f32, {n, 5, 33}), {.to = dk::f16}), {.perm = {0, 2, 1}});
    g.output("strided", dk::cast(rows + rows, {.to = f32}));
    const dk::tensor mask = g.input("mask", dk::boolean, {n, 4, 40});
    const dk::tensor u = dk::cast(x, {.to = dk::u8}), v = g.scalar(250, dk::u8);
    g.output("chosen bytes", dk::cast(dk::where(mask, u, v), {.to = dk::i64}));
    g.output("less bytes", dk::logical_xor(dk::less(u, v), mask));
  }
};

// Products in vectors: batches, a symbol, one side computed, both sides' order of storage, what is fused behind them.
template <dk::dtype Type, bool Symbolic = false> struct products {
  static constexpr void build(dk::builder& g) {
    const dk::dim m = Symbolic ? g.symbol({"M", {.min = 1, .max = 9}}) : dk::dim(7);
    const dk::tensor a = g.input("a", Type, {2, m, 21}), b = g.input("b", Type, {2, 21, 18});
    const dk::tensor w = g.weight("w", {21, 34}, Type), bias = g.weight("bias", {34}, Type);
    const dk::tensor row = g.input("row", Type, {1, 21}), turned = g.input("turned", Type, {5, 21});
    g.output("batches", dk::matmul(a, b));
    g.output("weights", dk::max(dk::matmul(a, w) + bias, g.scalar(1, Type)));
    g.output("prologues", dk::matmul(a * a, b + b) - g.input("c", Type, {m, 18}));
    g.output("columns", dk::matmul(dk::transpose(a, {.perm = {0, 2, 1}}), a));
    g.output("moved", dk::transpose(dk::matmul(a, w), {.perm = {2, 0, 1}}));
    g.output("row", dk::matmul(row, w));
    g.output("one column", dk::matmul(a, g.weight("v", {21, 1}, Type)));
    g.output("gemm", dk::gemm(row, turned, g.input("d", Type, {5}), {.alpha = 3, .beta = 2, .trans_b = true}));
    g.output("turned", dk::matmul(dk::transpose(turned), g.input("e", Type, {5, 3})));
    const dk::tensor x = g.input("x", Type, {3, 1600}), y = g.weight("y", {1600, 33}, Type);
    g.output("long", dk::matmul(x, y));
  }
};

// Maps whose operands and results are of one type, and truth values: more elements than two vectors hold.
template <dk::dtype Type> struct maps {
  static constexpr void build(dk::builder& g) {
    const dk::tensor a = g.input("a", Type, {3, 150}), b = g.input("b", Type, {150}), c = g.input("c", Type, {3, 1});
    const dk::tensor mask = g.input("mask", dk::boolean, {3, 150});
    g.output("sum", a + b);
    g.output("several", dk::max(dk::min(a * b, c), a - b));
    g.output("size", dk::abs(a));
    g.output("chosen", dk::where(dk::less(a, b), a, dk::neg(c)));
    g.output("masked", dk::where(mask, a, g.scalar(3, Type)));
    g.output("equal", dk::logical_xor(dk::equal(a, b), mask));
    g.output("all of them", dk::logical_or(dk::greater_or_equal(a, c), dk::logical_not(mask)));
    g.output("part", dk::slice(a, {.starts = {2}, .ends = {149}, .axes = {1}}));
  }
};
template <dk::dtype From> struct casts {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", From, {5, 37});
    for (const dk::dtype to : {f32, dk::f64, dk::i64, dk::i32, dk::u8, dk::i8, dk::boolean})
      if (to != From) g.output(dk::name(to), dk::cast(dk::cast(x, {.to = to}), {.to = dk::i64}));
    g.output("f16", dk::cast(dk::cast(x, {.to = dk::f16}), {.to = f32}));
  }
};
// Folds along rows, across rows, and of what is computed on the way.
template <dk::dtype Type> struct folds {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", Type, {3, 5, 77});
    for (const std::int64_t axis : {1, 2}) {
      const auto named = [&](const char* what, dk::tensor t) { g.output((dk::text(what) << axis).view(), t); };
      named("sum", dk::reduce_sum(x, {.axes = {axis}}));
      named("largest", dk::reduce_max(x, {.axes = {axis}, .keepdims = false}));
      named("smallest", dk::reduce_min(x - g.scalar(1, Type), {.axes = {axis}}));
      named("product", dk::reduce_prod(x, {.axes = {axis}}));
      named("square", dk::reduce_sum_square(x, {.axes = {axis}}));
      named("where largest", dk::arg_max(x, {.axis = axis}));
      named("where smallest", dk::arg_min(x, {.axis = axis, .keepdims = false, .select_last_index = true}));
    }
    g.output("all", dk::reduce_sum(x));
    g.output("size", dk::reduce_l1(x, {.axes = {0, 2}}));
  }
};

static_assert(harness::scalar_kernels<maps<dk::u8>>() == 0);
static_assert(harness::scalar_kernels<maps<dk::i8>>() == 0);
static_assert(harness::scalar_kernels<maps<dk::i32>>() == 0);
static_assert(harness::scalar_kernels<maps<dk::i64>>() == 0);
static_assert(harness::scalar_kernels<casts<f32>>() == 0);
static_assert(harness::scalar_kernels<casts<dk::i64>>() == 0);
static_assert(harness::scalar_kernels<casts<dk::boolean>>() == 0);
static_assert(harness::scalar_kernels<folds<dk::i32>>() == 0);
static_assert(harness::scalar_kernels<folds<dk::i64>>() == 0);
static_assert(harness::scalar_kernels<mixed<false>>() == 0);
static_assert(harness::scalar_kernels<products<dk::f64>>() == 0);
static_assert(harness::scalar_kernels<products<dk::i32>>() == 0);
static_assert(harness::scalar_kernels<products<dk::i64, true>>() == 0);
static_assert(harness::scalar_kernels<products<dk::u32>>() == 0);

TEST_CASE("kernels between elements of several types") {
  check_model<mixed<false>>("static");
  check_model<mixed<true>>("symbolic");
}
TEST_CASE("products") {
  check_model<products<dk::f64>>("f64");
  check_model<products<dk::f64, true>>("f64, symbolic");
  check_model<products<dk::i32>>("i32");
  check_model<products<dk::i64, true>>("i64, symbolic");
  check_model<products<dk::u32>>("u32");
  check_model<products<dk::u64>>("u64");
  check_model<products<dk::i16>>("i16");
  check_model<products<dk::u8>>("u8");
}
TEST_CASE("maps of one type") {
  check_model<maps<dk::u8>>("u8");
  check_model<maps<dk::i8>>("i8");
  check_model<maps<dk::i32>>("i32");
  check_model<maps<dk::i64>>("i64");
}
TEST_CASE("casts") {
  check_model<casts<f32>>("f32");
  check_model<casts<dk::i64>>("i64");
  check_model<casts<dk::u8>>("u8");
  check_model<casts<dk::boolean>>("bool");
}
TEST_CASE("folds of integers") {
  check_model<folds<dk::u8>>("u8");
  check_model<folds<dk::i8>>("i8");
  check_model<folds<dk::i32>>("i32");
  check_model<folds<dk::i64>>("i64");
}
TEST_CASE("floating-point elements") {
  check_model<floating<dk::f16>>("f16");
  check_model<floating<dk::bf16>>("bf16");
  check_model<floating<dk::f64>>("f64");
}
TEST_CASE("integer elements") {
  check_model<integral<dk::u8>>("u8");
  check_model<integral<dk::i8>>("i8");
  check_model<integral<dk::u16>>("u16");
  check_model<integral<dk::i16>>("i16");
  check_model<integral<dk::u32>>("u32");
  check_model<integral<dk::i32>>("i32");
  check_model<integral<dk::u64>>("u64");
  check_model<integral<dk::i64>>("i64");
}

}  // namespace
TEST_CASE("convolutions of doubles") {
  check_model<convolutions_of_doubles>("convolutions_of_doubles");
  CHECK(harness::scalar_kernels<convolutions_of_doubles>() == 0);
}
