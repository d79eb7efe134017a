// SPDX-License-Identifier: MIT
// Kernels for OpenCL, a family a case, run on a device against the reference evaluator with random shapes; and what has
// no kernel.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <cstdint>
#include <string>

#include "dnnkit/graph/builder.hpp"
#include "dnnkit/op/builtin.hpp"
#include "tests/support/harness.hpp"
#include "tests/support/opencl.hpp"
#include "tests/support/opencl_check.hpp"
#include "tests/support/random_source.hpp"

namespace dk = dnnkit;
using dk::f32;
using dk::tensor;
using harness::check_on_device;

namespace {

dk::graph graph_of(auto build) {
  dk::builder b;
  build(b);
  return b.value();
}

std::string refusal(auto build) { return harness::opencl_refusal(graph_of(build)); }

}  // namespace

TEST_CASE("maps: transposed, broadcast, sliced and reshaped operands, several outputs") {
  check_on_device([](dk::builder& g, random_source& r) {
    const std::int64_t a = r.between(1, 7), b = r.between(2, 9), c = r.between(1, 5);
    const tensor x = g.input("x", f32, {2, a, b, 2 * c}), y = g.input("y", f32, {a, 1, 2 * c}),
                 z = g.input("z", f32, {1});
    const tensor t = dk::transpose(x, {.perm = {0, 3, 1, 2}});
    g.output("sum", dk::gelu(t + dk::transpose(y, {.perm = {2, 0, 1}})) * z);
    g.output("blocks", dk::transpose(dk::reshape(x, {2, a, b, c, 2}), {.perm = {4, 1, 0, 3, 2}}) - 0.5);
    g.output("slice", dk::exp(dk::slice(x, {.starts = {1}, .ends = {b}, .axes = {2}, .steps = {1}})));
    g.output("tiled", dk::neg(dk::tile(y, {.repeats = {2, 3, 1}})));
    g.output("setup", x + dk::exp(g.weight("w", {2 * c})) * g.weight("v", {1, 1, 2 * c}));
  });
  check_on_device([](dk::builder& g, random_source& r) {  // rank 0, one element
    const tensor a = g.input("a", f32, {}), x = g.input("x", f32, {1, r.between(1, 130)});
    g.output("y", dk::tanh(a * 2.0));
    g.output("z", x * a);
  });
}

TEST_CASE("maps: functions of an element, choices by truth values") {
  check_on_device([](dk::builder& g, random_source& r) {
    const tensor x = g.input("x", f32, {2, r.between(1, 40)}), y = x * 4.0, p = dk::abs(y) + 0.25, q = x * 0.9;
    g.output("activations", dk::sigmoid(y) + dk::hard_sigmoid(y) + dk::hard_swish(y) + dk::silu(y) + dk::elu(y) +
                                dk::selu(y) + dk::softplus(y) + dk::softsign(y) + dk::mish(y) + dk::leaky_relu(y) +
                                dk::gelu(y) + dk::gelu(y, {.approximate = dk::gelu_approximation::by_tanh}));
    g.output("more activations", dk::celu(y) + dk::thresholded_relu(y) + dk::shrink(y) + dk::prelu(y, x) +
                                     dk::clip(y, {.min = -1, .max = 0.5F}) + dk::relu(y));
    g.output("functions", dk::tanh(y) + dk::erf(y) + dk::exp(-p) + dk::log(p) + dk::sqrt(p) + dk::sin(y) + dk::cos(y) +
                              dk::pow(p, x) + dk::reciprocal(p));
    g.output("arcs", dk::tan(x) + dk::asin(q) + dk::acos(q) + dk::atan(y) + dk::sinh(x) + dk::cosh(x) + dk::asinh(y) +
                         dk::acosh(p + 1.0) + dk::atanh(q));
    const tensor z = g.input("z", f32, {2, 1}), e = g.input("e", f32, {2, 33});  // as they are: these jump
    g.output("rounded", dk::floor(e) + dk::ceil(e) + dk::round(e) + dk::sign(e));
    g.output("remainder", dk::mod(e, z) + dk::mod(e, z, {.fmod = true}));
    g.output("least", dk::min(e, z) - dk::max(e, z));
    const tensor f = g.input("f", f32, {2, 33});
    const tensor yes = g.scalar(1, dk::boolean), no = g.scalar(0, dk::boolean);
    g.output("chosen", dk::where(dk::logical_not(dk::logical_and(dk::greater(e, f), yes)), e, f));
    g.output("other", dk::where(dk::logical_or(dk::logical_xor(dk::less_or_equal(e, f), yes), no), e, f));
    g.output("same", dk::where(dk::equal(e, f), f, e));
    g.output("counted", dk::cast(dk::less(e, f), {.to = f32}) + dk::cast(dk::greater_or_equal(e, f), {.to = f32}) * e);
    g.output("finite", dk::where(dk::is_inf(e), f, e));
    g.output("number", dk::where(dk::is_nan(e), f, e));
  });
}

