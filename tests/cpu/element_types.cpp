// SPDX-License-Identifier: MIT
// LABELS: no_sanitize
// OPTIONS: -O1
// Kernels on elements of every type: inputs and outputs are f32 and i64, what lies between is not.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
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
    g.output("softmax", back(dk::softmax(x, {.axis = 1})));
    g.output("sum", back(dk::reduce_sum(x, {.axes = {1, 3}})));
    g.output("pool", back(dk::max_pool(x, {.kernel_shape = {2, 2}})));
    g.output("cumulative", back(dk::cum_sum(x, {.axis = 2})));
    g.output("moved", back(dk::transpose(dk::concat({x, x + 1.0}, {.axis = 1}), {.perm = {0, 2, 3, 1}})));
    g.output("constant", back(x + g.constant({0.1, 0.2, 0.3, 0.4, 0.5}, {5, 1}, Type)));
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
  }
};

TEST_CASE("kernels between elements of several types") {
  check_model<mixed<false>>("static");
  check_model<mixed<true>>("symbolic");
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
