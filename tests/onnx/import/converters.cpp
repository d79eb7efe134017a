// SPDX-License-Identifier: MIT
// Operators of newer opsets, which the importer says in terms of others: results that can be told by hand.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/onnx/import/converters.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "dnnkit/onnx/import_with_inputs.hpp"
#include "tests/support/onnx_models.hpp"

using namespace dnnkit;
using namespace onnx_models;
using onnx_models::graph_of;  // not the one of dnnkit/compile.hpp

namespace {

using list = std::vector<double>;

// Attention of queries and keys that are all 0: each row is the mean of the values it sees, here 2^0, 2^1, ...
list seen(std::int64_t rows, std::int64_t columns, const attributes& how, std::int64_t valid = 0,
          std::int64_t past = 0) {
  graph_of g;
  const auto extent = [](std::int64_t n) { return declared_extent(static_cast<int>(n)); };
  g.input("q", f32, {1, 1, extent(rows), 1}).input("k", f32, {1, 1, extent(columns), 1});
  g.input("v", f32, {1, 1, extent(columns), 1}).output("y");
  names inputs{"q", "k", "v"};
  std::vector<host_tensor> given{host_tensor(f32, {1, 1, rows, 1}), host_tensor(f32, {1, 1, columns, 1}),
                                 host_tensor(f32, {1, 1, columns, 1})};
  for (std::int64_t i = 0; i < columns; ++i) given[2].reals[static_cast<std::size_t>(i)] = std::exp2(past + i);
  if (past > 0) {
    g.input("pk", f32, {1, 1, extent(past), 1}).input("pv", f32, {1, 1, extent(past), 1});
    inputs.insert(inputs.end(), {"", "pk", "pv"});
    for (int i = 0; i < 2; ++i) given.push_back(host_tensor(f32, {1, 1, past, 1}));
    for (std::int64_t i = 0; i < past; ++i) given[4].reals[static_cast<std::size_t>(i)] = std::exp2(i);
  } else if (valid > 0) {
    g.input("valid", i64, {1});
    inputs.insert(inputs.end(), {"", "", "", "valid"});
    given.push_back(host_tensor::of_integers(i64, {1}, {valid}));
  }
  g.node("Attention", inputs, {"y"}, how);
  const auto m = model_of(g, 25);
  const auto r = import(m);
  REQUIRE(problems(r) == "");
  return run(r, given)[0].reals;
}

TEST_CASE("windows of Attention lie around each query's place") {
  const auto close = [](const list& found, const list& expected) {
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == doctest::Approx(expected[i]));
  };
  close(seen(4, 4, {integer("left_window_size", 1), integer("is_causal", 1)}), {1, 1.5, 3, 6});
  close(seen(4, 4, {integer("left_window_size", 1), integer("right_window_size", 1)}), {1.5, 7 / 3.0, 14 / 3.0, 6});
  close(seen(3, 4, {integer("right_window_size", 0)}), {1, 1.5, 7 / 3.0});
  close(seen(3, 4, {integer("right_window_size", 2), integer("is_causal", 1)}), {1, 1.5, 7 / 3.0});
  close(seen(4, 2, {integer("left_window_size", 0)}), {1.5, 2, 0, 0});  // two queries are behind all keys
  close(seen(2, 2, {integer("left_window_size", 1), integer("is_causal", 1)}, 0, 3), {6, 12});
  close(seen(2, 4, {integer("left_window_size", 1), integer("is_causal", 1)}, 3), {1.5, 3});  // the last two of three
}