TEST_CASE("operands moved in ways that no strided view tells: their coordinates are worked out") {
  check_on_device([](dk::builder& g, random_source& r) {
    const std::int64_t n = r.between(2, 7), m = r.between(3, 8);
    const tensor x = g.input("x", f32, {n, 6, m}), t = dk::transpose(x, {.perm = {2, 0, 1}});
    g.output("merged", dk::relu(dk::reshape(t, {2, n, 3, m})));
    g.output("and sliced", dk::neg(dk::slice(dk::reshape(t, {m * n * 6}),
                                             {.starts = {-1}, .ends = {-99999}, .axes = {0}, .steps = {-2}})));
    g.output("and split", dk::exp(dk::narrow(dk::reshape(t, {3 * n, 2 * m}), 0, 1, n)) * 0.5);
    g.output("and repeated", dk::exp(dk::tile(dk::reshape(t, {2 * n, 3 * m}), {.repeats = {2, 1}})) + 1.0);
    g.output("mirrored",
             dk::reduce_sum(dk::conv(dk::pad(g.input("image", f32, {1, 3, n + 3, m}),
                                             {.pads = {0, 0, 2, 1, 0, 0, 1, 2}, .mode = dk::pad_mode::reflect}),
                                     g.weight("w", {4, 3, 3, 3})),
                            {.axes = {1}}));
    const tensor blocks = g.input("blocks", f32, {1, 8, 2, m});
    g.output("shuffled", dk::sigmoid(dk::reshape(dk::depth_to_space(blocks, {.blocksize = 2}), {m, 16})));
    g.output("unshuffled",
             dk::sigmoid(
                 dk::reshape(dk::space_to_depth(g.input("plane", f32, {1, 2, 4, 2 * m}), {.blocksize = 2}), {m, 16})));
  });
}

TEST_CASE("integers: sums and products that wrap around, comparisons, choices, casts from and to any width") {
  check_on_device([](dk::builder& g, random_source& r) {
    const std::int64_t n = r.between(1, 90);
    const tensor x = g.input("x", f32, {2, n});
    for (const dk::dtype type : {dk::i8, dk::i16, dk::i32, dk::i64, dk::u8, dk::u16, dk::u32}) {
      const std::string of(dk::name(type));
      const tensor a = dk::cast(x * 300.0, {.to = type}), b = g.input("b_" + of, type, {n});
      g.output("sum_" + of, dk::neg(a + b) * a - b);
      g.output("choice_" + of, dk::where(dk::less(a, b), a, b + g.scalar(3, type)));
      g.output("number_" + of, dk::cast(dk::where(dk::equal(a, b), a, a * b), {.to = f32}));
      g.output("quotient_" + of, a / dk::where(dk::less(b, a), b, g.scalar(0, type)));
      g.output("bounds_" + of, dk::max(dk::min(dk::abs(a), b), dk::sign(a)));
    }
    g.output("whole", dk::cast(x * 1e3, {.to = dk::i64}));
    g.output("truth", dk::cast(dk::greater(dk::cast(x * 3.0, {.to = dk::i32}), g.scalar(0, dk::i32)), {.to = dk::i64}));
  });
}

