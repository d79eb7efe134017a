// SPDX-License-Identifier: MIT
// The reference evaluator: a trained network on real data, symbols, every refusal, and operators of a user's own.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/reference/evaluator.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "dnnkit/pass/expand_composites.hpp"
#include "dnnkit/weights/host_weights.hpp"
#include "tests/support/error_of.hpp"

namespace dk = dnnkit;
using dk::host_tensor;

namespace {

constexpr void build_digits(dk::builder& g) {
  const dk::tensor x = g.input("x", dk::f32, {dk::sym{"N", {1, 512}}, 1, 8, 8});
  const auto block = [&](dk::tensor t, const char* conv, const char* norm, int in, int out) {
    t = dk::conv(t, g.weight(conv, ".weight", {out, in, 3, 3}), g.weight(conv, ".bias", {out}), {.pads = {1, 1, 1, 1}});
    return dk::relu(dk::batch_normalization(t, g.batch_norm(norm, out)));
  };
  const dk::op::max_pool half{.kernel_shape = {2, 2}, .strides = {2, 2}};
  dk::tensor y = dk::max_pool(block(block(x, "conv1", "bn1", 1, 16), "conv2", "bn2", 16, 32), half);
  y = dk::max_pool(block(y, "conv3", "bn3", 32, 32), half);
  g.output("scores", dk::gemm(dk::flatten(y), g.weight("fc", ".weight", {10, 128}), g.weight("fc", ".bias", {10}),
                              {.trans_b = true}));
}

dk::safetensors asset(const char* name) { return dk::safetensors(std::filesystem::path(DNNKIT_ASSETS) / name); }

TEST_CASE("a trained network classifies real digits as PyTorch does") {
  dk::builder g;
  build_digits(g);
  const dk::safetensors weights = asset("digits_cnn.safetensors"), data = asset("digits.safetensors");
  const host_tensor pixels = dk::to_host_tensor(data.at("test_x")), labels = dk::to_host_tensor(data.at("test_y"));
  host_tensor x(dk::f32, {360, 1, 8, 8});
  for (std::size_t i = 0; i < x.reals.size(); ++i) x.reals[i] = static_cast<double>(pixels.integers[i]) / 16;
  const auto scores = dk::evaluate(g.value(), std::vector{x}, dk::weights_of(weights));
  REQUIRE(scores.size() == 1);
  REQUIRE(scores[0].describe() == "f32 [360, 10]");
  int correct = 0;
  for (std::size_t n = 0; n < 360; ++n) {
    std::size_t best = 0;
    for (std::size_t k = 1; k < 10; ++k)
      if (scores[0].reals[n * 10 + k] > scores[0].reals[n * 10 + best]) best = k;
    correct += static_cast<std::int64_t>(best) == labels.integers[n];
  }
  CHECK(correct == 358);

  // A pass that keeps the meaning keeps every bit: the evaluator expands composites in the same way.
  const dk::graph expanded = dk::passes::expand_composites::run(g.value());
  host_tensor one(dk::f32, {1, 1, 8, 8});
  one.reals.assign(x.reals.begin(), x.reals.begin() + 64);
  const auto a = dk::evaluate(g.value(), std::vector{one}, dk::weights_of(weights));
  const auto b = dk::evaluate(expanded, std::vector{one}, dk::weights_of(weights));
  CHECK(a[0].reals == b[0].reals);
}

TEST_CASE("elements are rounded to their type between operators") {
  dk::builder g;
  const dk::tensor x = g.input("x", dk::f32, {1}), h = g.input("h", dk::f16, {1}), i = g.input("i", dk::i32, {1});
  g.output("f32", x + 1e-9 - 1.0);
  g.output("f16", h + h);
  g.output("i32", i + i);
  const auto y = dk::evaluate(g.value(), std::vector{host_tensor({1}, {1}),
                                                     [] {
                                                       host_tensor t(dk::f16, {1});
                                                       t.reals[0] = 40000;
                                                       return t;
                                                     }(),
                                                     host_tensor::of_integers(dk::i32, {1}, {1 << 30})});
  CHECK(y[0].reals[0] == 0);
  CHECK(y[1].reals[0] == HUGE_VAL);
  CHECK(y[2].integers[0] == std::numeric_limits<std::int32_t>::min());
}

TEST_CASE("the observer sees every value as soon as it is known") {
  dk::builder g;
  const dk::tensor x = g.input("x", dk::f32, {2}), w = g.weight("w", {2}), y = dk::relu(x * w);
  g.output("y", y);
  std::map<dk::value_id, std::string> seen;
  const std::map<std::string, host_tensor, std::less<>> weights{{"w", host_tensor({2}, {3, -3})}};
  const auto result = dk::evaluate(g.value(), std::vector{host_tensor({2}, {1, 2})}, dk::weights_of(weights),
                                   [&](dk::value_id v, const host_tensor& t) { seen[v] = t.describe(); });
  CHECK(seen.size() == g.value().values.size());
  CHECK(result[0].reals == std::vector<double>{3, 0});
}

TEST_CASE("extents of symbols come with the inputs") {
  dk::builder g;
  const dk::tensor x = g.input("x", dk::f32, {dk::sym{"L", {2, 5}}, 2}),
                   y = g.input("y", dk::f32, {dk::sym{"L", {2, 5}}});
  g.output("z", dk::reshape(x, {2, dk::sym{"L"}}) + y);
  const auto run = [&](std::vector<std::int64_t> a, std::vector<std::int64_t> b) {
    return dk::evaluate(g.value(), std::vector{host_tensor(dk::f32, a), host_tensor(dk::f32, b)})[0].describe();
  };
  CHECK(run({3, 2}, {3}) == "f32 [2, 3]");
  CHECK(error_of([&] {
          return run({1, 2}, {1});
        }) == "input 'x', symbol 'L': extent is out of bounds, expected 2 to 5, found 1");
  CHECK(error_of([&] {
          return run({6, 2}, {6});
        }) == "input 'x', symbol 'L': extent is out of bounds, expected 2 to 5, found 6");
  CHECK(error_of([&] {
          return run({3, 2}, {4});
        }) == "input 'y', symbol 'L': symbol has two values, expected 3, found 4");
  CHECK(error_of([&] {
          return run({3, 3}, {3});
        }) == "input 'x': shape or element type differs, expected f32 [L, 2], found f32 [3, 3]");
  CHECK(error_of([&] { return run({3, 2, 1}, {3}); }) == "input 'x': rank differs, expected 2, found 3");
}

TEST_CASE("what cannot be run is refused with the culprit's name") {
  const std::vector<host_tensor> x{host_tensor({2}, {1, 2})};
  const auto run = [&](auto build, const std::vector<host_tensor>& inputs, const dk::weight_source& weights) {
    return error_of([&] {
      dk::builder g;
      build(g, g.input("x", dk::f32, {2}));
      return dk::evaluate(g.value(), inputs, weights);
    });
  };
  const auto keep = [](dk::builder& g, dk::tensor t) { g.output("y", dk::relu(t)); };
  const auto weigh = [](dk::builder& g, dk::tensor t) { g.output("y", t * g.weight("w", {2})); };
  CHECK(run(keep, {}, dk::no_weights()) == "reference evaluator: number of inputs differs, expected 1, found 0");
  CHECK(run(keep, {host_tensor::of_integers(dk::i64, {2}, {1, 2})}, dk::no_weights()) ==
        "input 'x': shape or element type differs, expected f32 [2], found i64 [2]");
  CHECK(run(weigh, x, dk::no_weights()) == "weight 'w': no weights were given");
  const std::map<std::string, host_tensor, std::less<>> other{{"v", x[0]}}, wrong{{"w", host_tensor({3}, {1, 2, 3})}};
  CHECK(run(weigh, x, dk::weights_of(other)) == "weight 'w': tensor is missing");
  CHECK(run(weigh, x, dk::weights_of(wrong)) ==
        "weight 'w': shape or element type differs, expected f32 [2], found f32 [3]");
  CHECK(run(
            [](dk::builder& g, dk::tensor t) {
              g.output("y", t + g.constant({1, 2, 3}, {3}));
            },
            x, dk::no_weights()) ==
        "reference evaluator: the graph is not legal, found Add (node 0): shapes [2] and [3] do not broadcast");
  CHECK(run(
            [](dk::builder& g, dk::tensor t) {
              g.output("y", dk::expand(t, {dk::sym{"N"}, 2}));
            },
            x, dk::no_weights()) == "symbol 'N': symbol has no value: no input has it for an extent");
  CHECK(run(
            [](dk::builder& g, dk::tensor t) {
              g.output("y", dk::tile(dk::reshape(t, {2, 1}), {.repeats = {1 << 30, 1 << 30}}));
            },
            x, dk::no_weights()) == "Tile, [2147483648, 1073741824]: shape is negative or too large");
#ifndef __SANITIZE_ADDRESS__  // which ends a program that asks for so much
  CHECK(run(
            [](dk::builder& g, dk::tensor t) {
              g.output("y", dk::expand(t, {std::int64_t{1} << 45, 2}));
            },
            x,
            dk::no_weights()) == "Expand, f32 [35184372088832, 2]: not enough memory, expected 562949953421312 bytes");
  CHECK(run(
            [](dk::builder& g, dk::tensor t) {
              const dk::tensor window =
                  g.apply(dk::op::hann_window{.size = std::int64_t{1} << 46}, dk::vector<dk::tensor>{});
              g.output("y", t + dk::slice(window, {.starts = {0}, .ends = {2}}));
            },
            x, dk::no_weights())
            .find("HannWindow, f32 [70368744177664]: not enough memory") == 0);
#endif
}

TEST_CASE("inputs by name") {
  dk::builder g;
  const dk::tensor a = g.input("a", dk::f32, {1}), b = g.input("b", dk::f32, {1});
  g.output("y", a - b);
  using inputs = std::map<std::string, host_tensor, std::less<>>;
  const host_tensor one({1}, {1}), two({1}, {2});
  CHECK(dk::evaluate(g.value(), inputs{{"b", one}, {"a", two}})[0].reals[0] == 1);
  CHECK(error_of([&] { return dk::evaluate(g.value(), inputs{{"a", one}}); }) == "input 'b': input is missing");
  CHECK(error_of([&] {
          return dk::evaluate(g.value(), inputs{{"a", one}, {"b", one}, {"c", one}});
        }) == "input 'c': the graph has no such input");
}

struct cube {
  static constexpr std::string_view name = "Cube";
  static constexpr dk::form kind = dk::form::elementwise;
  static constexpr dk::traits properties{};
  template <class T> static constexpr T apply(T x) { return x * x * x; }
};

TEST_CASE("a user's own operator") {
  dk::builder g;
  g.output("y", dk::apply(cube{}, g.input("x", dk::f32, {2})));
  const std::vector<host_tensor> x{host_tensor({2}, {2, -3})};
  using set = decltype(dk::builtin_ops + dk::op_set<cube>{});
  CHECK(dk::evaluate<set>(g.value(), x)[0].reals == std::vector<double>{8, -27});
  CHECK(error_of([&] { return dk::evaluate(g.value(), x); }) ==
        "Cube: operator is not in the operator set given to the evaluator");
}

TEST_CASE("tensors without elements") {
  dk::builder g;
  const dk::tensor x = g.input("x", dk::f32, {0, 3});
  g.output("sum", dk::reduce_sum(x, {.axes = {0}, .keepdims = false}));
  g.output("joined", dk::concat({x, g.constant({7}, {1, 3})}));
  g.output("shape", dk::reshape(x, {3, -1}));
  const auto y = dk::evaluate(g.value(), std::vector{host_tensor(dk::f32, {0, 3})});
  CHECK(y[0].reals == std::vector<double>{0, 0, 0});
  CHECK(y[1].reals == std::vector<double>{7, 7, 7});
  CHECK(y[2].describe() == "f32 [3, 0]");
}

}  // namespace