TEST_CASE("TensorScatter writes rows over those of a cache, from a place of each element of the batch") {
  const auto written = [](std::string_view mode, std::vector<std::int64_t> places) {
    graph_of g;
    g.input("cache", f32, {2, 3, 1}).input("update", f32, {2, 2, 1}).input("at", i64, {2}).output("y");
    g.node("TensorScatter", {"cache", "update", "at"}, {"y"}, {word("mode", mode)});
    const auto m = model_of(g, 24);
    const auto r = import(m);
    REQUIRE(problems(r) == "");
    return run(r, {host_tensor({2, 3, 1}, {1, 2, 3, 4, 5, 6}), host_tensor({2, 2, 1}, {10, 20, 30, 40}),
                   host_tensor::of_integers(i64, {2}, places)})[0]
        .reals;
  };
  CHECK(written("linear", {0, 1}) == list{10, 20, 3, 4, 30, 40});
  CHECK(written("circular", {2, 3}) == list{20, 2, 10, 30, 40, 6});
  CHECK_THROWS_AS(written("linear", {2, 0}), error);
  graph_of g;
  g.input("cache", f32, {2, 3, 2}).input("update", f32, {2, 2, 3}).output("y");
  g.node("TensorScatter", {"cache", "update"}, {"y"});
  CHECK(problems(import(g, 24)) == "TensorScatter 'y': the shapes of cache and update differ in more than the axis\n");
  g.g.nodes[0].attributes = {integer("axis", 2)};
  CHECK(problems(import(g, 24)) == "TensorScatter 'y': the update is longer than the cache\n");
  g.g.nodes[0].attributes = {integer("axis", 0)};
  CHECK(problems(import(g, 24)) == "TensorScatter 'y': axis must name one behind the batch\n");
}

TEST_CASE("CausalConvWithState goes on where the last run ended") {
  const auto convolved = [](std::vector<float> weight, int k, const names& inputs, const attributes& how) {
    graph_of g;
    g.input("x", f32, {1, 2, 3}).input("past", f32, {1, 2, k - 1}).output("y").output("state");
    g.initializer(reals("w", std::move(weight), {2, 1, k})).initializer(reals("b", {100, 200}, {2}));
    g.node("CausalConvWithState", inputs, {"y", "state"}, how);
    const auto m = model_of(g, 27);
    const auto r = import(m);
    REQUIRE(problems(r) == "");
    host_tensor past(f32, {1, 2, k - 1});
    for (std::size_t i = 0; i < past.count(); ++i) past.reals[i] = static_cast<double>(i) + 7;
    return run(r, {host_tensor({1, 2, 3}, {1, 2, 3, 4, 5, 6}), past});
  };
  auto y = convolved({10, 1, 1, 0}, 2, {"x", "w"}, {});
  CHECK(y[0].reals == list{1, 12, 23, 0, 4, 5});
  CHECK(y[1].dims == std::vector<std::int64_t>{1, 2, 1});
  CHECK(y[1].reals == list{3, 6});
  y = convolved({10, 1, 1, 0}, 2, {"x", "w", "b", "past"}, {});
  CHECK(y[0].reals == list{171, 112, 123, 208, 204, 205});
  CHECK(y[1].reals == list{3, 6});
  y = convolved({1, 0, 0, 0, 0, 1, 0, 0, 0, 0}, 5, {"x", "w", "", "past"}, {});  // longer than the input
  CHECK(y[0].reals == list{7, 8, 9, 11, 12, 13});
  CHECK(y[1].reals == list{10, 1, 2, 3, 14, 4, 5, 6});
  y = convolved({1, 0, 0, 0, 0, 1, 0, 0, 0, 0}, 5, {"x", "w"}, {});
  CHECK(y[1].reals == list{0, 1, 2, 3, 0, 4, 5, 6});
  y = convolved({2, 3}, 1, {"x", "w"}, {word("activation", "silu")});
  CHECK(y[0].reals[0] == doctest::Approx(2 / (1 + std::exp(-2.0))));
  CHECK(y[1].dims == std::vector<std::int64_t>{1, 2, 0});
}