TEST_CASE("Gather along any axis, by indices of any rank, with what stands before and behind it") {
  check_on_device([](dk::builder& g, random_source& r) {
    const std::int64_t n = r.between(3, 9), m = r.between(1, 70);
    const tensor x = g.input("x", f32, {n, m}), w = g.weight("words", {n, m});
    const tensor ids = dk::cast(dk::clip(g.input("ids", f32, {2, 5}) * 3.0, {.min = -2, .max = 2}), {.to = dk::i64});
    const tensor known = g.constant({0, -1, 2, 1}, {4}, dk::i32);
    g.output("embedding", dk::layer_normalization(dk::gather(w, ids) + dk::gather(x, g.constant({1}, {1}, dk::i64)),
                                                  g.weight("s", {m}), g.weight("b", {m})));
    g.output("behind", dk::relu(dk::gather(dk::exp(x), ids) - 0.5));
    g.output("columns", dk::gather(dk::transpose(x, {.perm = {1, 0}}), known, {.axis = -1}));
    g.output("one", dk::gather(x, g.constant({2}, {}, dk::i64)));
    g.output("numbers", dk::gather(dk::cast(x * 9.0, {.to = dk::i32}), ids + g.scalar(0, dk::i64)));
    g.output("joined", dk::concat({ids, ids * ids}, {.axis = 0}));
  });
}

TEST_CASE("rows: reductions over any axes, Softmax and normalisations with prologues and epilogues") {
  check_on_device([](dk::builder& g, random_source& r) {
    const std::int64_t n = r.between(1, 200), m = r.between(1, 9);
    const tensor x = g.input("x", f32, {2, m, n});
    g.output("softmax", dk::relu(dk::softmax(x * 0.5) - 0.01));
    g.output("columns", dk::softmax(x, {.axis = 1}) * x);
    g.output("logarithm", dk::log_softmax(dk::transpose(x, {.perm = {1, 2, 0}}), {.axis = -2}));
    g.output("layer", dk::layer_normalization(x, g.weight("s", {n}), g.weight("b", {n})));
    g.output("groups", dk::instance_normalization(dk::gelu(x), g.weight("t", {m}), g.weight("c", {m})));
  });
  check_on_device([](dk::builder& g, random_source& r) {
    const tensor x = g.input("x", f32, {r.between(1, 3), r.between(1, 70), r.between(1, 5)}), p = dk::abs(x) + 0.5;
    g.output("sum", dk::reduce_sum(x * x, {.axes = {1}}) * 0.5);
    g.output("mean", dk::reduce_mean(x, {.axes = {0, 2}, .keepdims = false}));
    g.output("max", dk::reduce_max(x, {.axes = {-1}, .keepdims = false}));
    g.output("min", dk::neg(dk::reduce_min(x)));
    g.output("product", dk::reduce_prod(p, {.axes = {2}}));
    g.output("norms", dk::reduce_l1(x, {.axes = {1}}) + dk::reduce_l2(x, {.axes = {1}}));
    g.output("logarithms", dk::reduce_log_sum(p, {.axes = {1}}) - dk::reduce_log_sum_exp(x, {.axes = {1}}));
    g.output("squares", dk::reduce_sum_square(x, {.axes = {0}, .keepdims = false}));
  });
}

TEST_CASE("products: batched, broadcast, of vectors, transposed, with prologues and epilogues") {
  check_on_device([](dk::builder& g, random_source& r) {
    const std::int64_t m = r.between(1, 9), k = r.between(1, 33), n = r.between(1, 19);
    const tensor x = g.input("x", f32, {3, m, k}), w = g.weight("w", {k, n}), b = g.weight("b", {n});
    g.output("gelu", dk::gelu(dk::matmul(x, w) + b));
    g.output("residual", dk::relu(dk::matmul(dk::tanh(x), w)) + g.input("r", f32, {m, n}));
    g.output("scores", dk::matmul(x, dk::transpose(x, {.perm = {0, 2, 1}})) * 0.25);
    g.output("broadcast", dk::matmul(g.input("y", f32, {2, 1, 1, k}), dk::transpose(x + 0.5, {.perm = {0, 2, 1}})));
    g.output("column", dk::matmul(x, g.weight("v", {k})));
    g.output("dot", dk::matmul(g.input("p", f32, {k}), g.weight("q", {k})));
    g.output("gemm", dk::gemm(dk::reshape(x, {3 * m, k}), g.weight("u", {n, k}), b, {.alpha = 0.5F, .trans_b = true}));
  });
}

