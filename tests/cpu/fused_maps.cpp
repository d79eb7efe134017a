// SPDX-License-Identifier: MIT
// LABELS: no_sanitize
// OPTIONS: -O1
// Groups without an anchor: element types, broadcast, movement, and what the graph gives out.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/builtin.hpp"
#include "tests/support/fused_groups.hpp"
#include "tests/support/thoroughly.hpp"

namespace dk = dnnkit;
using dk::f32;
using harness::check_model;

namespace {

template <bool Symbolic> struct choices {
  static constexpr void build(dk::builder& g) {
    const dk::dim_argument n = Symbolic ? dk::dim_argument(dk::sym("N", {1, 50})) : dk::dim_argument(37);
    const dk::tensor x = g.input("x", f32, {3, n}), y = g.input("y", f32, {1, n}), z = g.input("z", f32, {3, 1});
    const dk::tensor b = g.input("b", dk::boolean, {3, n}), i = g.input("i", dk::i64, {3, n});
    const dk::tensor more = dk::greater(x, y), mixed = dk::logical_xor(more, dk::logical_and(b, dk::less(z, x)));
    g.output("more", more);
    g.output("mixed", dk::logical_not(mixed));
    g.output("chosen", dk::where(mixed, x, dk::exp(y)));
    g.output("counted", dk::where(b, i, i * g.scalar(-3, dk::i64)));
    g.output("flag", dk::where(more, b, mixed));
    g.output("number", dk::cast(b, {.to = f32}) * x);
    g.output("whole", dk::cast(x * 10.0, {.to = dk::i64}));
    g.output("real", dk::cast(i, {.to = f32}) + 0.5);
    g.output("truth", dk::cast(i, {.to = dk::boolean}));
    g.output("from truth", dk::cast(mixed, {.to = dk::i64}) + i);
    g.output("equal", dk::equal(i, g.scalar(2, dk::i64)));
    g.output("same truth", dk::equal(b, more));
  }
};

struct integers {
  static constexpr void build(dk::builder& g) {
    const dk::tensor a = g.input("a", dk::i64, {4, 9}), b = g.input("b", dk::i64, {9}), c = g.input("c", dk::i32, {5});
    const dk::tensor large = a * g.scalar(3000000000, dk::i64);
    g.output("sum", large + b);
    g.output("quotient", large / b);
    g.output("remainder", dk::mod(large, b));
    g.output("c remainder", dk::mod(a, b, {.fmod = true}));
    g.output("least", dk::min(dk::abs(a), dk::neg(b)));
    g.output("sign", dk::sign(a));
    g.output("narrow", dk::relu(c * c - g.scalar(4, dk::i32)));
    g.output("turned", dk::transpose(dk::slice(a, {.starts = {1}, .ends = {7}, .axes = {1}, .steps = {2}})));
  }
};

struct scalars {  // rank 0, in and out
  static constexpr void build(dk::builder& g) {
    const dk::tensor a = g.input("a", f32, {}), b = g.input("b", f32, {}), x = g.input("x", f32, {1, 7});
    g.output("sum", dk::tanh(a * b) + 1.0);
    g.output("spread", x * a - b);
    g.output("grown", dk::unsqueeze(a, {.axes = {0, 1}}));
    g.output("shrunk", dk::reshape(dk::slice(x, {.starts = {3}, .ends = {4}, .axes = {1}}), {}));
    g.output("constant", g.scalar(2.5) * a);
    g.output("index", dk::gather(x, g.scalar(4, dk::i64), {.axis = 1}));
  }
};

struct given_out {  // inputs, weights, constants, values of the setup, one value twice, values that are read as well
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {3, 4}), w = g.weight("w", {4, 3});
    const dk::tensor y = dk::relu(x), z = y + dk::transpose(w);
    g.output("input", x);
    g.output("weight", w);
    g.output("constant", g.constant({1, 2, 3}, {3}));
    g.output("setup", dk::exp(w));
    g.output("moved setup", dk::transpose(w));
    g.output("y", y);
    g.output("z", z);
    g.output("z again", z);
    g.output("moved", dk::transpose(z));
    g.output("same shape", dk::identity(y));
    g.output("moved input", dk::reshape(x, {2, 6}));
    g.output("input again", x);
  }
};