TEST_CASE("LinearAttention reads a state that each step fades, corrects and adds to") {
  const auto steps = [](std::string_view rule, bool fades, bool corrects, double past) {
    graph_of g;
    for (const std::string_view x : {"q", "k", "v"}) g.input(x, f32, {1, 3, 1});
    g.input("past", f32, {1, 1, 1, 1}).input("decay", f32, {1, 3, 1}).input("beta", f32, {1, 3, 1});
    g.output("y").output("state");
    g.node("LinearAttention", {"q", "k", "v", "past", fades ? "decay" : "", corrects ? "beta" : ""}, {"y", "state"},
           {word("update_rule", rule), integer("q_num_heads", 1), integer("kv_num_heads", 1)});
    const auto m = model_of(g, 27);
    const auto r = import(m);
    REQUIRE(problems(r) == "");
    const float half = std::log(0.5F);
    const auto found = run(r, {host_tensor({1, 3, 1}, {1, 1, 2}), host_tensor({1, 3, 1}, {1, 2, 1}),
                               host_tensor({1, 3, 1}, {3, 4, 5}), host_tensor({1, 1, 1, 1}, {static_cast<float>(past)}),
                               host_tensor({1, 3, 1}, {half, half, half}), host_tensor({1, 3, 1}, {1, 1, 1})});
    list all = found[0].reals;
    all.push_back(found[1].reals.at(0));
    return all;
  };
  const auto close = [](const list& found, const list& expected) {
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == doctest::Approx(expected[i]));
  };
  close(steps("linear", false, false, 0), {3, 11, 32, 16});
  close(steps("linear", false, false, 2), {5, 13, 36, 18});
  close(steps("delta", false, true, 0), {3, -1, 10, 5});
  close(steps("gated", true, false, 0), {3, 9.5, 19.5, 9.75});
  close(steps("gated_delta", true, true, 0), {3, 3.5, 10, 5});
  graph_of g;
  for (const std::string_view x : {"q", "k", "v"}) g.input(x, f32, {1, "T", 1});
  g.output("y").node("LinearAttention", {"q", "k", "v"}, {"y"},
                     {word("update_rule", "linear"), integer("q_num_heads", 1), integer("kv_num_heads", 1)});
  const auto open = import(g, 27);
  CHECK(problems(open) == "LinearAttention 'y': the number of steps must be known, from 1 to 256, found T\n");
  CHECK(open.extents_to_give() == std::vector<std::string>{"T"});
}

TEST_CASE("what needs numbers names the extents of inputs that decide them") {
  graph_of g;
  g.input("x", f32, {1, 2, "H", "W"})
      .input("y", f32, {1, 2, "Y", "W"})
      .input("b", f32, {"B", 2})
      .output("p")
      .output("q");
  g.node("Concat", {"x", "y"}, {"both"}, {integer("axis", 2)});
  g.node("MaxPool", {"both"}, {"p"},
         {word("auto_pad", "SAME_UPPER"), integers("kernel_shape", {2, 2}), integers("strides", {2, 2})});
  g.node("Relu", {"b"}, {"q"});
  const auto r = import(g, 17);
  CHECK(problems(r) == "MaxPool 'p': auto_pad with a stride needs a known extent, found Y+H and W\n");
  CHECK(r.extents_to_give() == std::vector<std::string>{"H", "W", "Y"});
  CHECK(onnx::describe_values_to_give(r, "--input", "--dim") ==
        "extents that must be known: give --dim H=NUMBER --dim W=NUMBER --dim Y=NUMBER\n");
  CHECK(onnx::describe_values_to_give(r, "INPUT", "DIM") ==
        "extents that must be known: give DIM H=NUMBER W=NUMBER Y=NUMBER\n");
}

TEST_CASE("FlexAttention's subgraphs change scores and shares") {
  graph_of scores, shares, g;
  scores.g.inputs.push_back({});
  scores.g.inputs[0].name = "s";
  scores.initializer(reals("far", {0, -1e9F}, {2})).node("Add", {"s", "far"}, {"t"}).output("t");
  shares.g.inputs.push_back({});
  shares.g.inputs[0].name = "p";
  shares.initializer(reals("two", {2}, {})).node("Mul", {"p", "two"}, {"r"}).output("r");
  for (const std::string_view x : {"q", "k", "v"}) g.input(x, f32, {1, 1, 2, 1});
  g.output("y").node("FlexAttention", {"q", "k", "v"}, {"y"},
                     {body("score_mod", scores.g), body("prob_mod", shares.g)});
  g.g.nodes[0].domain = "ai.onnx.preview";
  auto m = model_of(g, 27);
  m.opset_imports.push_back({"ai.onnx.preview", 1});
  const auto r = import(m);
  REQUIRE(problems(r) == "");
  const host_tensor x({1, 1, 2, 1}, {3, 4});
  CHECK(run(r, {x, x, x})[0].reals == list{6, 6});  // the first key alone is seen, and counts twice
  g.g.nodes[0].op_type = "Other";
  CHECK(problems(import(g)) == "Other 'y': the operator of domain 'ai.onnx.preview' is not supported\n");
}