TEST_CASE("convolutions: padding, strides, dilation, groups, 1 to 3 dimensions, bias, residual") {
  check_on_device([](dk::builder& g, random_source& r) {
    const std::int64_t c = 2 * r.between(1, 4), o = 2 * r.between(1, 5), h = r.between(3, 9), w = r.between(3, 9);
    const tensor x = g.input("x", f32, {2, c, h, w});
    const tensor y = dk::relu(dk::conv(x, g.weight("w", {o, c, 3, 3}), g.weight("b", {o}), {.pads = {1, 1, 1, 1}}));
    g.output("residual", dk::conv(y, g.weight("v", {o, o, 3, 3}), {.pads = {1, 1, 1, 1}}) + y);
    g.output("strided",
             dk::conv(x, g.weight("s", {o, c, 2, 3}), {.strides = {2, r.between(1, 3)}, .pads = {1, 0, 0, 2}}));
    g.output("dilated", dk::tanh(dk::conv(dk::exp(x), g.weight("d", {o, c, 2, 1}), {.dilations = {2, 1}})));
    g.output("groups", dk::conv(x, g.weight("g", {o, c / 2, 1, 1}), {.group = 2}));
    g.output("depthwise", dk::silu(dk::conv(x, g.weight("e", {2 * c, 1, 3, 3}), {.pads = {0, 1, 2, 1}, .group = c})));
    g.output("normalised",
             dk::batch_normalization(dk::conv(x, g.weight("n", {o, c, 1, 1})), g.batch_norm("variance", o)));
    const tensor line = g.input("line", f32, {1, c, w}), cube = g.input("cube", f32, {1, 2, 3, h, 4});
    g.output("line out", dk::conv(line, g.weight("l", {3, c, 3}), {.pads = {2, 0}}));
    g.output("cube out",
             dk::conv(cube, g.weight("k", {3, 2, 2, 3, 1}), {.strides = {1, 2, 3}, .pads = {1, 0, 0, 0, 1, 0}}));
    g.output("transposed", dk::conv_transpose(x, g.weight("t", {c, 3, 2, 2}), {.strides = {2, 2}}));
  });
}

TEST_CASE("pools: largest and average, padding that counts and that does not, rounding up, dilation") {
  check_on_device([](dk::builder& g, random_source& r) {
    const tensor x = g.input("x", f32, {2, 3, r.between(4, 9), r.between(4, 9)});
    g.output("max",
             dk::relu(dk::max_pool(x - 0.25, {.kernel_shape = {2, 3}, .strides = {2, 1}, .pads = {1, 1, 0, 1}})));
    g.output("dilated", dk::max_pool(x, {.kernel_shape = {2, 2}, .dilations = {2, 3}}));
    g.output("up", dk::max_pool(x, {.kernel_shape = {3, 2}, .strides = {2, 2}, .ceil_mode = true}));
    const bool up = r.chance(50);
    g.output("mean",
             dk::average_pool(dk::exp(x),
                              {.kernel_shape = {3, 2}, .strides = {2, 3}, .pads = {1, 1, 1, 0}, .ceil_mode = up}));
    g.output("padded mean", dk::average_pool(x, {.kernel_shape = {3, 3},
                                                 .strides = {2, 2},
                                                 .pads = {1, 0, 1, 1},
                                                 .ceil_mode = up,
                                                 .count_include_pad = true}));
    g.output("line", dk::average_pool(dk::reshape(x, {6, x.size(2), x.size(3)}), {.kernel_shape = {2}}) * 2.0);
    g.output("global", dk::global_average_pool(x) + dk::global_max_pool(x));
  });
}

TEST_CASE("tensors one behind the other along any axis, computed ones and views among them") {
  check_on_device(
      [](dk::builder& g, random_source& r) {
        const std::int64_t a = r.between(1, 5), b = r.between(1, 6), c = r.between(1, 4);
        const tensor x = g.input("x", f32, {a, b, c}), y = g.input("y", f32, {b, a, c}), z = g.input("z", f32, {1, c});
        const tensor turned = dk::transpose(y, {.perm = {1, 0, 2}});
        for (const std::int64_t axis : {0, 1, -1}) {
          const std::string number = std::to_string(axis + 1);
          g.output("apart" + number, dk::relu(dk::concat({dk::exp(x), turned, x}, {.axis = axis})) * 2.0);
          g.output("product" + number,
                   dk::concat({dk::matmul(x, g.weight("w" + number, {c, c})), turned}, {.axis = axis}));
        }
        g.output("widened", dk::concat({x + z, dk::expand(z, {a, 2, c})}, {.axis = 1}));
        g.output("weights", dk::matmul(x, dk::concat({g.weight("u", {c, 3}), g.weight("v", {c, 2})}, {.axis = 1})));
        g.output("one", dk::concat({dk::tanh(x)}, {.axis = 1}));
      },
      6);
}