template <bool Symbolic> struct movements {  // views that are strided, views that are not, chains of both
  static constexpr void build(dk::builder& g) {
    const dk::dim_argument h = Symbolic ? dk::dim_argument(dk::sym("H", {2, 9})) : dk::dim_argument(6);
    const dk::tensor x = g.input("x", f32, {2, 8, h, 6});
    g.output("blocks", dk::depth_to_space(x, {.blocksize = 2}));
    g.output("columns", dk::depth_to_space(x, {2, static_cast<decltype(dk::op::depth_to_space::mode)>(1)}) * 2.0);
    g.output("merged", dk::relu(dk::reshape(dk::transpose(x, {.perm = {0, 2, 1, 3}}), {2, x.size(2), 48})));
    g.output("split", dk::transpose(dk::reshape(x, {2, 4, 2, x.size(2), 3, 2}), {.perm = {5, 0, 4, 1, 3, 2}}));
    g.output("back", dk::reshape(dk::transpose(dk::reshape(x, {2, 4, 2, x.size(2), 6}), {.perm = {0, 2, 1, 3, 4}}),
                                 {2, 8, x.size(2), 6}) +
                         x);
    g.output("odd", dk::reshape(dk::narrow(x, 3, 1, 3), {2, 12, x.size(2), 2}) + 1.0);
    g.output("backwards", dk::slice(x, {.starts = {-1, -1}, .ends = {-99, -99}, .axes = {1, 3}, .steps = {-1, -2}}));
    g.output("repeated", dk::tile(dk::neg(x), {.repeats = {1, 2, 1, 3}}));
    g.output("padded", dk::pad(x, {.pads = {0, -1, 1, 0, 0, 2, 0, 3}, .value = -1}) * x.owner().weight("w", {1}));
    g.output("joined", dk::concat({x, dk::relu(x), dk::narrow(x, 3, 0, 2)}, {.axis = 3}));
    g.output("stacked", dk::concat({x, dk::tanh(x)}, {.axis = 0}));
    g.output("near", dk::resize(x, {.scales = {1, 1, 1.5f, 0.5f}}));
    g.output("smooth", dk::resize(dk::relu(x), {.scales = {1, 1, 2, 3}, .mode = dk::resize_mode::linear}));
    g.output("taken", dk::gather(x, g.constant({5, 0, 0, -2}, {2, 2}, dk::i64), {.axis = 3}));
  }
};

struct broadcasts {
  static constexpr void build(dk::builder& g) {
    const dk::tensor a = g.input("a", f32, {4, 1, 5}), b = g.input("b", f32, {3, 1}), c = g.input("c", f32, {5});
    g.output("all", (a + b) * c);
    g.output("twice", dk::exp(a) * dk::tanh(b) + dk::exp(a));
    g.output("ranks", dk::unsqueeze(c, {.axes = {0}}) - dk::reshape(b, {3, 1, 1}));
    g.output("wide", b_of(g, a) * b);
  }
  static constexpr dk::tensor b_of(dk::builder&, dk::tensor a) { return dk::expand(a, {2, 4, 3, 5}); }
};

struct functions {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {2, 33}) * 4.0, positive = dk::abs(x) + 0.25;
    dk::tensor y = dk::sigmoid(x) + dk::hard_sigmoid(x) + dk::hard_swish(x) + dk::silu(x) + dk::gelu(x);
    y = y + dk::elu(x) + dk::selu(x) + dk::softplus(x) + dk::softsign(x) + dk::mish(x) + dk::leaky_relu(x);
    g.output("activations", y);
    y = dk::tanh(x) + dk::erf(x) + dk::exp(-positive) + dk::log(positive) + dk::sqrt(positive) + dk::sin(x);
    g.output("functions", y + dk::cos(x) + dk::pow(positive, x * 0.25) + dk::reciprocal(positive));
    const dk::tensor exact = g.input("z", f32, {2, 33});
    g.output("rounded", dk::floor(exact) + dk::ceil(exact) + dk::round(exact) + dk::sign(exact));
  }
};

}  // namespace

TEST_CASE("truth values and choices") {
  check_model<choices<true>>("symbolic");
  harness::thoroughly([](auto) { check_model<choices<false>>("static"); });
}
TEST_CASE("integers") { check_model<integers>("integers"); }
TEST_CASE("rank 0") { check_model<scalars>("scalars"); }
TEST_CASE("everything a graph can give out") { check_model<given_out>("given out"); }
TEST_CASE("movement") {
  check_model<movements<false>>("static");
  harness::thoroughly([](auto) { check_model<movements<true>>("symbolic"); });
}
TEST_CASE("broadcast") { check_model<broadcasts>("broadcasts"); }
TEST_CASE("functions of one element") { check_model<functions>("functions"); }