TEST_CASE("sequences of known length leave nothing behind") {
  graph_of g;
  g.input("x", f32, {4}).input("y", f32, {2}).output("all").output("count").output("there");
  g.constant("sizes", {1, 3}).node("SplitToSequence", {"x", "sizes"}, {"parts"});
  g.constant("first", {0}).node("SequenceInsert", {"parts", "y", "first"}, {"more"});
  g.constant("last", {-1}).node("SequenceErase", {"more", "last"}, {"less"});
  g.node("SequenceAt", {"more", "last"}, {"end"}).node("SequenceConstruct", {"end", "y"}, {"pair"});
  g.node("ConcatFromSequence", {"pair"}, {"all"}, {integer("axis", 0)});
  g.node("SequenceLength", {"less"}, {"count"}).node("OptionalHasElement", {""}, {"there"});
  const auto m = model_of(g, 18);
  const auto r = import(m);
  REQUIRE(problems(r) == "");
  const auto found = run(r, {host_tensor({4}, {1, 2, 3, 4}), host_tensor({2}, {5, 6})});
  CHECK(found[0].reals == list{2, 3, 4, 5, 6});
  CHECK(found[1].integers == std::vector<std::int64_t>{2});
  CHECK(found[2].integers == std::vector<std::int64_t>{0});
  graph_of wrong;
  wrong.input("x", f32, {4}).output("y").node("SplitToSequence", {"x"}, {"s"}).node("Relu", {"s"}, {"y"});
  CHECK(problems(import(wrong)) == "Relu 'y': 's' is a sequence, where a tensor is expected\n");
  wrong.constant("far", {7}).node("SequenceAt", {"s", "far"}, {"z"});
  CHECK(problems(import(wrong)) ==
        "Relu 'y': 's' is a sequence, where a tensor is expected\n"
        "SequenceAt 'z': the position is outside the sequence\n");
}

TEST_CASE("SwiGLU is Swish of the gate times the other input, of the same shape") {
  graph_of g;
  g.input("a", f32, {2}).input("b", f32, {2}).output("y").node("SwiGLU", {"a", "b"}, {"y"}, {real("alpha", 0.5f)});
  const auto m = model_of(g, 28);
  const auto r = import(m);
  REQUIRE(problems(r) == "");
  CHECK(operators(r.graph) == "Swish Mul");
  const auto y = run(r, {host_tensor({2}, {1, -2}), host_tensor({2}, {3, 4})})[0];
  CHECK(y.reals[0] == doctest::Approx(3 / (1 + std::exp(-0.5))));
  CHECK(y.reals[1] == doctest::Approx(-8 / (1 + std::exp(1.0))));
  graph_of wrong;
  wrong.input("a", f32, {2}).input("b", f32, {1}).output("y").node("SwiGLU", {"a", "b"}, {"y"});
  CHECK(problems(import(wrong, 28)) == "SwiGLU 'y': the inputs must have the same shape\n");
}

TEST_CASE("BitCast between numbers and integers of their width, and no other") {
  const auto cast = [](const host_tensor& x, dtype to) {
    graph_of g;
    g.input("x", x.type, {2}).output("y").node("BitCast", {"x"}, {"y"}, {integer("to", onnx::data_type_of(to))});
    const auto m = model_of(g, 26);
    const auto r = import(m);
    if (!r.ok()) throw error("refused", "BitCast", "", problems(r));
    return run(r, {x})[0];
  };
  const host_tensor one({2}, {1, -0.0});
  CHECK(cast(one, i32).integers == std::vector<std::int64_t>{0x3f800000, -0x80000000LL});
  CHECK(cast(one, u32).integers == std::vector<std::int64_t>{0x3f800000, 0x80000000LL});
  CHECK(cast(cast(one, u32), f32).reals == one.reals);
  CHECK(cast(host_tensor::of_integers(i8, {2}, {-1, 3}), u8).integers == std::vector<std::int64_t>{255, 3});
  CHECK_THROWS_AS(cast(one, i64), error);
  CHECK_THROWS_AS(cast(host_tensor::of_integers(i16, {2}, {1, 2}), f16), error);
}