TEST_CASE("truth values are read, computed and stored") {
  check_on_device([](dk::builder& g, random_source& r) {
    const std::int64_t n = r.between(1, 9);
    const tensor x = g.input("x", f32, {2, 1, n}), b = g.input("b", dk::boolean, {3, 1}),
                 f = g.weight("f", {n}, dk::boolean);
    g.output("greater", dk::greater(x, g.scalar(0)));
    g.output("both",
             dk::logical_and(dk::transpose(b, {.perm = {1, 0}}), dk::less(g.input("z", f32, {3}), g.scalar(0.5))));
    g.output("chosen", dk::where(dk::logical_not(b), x, x * 2.0));
    g.output("known", dk::where(f, x, g.scalar(0)));
    g.output("copy", dk::transpose(dk::reshape(f, {1, n}), {.perm = {1, 0}}));
  });
}

TEST_CASE("symbols: extents of every family, bound three times in one execution") {
  check_on_device(
      [](dk::builder& g, random_source& r) {  // maps
        const dk::sym n("N", {0, 9}), m("M", {1, 70});
        const tensor x = g.input("x", f32, {2, n, m, 3}), y = g.input("y", f32, {m, 1});
        g.output("sum", dk::transpose(dk::gelu(x), {.perm = {3, 1, 0, 2}}) + dk::reshape(y, {y.size(0)}));
        g.output("merged", dk::reshape(dk::transpose(x, {.perm = {1, 0, 2, 3}}), {n, g.size(m) * 6}) * 2.0);
        g.output("split", dk::transpose(dk::reshape(x * 0.5, {2, n, g.size(m) * 3}), {.perm = {2, 1, 0}}));
        g.output("slice", dk::exp(dk::slice(x, {.starts = {1}, .ends = {r.between(2, 3)}, .axes = {3}, .steps = {1}})));
      },
      4);
  check_on_device(
      [](dk::builder& g, random_source&) {  // rows
        const dk::sym n("N", {1, 9}), m("M", {1, 150});
        const tensor x = g.input("x", f32, {n, 3, m});
        g.output("softmax", dk::softmax(x * 0.5));
        g.output("columns", dk::softmax(x, {.axis = 0}) * x);
        g.output("mean", dk::reduce_mean(x, {.axes = {0, 2}, .keepdims = false}));
        g.output("all", dk::reduce_sum(x * x));
        g.output("layer", dk::layer_normalization(dk::transpose(x, {.perm = {0, 2, 1}}), g.weight("s", {3}),
                                                  g.weight("b", {3})));
        g.output("instance", dk::instance_normalization(x, g.weight("t", {3}), g.weight("c", {3})));
      },
      4);
  check_on_device(
      [](dk::builder& g, random_source&) {  // products
        const dk::sym n("N", {1, 9}), k("K", {1, 33});
        const tensor x = g.input("x", f32, {2, n, k});
        g.output("weights", dk::relu(dk::matmul(dk::transpose(x, {.perm = {0, 2, 1}}), g.input("w", f32, {n, 5}))));
        g.output("scores", dk::matmul(x, dk::transpose(x, {.perm = {0, 2, 1}})) * 0.25);
        g.output("linear", dk::matmul(g.input("y", f32, {n, k, 7}), g.weight("v", {7, 4})) + g.weight("b", {4}));
      },
      4);
  check_on_device(
      [](dk::builder& g, random_source& r) {  // windows
        const dk::sym n("N", {1, 3}), h("H", {5, 12}), w("W", {6, 20});
        const tensor x = g.input("x", f32, {n, 4, h, w});
        const tensor y = dk::relu(dk::conv(x, g.weight("w", {6, 4, 3, 3}), g.weight("b", {6}), {.pads = {1, 1, 1, 1}}));
        g.output("residual", dk::conv(y, g.weight("v", {6, 6, 3, 3}), {.pads = {1, 1, 1, 1}}) + y);
        g.output("strided", dk::conv(x, g.weight("s", {4, 2, 2, 3}), {.strides = {2, r.between(1, 3)}, .group = 2}));
        g.output("max", dk::max_pool(x, {.kernel_shape = {2, 3}, .strides = {2, 1}, .pads = {1, 1, 0, 1}}));
        g.output("mean", dk::average_pool(x, {.kernel_shape = {3, 3},
                                              .strides = {2, 2},
                                              .pads = {1, 0, 1, 1},
                                              .ceil_mode = r.chance(50),
                                              .count_include_pad = r.chance(50)}));
        g.output("global", dk::global_average_pool(y) + dk::global_max_pool(y));
      },
      4);
}