// ReduceL1 ... of `x`, along no axes or along the last.
host_tensor reduced(std::string_view name, const host_tensor& x, bool along_none, bool keepdims = true) {
  graph_of g;
  std::vector<declared_extent> dims;
  for (std::int64_t d : x.dims) dims.push_back(static_cast<int>(d));
  g.input("x", x.type, dims).output("y");
  if (along_none) g.node(name, {"x"}, {"y"}, {integer("noop_with_empty_axes", 1), integer("keepdims", keepdims)});
  else g.constant("axes", {-1}).node(name, {"x", "axes"}, {"y"}, {integer("keepdims", keepdims)});
  const auto m = model_of(g, 18);
  const auto r = import(m);
  REQUIRE(problems(r) == "");
  return run(r, {x})[0];
}

// As ONNX Runtime 1.31 and ONNX's reference, of which the second refuses ReduceLogSumExp of one number.
TEST_CASE("a reduction along no axes folds each element alone") {
  const host_tensor x({4}, {-2, 0, 3, 0.5}), one(std::vector<std::int64_t>{}, {-3});
  for (bool keepdims : {true, false}) {
    CHECK(reduced("ReduceL1", x, true, keepdims).reals == list{2, 0, 3, 0.5});
    CHECK(reduced("ReduceL2", x, true, keepdims).reals == list{2, 0, 3, 0.5});
    CHECK(reduced("ReduceSumSquare", x, true, keepdims).reals == list{4, 0, 9, 0.25});
    const auto logarithms = reduced("ReduceLogSum", x, true, keepdims).reals;
    CHECK(std::isnan(logarithms[0]));
    CHECK(logarithms[1] == -HUGE_VAL);
    CHECK(logarithms[2] == doctest::Approx(std::log(3)));
    for (std::string_view name :
         {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceLogSumExp"}) {
      CHECK(reduced(name, x, true, keepdims).reals == x.reals);
      CHECK(reduced(name, one, true, keepdims).reals == list{-3});
    }
    CHECK(reduced("ReduceL1", one, true, keepdims).reals == list{3});
    CHECK(reduced("ReduceSumSquare", one, true, keepdims).reals == list{9});
  }
  const auto integers = host_tensor::of_integers(i32, {3}, {-2, 0, 3});
  CHECK(reduced("ReduceL1", integers, true).integers == std::vector<std::int64_t>{2, 0, 3});
  CHECK(reduced("ReduceL2", integers, true).integers == std::vector<std::int64_t>{2, 0, 3});
  CHECK(reduced("ReduceSumSquare", integers, true).integers == std::vector<std::int64_t>{4, 0, 9});
  CHECK(reduced("ReduceLogSumExp", integers, true).integers == integers.integers);
}

// ONNX Runtime 1.31's results; ONNX's reference computes ReduceL2 with squares that wrap around, and refuses the
// others.
TEST_CASE("roots and logarithms of sums of integers are those of real numbers, without their fraction") {
  for (dtype type : {i32, i64}) {
    const auto rows = host_tensor::of_integers(type, {4, 3}, {1, 2, 3, 70000, -70000, 1, 40, 30, 2, 1000, 1000, 3});
    const auto l2 = reduced("ReduceL2", rows, false, false);
    CHECK(l2.type == type);
    CHECK(l2.integers == std::vector<std::int64_t>{3, 98994, 50, 1414});
    CHECK(reduced("ReduceLogSumExp", rows, false, false).integers == std::vector<std::int64_t>{3, 70000, 40, 1000});
    const auto sums = host_tensor::of_integers(type, {3, 3}, {1, 2, 3, 2147483647, 2147483647, 2147483647, 40, 30, 2});
    CHECK(reduced("ReduceLogSum", sums, false, false).integers == std::vector<std::int64_t>{1, 22, 4});
  }
}

// ONNX Runtime 1.31's and ONNX's reference's extents and numbers: the scale is 4/3 or 7/4, not 5/4 or 10.5/6.
TEST_CASE("Resize that keeps the ratio maps coordinates by the one scale") {
  const auto resized = [](std::string_view policy, std::string_view mode, std::vector<std::int64_t> axes) {
    graph_of g;
    g.input("x", f32, {4, 6}).output("y").constant("sizes", {7, 8});
    attributes how{word("keep_aspect_ratio_policy", policy), word("mode", mode)};
    if (!axes.empty()) how.push_back(integers("axes", axes));
    const auto m = model_of(g.node("Resize", {"x", "", "", "sizes"}, {"y"}, how), 21);
    const auto r = import(m);
    REQUIRE(problems(r) == "");
    host_tensor x(f32, {4, 6});
    for (std::size_t i = 0; i < 24; ++i) x.reals[i] = static_cast<double>(i + 1);
    return run(r, {x})[0];
  };
  for (const std::vector<std::int64_t>& axes : {std::vector<std::int64_t>{}, {0, 1}, {-2, -1}}) {
    const auto smaller = resized("not_larger", "linear", axes);
    CHECK(smaller.dims == std::vector<std::int64_t>{5, 8});
    const list first{1, 1.625, 2.375, 3.125, 3.875, 4.625, 5.375, 6};
    for (std::size_t i = 0; i < 8; ++i) {
      CHECK(smaller.reals[i] == doctest::Approx(first[i]));
      CHECK(smaller.reals[8 + i] == doctest::Approx(first[i] + 3.75));
    }
    const auto larger = resized("not_smaller", "nearest", axes);
    CHECK(larger.dims == std::vector<std::int64_t>{7, 11});
    CHECK(list(larger.reals.begin(), larger.reals.begin() + 11) == list{1, 1, 2, 2, 3, 4, 4, 5, 5, 6, 6});
  }
}

TEST_CASE("operands of two floating-point types are computed in the wider one") {
  const auto halves = [](std::vector<std::int64_t> dims, list elements) {
    host_tensor t(f16, std::move(dims));
    t.reals = std::move(elements);
    return t;
  };
  graph_of norm;
  norm.input("x", f16, {1, 2}).input("s", f32, {2}).output("y");
  norm.node("BatchNormalization", {"x", "s", "s", "s", "s"}, {"y"}, {real("epsilon", 0)});
  auto m = model_of(norm, 17);
  auto r = import(m);
  REQUIRE(problems(r) == "");
  auto y = run(r, {halves({1, 2}, {2, 8}), host_tensor({2}, {1, 4})})[0];
  CHECK(y.type == f16);
  CHECK(y.reals == list{2, 12});  // (x - s) / sqrt(s) s + s
  graph_of sampled;
  sampled.input("x", f16, {1, 1, 1, 2}).input("grid", f32, {1, 1, 1, 2}).output("y");
  sampled.node("GridSample", {"x", "grid"}, {"y"}, {integer("align_corners", 1)});
  m = model_of(sampled, 20);
  r = import(m);
  REQUIRE(problems(r) == "");
  y = run(r, {halves({1, 1, 1, 2}, {1, 3}), host_tensor({1, 1, 1, 2}, {0, 0})})[0];
  CHECK(y.type == f16);
  CHECK(y.reals == list{2});
  graph_of attended;
  attended.input("q", f64, {1, 1, 1, 2}).input("k", f64, {1, 1, 2, 2}).input("mask", f32, {1, 2}).output("y");
  attended.node("Attention", {"q", "k", "k", "mask"}, {"y"});
  m = model_of(attended, 23);
  r = import(m);
  REQUIRE(problems(r) == "");
  host_tensor keys(f64, {1, 1, 2, 2});
  keys.reals = {1, 3, 3, 5};
  y = run(r, {host_tensor(f64, {1, 1, 1, 2}), keys, host_tensor({1, 2}, {0, 0})})[0];
  CHECK(y.reals == list{2, 4});
}

TEST_CASE("Softmax of opset 12 and PRelu: tensors without elements, and integers") {
  graph_of g;
  g.input("x", f32, {2, 1, 0}).input("i", i32, {2}).output("y").output("z");
  g.node("Softmax", {"x"}, {"y"}).node("PRelu", {"i", "i"}, {"z"});
  const auto m = model_of(g, 12);
  const auto r = import(m);
  REQUIRE(problems(r) == "");
  const auto y = run(r, {host_tensor(f32, {2, 1, 0}), host_tensor::of_integers(i32, {2}, {-3, 4})});
  CHECK(y[0].dims == std::vector<std::int64_t>{2, 1, 0});
  CHECK(y[1].integers == std::vector<std::int64_t>{9, 4});
}

TEST_CASE("a slice backwards of a known tensor: without elements it has none, and a start before all is the first") {
  graph_of g;
  g.output("y").output("z").initializer(numbers("none", {}, {0})).initializer(numbers("three", {7, 8, 9}, {3}));
  g.constant("from", {5}).constant("to", {-1}).constant("before", {-10}).constant("axis", {0}).constant("back", {-2});
  g.node("Slice", {"none", "from", "to", "axis", "back"}, {"y"});
  g.node("Slice", {"three", "before", "before", "axis", "back"}, {"z"});
  const auto m = model_of(g, 13);
  const auto r = import(m);
  REQUIRE(problems(r) == "");
  const auto y = run(r, {});
  CHECK(y[0].dims == std::vector<std::int64_t>{0});
  CHECK(y[1].integers == std::vector<std::int64_t>{7});
}

TEST_CASE("Clip of doubles with one bound leaves what 32 bits do not hold") {
  graph_of g;
  g.input("x", f64, {2}).output("y").scalar("three", 3);
  g.node("Cast", {"three"}, {"least"}, {integer("to", onnx::data_type_of(f64))}).node("Clip", {"x", "least"}, {"y"});
  const auto m = model_of(g, 13);
  const auto r = import(m);
  REQUIRE(problems(r) == "");
  host_tensor x(f64, {2});
  x.reals = {1e300, -1e300};
  CHECK(run(r, {x})[0].reals == std::vector<double>{1e300, 3});
}

TEST_CASE("Pad has values that 32-bit floats do not hold") {
  graph_of g;
  g.input("x", i64, {1}).input("d", f64, {1}).output("y").output("z").constant("pads", {1, 0});
  g.scalar("large", 123456789).scalar("larger", (std::int64_t{1} << 40) + 1);
  g.node("Cast", {"larger"}, {"real"}, {integer("to", onnx::data_type_of(f64))});
  g.node("Pad", {"x", "pads", "large"}, {"y"}).node("Pad", {"d", "pads", "real"}, {"z"});
  const auto m = model_of(g, 13);
  const auto r = import(m);
  REQUIRE(problems(r) == "");
  const auto y = run(r, {host_tensor::of_integers(i64, {1}, {7}), host_tensor(f64, {1})});
  CHECK(y[0].integers == std::vector<std::int64_t>{123456789, 7});
  CHECK(y[1].reals == std::vector<double>{0x1p40 + 1, 0});
}

TEST_CASE("losses leave out what is ignored, infinite or not") {
  graph_of g;
  g.input("x", f32, {2, 2}).output("y").initializer(numbers("t", {1, 0}, {2}));
  g.node("NegativeLogLikelihoodLoss", {"x", "t"}, {"y"}, {integer("ignore_index", 0)});
  const auto m = model_of(g, 13);
  const auto r = import(m);
  REQUIRE(problems(r) == "");
  CHECK(run(r, {host_tensor({2, 2}, {0, -3, HUGE_VAL, 1})})[0].reals == std::vector<double>{3});
}

TEST_CASE("QuantizeLinear divides in the type that it names, or the opset says") {
  const auto quantised = [](std::int64_t opset, dtype scale, const attributes& how) {
    graph_of g;
    g.input("x", f16, {1}).input("scale", scale, {}).input("z", u8, {}).output("y");
    const auto r = import(g.node("QuantizeLinear", {"x", "scale", "z"}, {"y"}, how), opset);
    if (!r.ok()) return problems(r);
    host_tensor x(f16, {1}), divisor(scale, {});
    x.reals = {8.9609375};  // 20.505 times the scale: in 16 bits 20.5, whose neighbour is even
    divisor.reals = {0.43701171875};
    return std::to_string(run(r, {x, divisor, host_tensor::of_integers(u8, {}, {206})})[0].integers[0]);
  };
  CHECK(quantised(21, f16, {}) == "227");
  CHECK(quantised(23, f16, {}) == "226");
  CHECK(quantised(23, f16, {integer("precision", 1)}) == "227");
  CHECK(quantised(23, f32, {}) == "227");
  CHECK(quantised(23, f32, {integer("precision", 10)}) == "226");
  CHECK(quantised(23, f32, {integer("precision", 7)}) ==
        "QuantizeLinear 'y': attribute 'precision' must be a type of floats\n");
}

}  // namespace