TEST_CASE("branches: chosen by an input, by what the device computes, one in another") {
  check_on_device(
      [](dk::builder& g, random_source&) {
        constexpr std::int64_t n = 20;  // of which sums of these seeds lie on both sides of -3
        const tensor x = g.input("x", f32, {n, 3}), given = g.input("given", dk::boolean, {1});
        const tensor computed = dk::greater(dk::reduce_sum(x, {.keepdims = false}), g.scalar(-3));
        const tensor inner = dk::combine(computed, dk::softmax(x * 2.0), dk::tanh(x));
        g.output("given", dk::combine(given, dk::relu(x), dk::exp(x)));
        g.output("computed", dk::combine(computed, dk::matmul(x, g.weight("w", {3, 4})), g.input("y", f32, {n, 4})));
        g.output("nested", dk::combine(given, dk::neg(inner), dk::sin(x)));
        g.output("condition", computed);
      },
      8);
}

TEST_CASE("what has no kernel is refused with the operator, the kernel and the type") {
  CHECK(refusal([](dk::builder& g) {
          g.output("y", dk::pow(g.input("x", dk::i64, {3}), g.input("z", dk::i64, {3})));
        }) == "Pow: there is no OpenCL kernel for this operator with integers");
  CHECK(refusal([](dk::builder& g) { g.output("y", dk::neg(g.input("x", dk::f64, {3}))); }) ==
        "Neg: writes f64, and kernels for OpenCL load and store f32, f16, bf16, bool, i8 to i64 and u8 to u32");
  CHECK(refusal([](dk::builder& g) { g.output("y", dk::cast(g.input("x", dk::f64, {3}), {.to = f32})); }) ==
        "Cast: reads f64, and kernels for OpenCL load and store f32, f16, bf16, bool, i8 to i64 and u8 to u32");
  CHECK(refusal([](dk::builder& g) {
          g.output("y", dk::reduce_sum(g.input("x", dk::i64, {3, 3}), {.axes = {1}}));
        }) == "ReduceSum: this operator's kernel for OpenCL computes with floats, not with i64");
  CHECK(refusal([](dk::builder& g) {
          g.output("y", dk::det(g.input("x", f32, {3, 3})));
        }) == "Det: there is no OpenCL kernel for this operator");
}

TEST_CASE("numbers of 16 bits: stored so, computed with as 32") {
  check_on_device([](dk::builder& g, random_source& r) {
    const std::int64_t n = r.between(1, 9), m = 8 * r.between(1, 9);
    for (const dk::dtype type : {dk::f16, dk::bf16}) {
      const std::string of(dk::name(type));
      const tensor x = g.input("x_" + of, type, {n, m}), w = g.weight("w_" + of, {m, 40}, type);
      g.output("map_" + of, dk::gelu(x * 3.0) - dk::transpose(x, {.perm = {0, 1}}));
      g.output("product_" + of, dk::relu(dk::matmul(x, w)));
      g.output("softmax_" + of, dk::softmax(x));
      g.output("sum_" + of, dk::reduce_mean(x, {.axes = {1}}));
      g.output("image_" + of, dk::conv(dk::reshape(x, {1, n, 8, m / 8}), g.weight("k_" + of, {16, n, 3, 3}, type),
                                       {.pads = {1, 1, 1, 1}}));
      g.output("cast_" + of, dk::cast(dk::cast(g.input("y_" + of, f32, {m}) * 70.0, {.to = type}), {.to = f32}));
      g.output("small_" + of, dk::cast(dk::cast(g.input("z_" + of, f32, {m}) * 1e-5, {.to = type}), {.to = f32}));
    }
  });
}
