// SPDX-License-Identifier: MIT
// If, Loop and Scan: known branches inlined, unknown ones joined and run one at a time, loops unrolled.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <set>

#include "dnnkit/graph/branch_assumptions.hpp"
#include "dnnkit/graph/verify.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/onnx_models.hpp"

using namespace dnnkit;
using namespace onnx_models;
using onnx_models::graph_of;  // not the one of dnnkit/compile.hpp

namespace {

graph_of with_if() {
  graph_of then_branch, else_branch, g;
  then_branch.node("Exp", {"x"}, {"t0"}).node("Neg", {"t0"}, {"t"}).output("t");
  else_branch.node("Abs", {"x"}, {"e"}).output("e");
  g.input("x", f32, {2}).input("c", boolean, {}).output("y");
  g.node("If", {"c"}, {"r"}, {body("then_branch", then_branch.g), body("else_branch", else_branch.g)}, "choice");
  g.node("Relu", {"r"}, {"y"});
  return g;
}

}  // namespace

TEST_CASE("only the branch that is taken runs") {
  const auto r = import(with_if());
  REQUIRE(problems(r) == "");
  CHECK(operators(r.graph) == "Exp Neg Abs If Relu");
  for (const bool taken : {true, false}) {
    std::set<std::string_view> ran;
    const auto y =
        run(r, std::vector<host_tensor>{host_tensor({2}, {-1, 2}), host_tensor::of_integers(boolean, {}, {taken})},
            [&](value_id v, const host_tensor&) {
              if (r.graph.at(v).from == origin::node) ran.insert(r.graph.nodes[r.graph.at(v).producer].op->name);
            });
    CHECK(y[0].reals == (taken ? std::vector<double>{0, 0} : std::vector<double>{1, 2}));
    CHECK(ran == (taken ? std::set<std::string_view>{"Exp", "Neg", "If", "Relu"}
                        : std::set<std::string_view>{"Abs", "If", "Relu"}));
  }
}

TEST_CASE("a known condition leaves its branch") {
  onnx::import_options options;
  options.bind.emplace("c", host_tensor::of_integers(boolean, {}, {0}));
  const auto m = model_of(with_if());
  const auto r = import(m, options);
  REQUIRE(problems(r) == "");
  CHECK(operators(r.graph) == "Abs Relu");
}

namespace {

// PyTorch's squeeze of an axis, whose extent is the input's T divided by `parts`: the rank depends on it.
graph_of with_squeeze(std::int64_t parts, bool needs_squeezed) {
  graph_of then_branch, else_branch, g;
  then_branch.node("Squeeze", {"h", "axis"}, {"t"}).output("t");
  else_branch.node("Identity", {"h"}, {"e"}).output("e");
  g.input("x", f32, {"N", "T", 2}).output("y").constant("axis", {1}).constant("one", {1}).scalar("first", 0);
  g.initializer(reals("w", {1, 2, 3, 4}, {2, 2}));
  g.node("Unsqueeze", {"x", "axis"}, {"u"})
      .node("MaxPool", {"u"}, {"p"}, {integers("kernel_shape", {parts, 1}), integers("strides", {parts, 1})})
      .node("Squeeze", {"p", "axis"}, {"h"});
  g.node("Shape", {"h"}, {"shape"}).node("Gather", {"shape", "axis"}, {"t"}).node("Equal", {"t", "one"}, {"c"});
  g.node("If", {"c"}, {"r"}, {body("then_branch", then_branch.g), body("else_branch", else_branch.g)}, "squeeze");
  if (needs_squeezed) g.node("Gemm", {"r", "w"}, {"y"});  // which takes matrices
  else g.node("Transpose", {"r"}, {"y"}, {integers("perm", {0, 2, 1})});
  return g;
}

}  // namespace

TEST_CASE("branches of different ranks: the one that the model needs is taken, and assumed to be") {
  const auto squeezed = model_of(with_squeeze(4, true));
  const auto r = import(squeezed);
  REQUIRE(problems(r) == "");
  CHECK(operators(r.graph).find("If") == std::string::npos);
  CHECK(shape_of_input(r.graph) == "[N, T, 2]");
  CHECK(shape_of_output(r.graph) == "[N, 2]");
  REQUIRE(r.graph.symbols.assumptions.size() == 1);
  CHECK(verify(r.graph) == "");
  const auto of_length = [](const onnx::import_result& result, std::int64_t t) {
    return run(result, std::vector<host_tensor>{host_tensor(f32, {3, t, 2})})[0].dims;
  };
  CHECK(of_length(r, 5) == std::vector<std::int64_t>{3, 2});
  CHECK(error_of([&] { return of_length(r, 8); }) ==
        "If 'squeeze': an extent is not what it needs, expected 1, found floor_div(T, 4) = 2 where T = 8");

  const auto whole = model_of(with_squeeze(4, false));
  const auto s = import(whole);
  REQUIRE(problems(s) == "");
  CHECK(shape_of_output(s.graph) == "[N, 2, floor_div(T, 4)]");
  CHECK(of_length(s, 8) == std::vector<std::int64_t>{3, 2, 2});
  CHECK(error_of([&] { return of_length(s, 5); }).find("If 'squeeze': extents are not as it needs them") == 0);

  onnx::import_options options;
  options.sizes.emplace("T", 9);  // decides it
  const auto known = import(whole, options);
  REQUIRE(problems(known) == "");
  CHECK(known.graph.symbols.assumptions.empty());
}

TEST_CASE("a condition that elements decide does not tell the rank, unless they are given") {
  graph_of then_branch, else_branch, g;
  then_branch.node("Squeeze", {"x", "axis"}, {"t"}).output("t");
  else_branch.node("Identity", {"x"}, {"e"}).output("e");
  g.input("x", f32, {1, 2}).input("rate", i64, {}).output("y").constant("axis", {0}).scalar("wanted", 16000);
  g.node("Equal", {"rate", "wanted"}, {"c"});
  g.node("If", {"c"}, {"r"}, {body("then_branch", then_branch.g), body("else_branch", else_branch.g)}, "choice");
  g.node("Relu", {"r"}, {"y"});
  const auto m = model_of(g);
  const auto r = import(m);
  CHECK(problems(r) ==
        "If 'choice': branches that give tensors of different types or ranks are not supported: give the "
        "values of the inputs that decide\n");
  CHECK(r.inputs_to_bind == std::vector<std::string>{"rate"});
  for (const std::int64_t rate : {8000, 16000}) {
    onnx::import_options options;
    options.bind.emplace("rate", host_tensor::of_integers(i64, {}, {rate}));
    const auto known = import(m, options);
    REQUIRE(problems(known) == "");
    CHECK(shape_of_output(known.graph) == (rate == 16000 ? "[2]" : "[1, 2]"));
  }
}

TEST_CASE("an input that chooses between branches that are both imported is no input to ask for") {
  graph_of then_branch, else_branch, g;
  then_branch.node("Neg", {"x"}, {"t"}).output("t");
  else_branch.node("Identity", {"x"}, {"e"}).output("e");
  g.input("x", f32, {1, 2}).input("rate", i64, {}).input("other", i64, {}).output("y").scalar("wanted", 16000);
  g.node("Equal", {"rate", "wanted"}, {"c"});
  g.node("If", {"c"}, {"r"}, {body("then_branch", then_branch.g), body("else_branch", else_branch.g)});
  g.node("Cast", {"other"}, {"o"}, {integer("to", 1)});
  g.node("Add", {"r", "o"}, {"y"});
  const auto m = model_of(g);
  const auto r = import(m);
  REQUIRE(problems(r) == "");
  CHECK(r.inputs_to_bind.empty());
  CHECK(r.inputs_that_choose == std::vector<std::string>{"rate"});
}

TEST_CASE("what only one branch needs: the inputs that decide are asked for, and leave the other branch out") {
  graph_of then_branch, else_branch, g;
  then_branch.node("Add", {"x", "four"}, {"t"}).output("t");
  else_branch.node("Add", {"x", "three"}, {"e"}).output("e");
  g.input("x", f32, {"N"}).input("rate", i64, {}).output("y").scalar("wanted", 16000);
  g.initializer(reals("four", {1, 2, 3, 4}, {4})).initializer(reals("three", {5, 6, 7}, {3}));
  g.node("Equal", {"rate", "wanted"}, {"c"});
  g.node("If", {"c"}, {"r"}, {body("then_branch", then_branch.g), body("else_branch", else_branch.g)});
  g.node("Neg", {"r"}, {"y"});
  const auto m = model_of(g);
  CHECK(import(m).inputs_to_bind == std::vector<std::string>{"rate"});
  onnx::import_options options;
  options.bind.emplace("rate", host_tensor::of_integers(i64, {}, {8000}));
  const auto r = import(m, options);
  REQUIRE(problems(r) == "");
  CHECK(shape_of_input(r.graph) == "[3]");
  CHECK(run(r, std::vector<host_tensor>{host_tensor({3}, {1, 1, 1})})[0].reals == std::vector<double>{-6, -7, -8});
}

namespace {

// Two filters, each for signals of one length, of which an input chooses one. The numbers below are ONNX Runtime's.
graph_of with_rates() {
  graph_of then_branch, else_branch, g;
  then_branch.node("Unsqueeze", {"x", "one"}, {"u"}).node("Conv", {"u", "w4"}, {"a"}).node("Conv", {"a", "w2"}, {"b"});
  then_branch.node("Squeeze", {"b", "two"}, {"t"}, {}, "last").node("Neg", {"t"}, {"t2"}).output("t").output("t2");
  else_branch.node("Unsqueeze", {"x", "one"}, {"u"}).node("Conv", {"u", "w3"}, {"a"});
  else_branch.node("Squeeze", {"a", "two"}, {"e"}).node("Exp", {"e"}, {"e2"}).output("e").output("e2");
  g.input("x", f32, {"N", "T"}).input("rate", i64, {}).output("y").output("z").scalar("wanted", 16000);
  g.constant("one", {1}).constant("two", {2}).initializer(reals("w4", {1, 2, 3, 4}, {1, 1, 4}));
  g.initializer(reals("w2", {1, -1}, {1, 1, 2})).initializer(reals("w3", {1, 0, 0.5F}, {1, 1, 3}));
  g.node("Equal", {"rate", "wanted"}, {"c"});
  g.node("If", {"c"}, {"r", "r2"}, {body("then_branch", then_branch.g), body("else_branch", else_branch.g)}, "choice");
  g.node("Relu", {"r"}, {"y"}).node("Relu", {"r2"}, {"z"});
  return g;
}

}  // namespace

TEST_CASE("what a branch needs of extents is assumed where it is taken") {
  const auto m = model_of(with_rates());
  const auto r = import(m);
  REQUIRE(problems(r) == "");
  CHECK(verify(r.graph) == "");
  CHECK(r.graph.symbols.assumptions.empty());
  CHECK(shape_of_input(r.graph) == "[N, T]");
  CHECK(shape_of_output(r.graph) == "[N, 1]");
  const auto all = plan::branch_assumptions_of(r.graph, plan::branches_of(r.graph));
  REQUIRE(all.size() == 2);
  CHECK(r.graph.symbols.print(all[0].assumed.left) == "T-4");
  CHECK(all[0].assumed.needed_by == "Squeeze 'last', tensor 'b'");
  CHECK((all[0].branches[0].when && !all[1].branches[0].when));
  const auto outputs = [&](std::vector<double> x, std::int64_t rate) {
    const std::int64_t length = static_cast<std::int64_t>(x.size()) / 2;
    const auto y =
        run(r, std::vector<host_tensor>{host_tensor({2, length}, x), host_tensor::of_integers(i64, {}, {rate})});
    return std::vector<double>{y[0].reals[0], y[0].reals[1], y[1].reals[0], y[1].reals[1]};
  };
  CHECK(outputs({1, 2, 3, 4, 5, 5, 4, 3, 2, 1}, 16000) == std::vector<double>{0, 10, 10, 0});
  CHECK(outputs({1, 2, 3, -4, 5, 6}, 8000)[0] == 2.5);
  CHECK(outputs({1, 2, 3, -4, 5, 6}, 8000)[2] == doctest::Approx(12.182494163513184));
  CHECK(error_of([&] {
          return outputs({1, 2, 3, 4, 5, 5, 4, 3, 2, 1}, 8000);
        }) == "Squeeze 'e', tensor 'a': an extent is not what it needs, expected 1, found T-2 = 3 where T = 5");
}

TEST_CASE("what both branches need is needed whichever is taken") {
  graph_of then_branch, else_branch, g;
  then_branch.node("Add", {"x", "z"}, {"t"}).output("t");
  else_branch.node("Mul", {"x", "z"}, {"e"}).output("e");
  g.input("x", f32, {"N"}).input("z", f32, {"M"}).input("c", boolean, {}).output("y");
  g.node("If", {"c"}, {"y"}, {body("then_branch", then_branch.g), body("else_branch", else_branch.g)});
  const auto m = model_of(g);
  const auto r = import(m);
  REQUIRE(problems(r) == "");
  CHECK(shape_of_input(r.graph, 0) == shape_of_input(r.graph, 1));
  CHECK(operators(r.graph) == "Add Mul If");
}

// The numbers are ONNX Runtime's.
TEST_CASE("branches of different extents: the extents are those of the one that is taken") {
  graph_of then_branch, else_branch, g;
  then_branch.node("Concat", {"x", "x"}, {"t"}, {integer("axis", 0)}).output("t");
  else_branch.node("ReduceSum", {"x"}, {"e"}, {integer("keepdims", 1)}).output("e");
  g.input("x", f32, {2, 3}).input("c", boolean, {}).output("y");
  g.node("If", {"c"}, {"r"}, {body("then_branch", then_branch.g), body("else_branch", else_branch.g)});
  g.node("Softmax", {"r"}, {"y"});
  const auto r = import(g);
  REQUIRE(problems(r) == "");
  for (const bool taken : {true, false}) {
    const auto y = run(r, std::vector<host_tensor>{host_tensor({2, 3}, {1, 2, 3, 3, 2, 1}),
                                                   host_tensor::of_integers(boolean, {}, {taken})})[0];
    CHECK(y.dims == (taken ? std::vector<std::int64_t>{4, 3} : std::vector<std::int64_t>{1, 1}));
    CHECK(y.reals[0] == doctest::Approx(taken ? 0.09003057330846786 : 1));
    if (taken) CHECK(y.reals[11] == doctest::Approx(0.09003057330846786));
  }
}

TEST_CASE("elements that are the same in both branches are known") {
  graph_of then_branch, else_branch, g;
  then_branch.initializer(numbers("three_and_two", {3, 2}, {2})).node("Identity", {"three_and_two"}, {"t"}).output("t");
  else_branch.initializer(numbers("three", {3}, {1})).initializer(numbers("two", {2}, {1}));
  else_branch.node("Concat", {"three", "two"}, {"e"}, {integer("axis", 0)}).output("e");
  g.input("x", f32, {2, 3}).input("c", boolean, {}).output("y");
  g.node("If", {"c"}, {"shape"}, {body("then_branch", then_branch.g), body("else_branch", else_branch.g)});
  g.node("Reshape", {"x", "shape"}, {"y"});
  const auto r = import(g);
  REQUIRE(problems(r) == "");
  CHECK(operators(r.graph).find("Reshape") != std::string::npos);
}

TEST_CASE("loops are unrolled; what each round gives is stacked") {
  graph_of round, g;
  round.input("i", i64, {}).input("go", boolean, {}).input("sum", f32, {2}).output("go2").output("sum2").output("seen");
  round.node("Identity", {"go"}, {"go2"}).node("Add", {"sum", "x"}, {"sum2"}).node("Mul", {"sum2", "sum2"}, {"seen"});
  g.input("x", f32, {2}).output("y").output("all").scalar("rounds", 3).initializer(reals("zero", {0, 0}, {2}));
  g.node("Loop", {"rounds", "", "zero"}, {"y", "all"}, {body("body", round.g)}, "loop");
  const auto m = model_of(g);
  const auto r = import(m);
  REQUIRE(problems(r) == "");
  const auto y = run(r, std::vector<host_tensor>{host_tensor({2}, {1, 2})});
  CHECK(y[0].reals == std::vector<double>{3, 6});
  CHECK(y[1].dims == std::vector<std::int64_t>{3, 2});
  CHECK(y[1].reals == std::vector<double>{1, 4, 4, 16, 9, 36});
}

TEST_CASE("loops without a known number of rounds, or with a body that does not fit, are refused") {
  graph_of round, g;
  round.input("i", i64, {}).input("go", boolean, {}).input("v", f32, {2}).output("go2").output("v2");
  round.node("ReduceSum", {"v"}, {"total"}, {integer("keepdims", 0)})
      .node("Constant", {}, {"most"}, {real("value_float", 10)});
  round.node("Less", {"total", "most"}, {"go2"}).node("Add", {"v", "v"}, {"v2"});
  g.input("x", f32, {2}).output("y").node("Loop", {"", "", "x"}, {"y"}, {body("body", round.g)}, "loop");
  CHECK(problems(import(g)) ==
        "Loop 'loop': a loop whose number of rounds is only known when the model runs is not supported\n");
  graph_of broken = g;
  broken.g.nodes[0].attributes[0].graphs[0].inputs.pop_back();
  CHECK(problems(import(broken)) == "Loop 'loop': the body's inputs or outputs do not fit the loop's\n");
  graph_of bodiless = g;
  bodiless.g.nodes[0].attributes.clear();
  CHECK(problems(import(bodiless)) == "Loop 'loop': attribute 'body' holds no graph\n");
  graph_of endless = g;
  endless.g.nodes[0].attributes[0].graphs[0].nodes[2] = {};
  endless.g.nodes[0].attributes[0].graphs[0].nodes[2].op_type = "Identity";
  endless.g.nodes[0].attributes[0].graphs[0].nodes[2].inputs = {"go"};
  endless.g.nodes[0].attributes[0].graphs[0].nodes[2].outputs = {"go2"};
  CHECK(problems(import(endless)).find("a loop of that many rounds is not supported") != std::string::npos);
}

TEST_CASE("Scan reads slices in order, or in reverse") {
  graph_of round, g;
  round.input("sum", f32, {2}).input("row", f32, {2}).output("next").output("seen");
  round.node("Add", {"sum", "row"}, {"next"}).node("Identity", {"next"}, {"seen"});
  g.input("x", f32, {3, 2}).output("y").output("all").initializer(reals("zero", {0, 0}, {2}));
  g.node("Scan", {"zero", "x"}, {"y", "all"},
         {body("body", round.g), integer("num_scan_inputs", 1), integers("scan_input_directions", {1})});
  const auto m = model_of(g);
  const auto r = import(m);
  REQUIRE(problems(r) == "");
  const auto y = run(r, std::vector<host_tensor>{host_tensor({3, 2}, {1, 2, 3, 4, 5, 6})});
  CHECK(y[0].reals == std::vector<double>{9, 12});
  CHECK(y[1].reals == std::vector<double>{5, 6, 8, 10, 9, 12});
}

TEST_CASE("Scan of opset 8 has a batch, each element of which is scanned on its own") {
  graph_of round, g;
  round.input("sum", f32, {1}).input("row", f32, {1}).output("next").output("seen");
  round.node("Add", {"sum", "row"}, {"next"}).node("Identity", {"next"}, {"seen"});
  g.input("x", f32, {2, 3, 1}).output("y").output("all").initializer(reals("first", {100, 200}, {2, 1}));
  g.node("Scan", {"", "first", "x"}, {"y", "all"}, {body("body", round.g), integer("num_scan_inputs", 1)});
  const auto m = model_of(g, 8);
  const auto r = import(m);
  REQUIRE(problems(r) == "");
  const auto y = run(r, std::vector<host_tensor>{host_tensor({2, 3, 1}, {1, 2, 3, 4, 5, 6})});
  CHECK(y[0].dims == std::vector<std::int64_t>{2, 1});
  CHECK(y[0].reals == std::vector<double>{106, 215});
  CHECK(y[1].dims == std::vector<std::int64_t>{2, 3, 1});
  CHECK(y[1].reals == std::vector<double>{101, 103, 106, 204, 209, 215});
  graph_of lengths = g;
  lengths.input("n", i64, {2}).g.nodes[0].inputs[0] = "n";
  CHECK(problems(import(lengths, 8)) == "Scan 'y': sequences of different lengths are not supported\n");
}

TEST_CASE("Scan stacks its outputs along the axis that it names") {
  for (const std::int64_t axis : {1, -1}) {
    graph_of round, g;
    round.input("sum", f32, {2}).input("row", f32, {2}).output("next").output("seen");
    round.node("Add", {"sum", "row"}, {"next"}).node("Identity", {"next"}, {"seen"});
    g.input("x", f32, {3, 2}).output("y").output("all").initializer(reals("zero", {0, 0}, {2}));
    g.node("Scan", {"zero", "x"}, {"y", "all"},
           {body("body", round.g), integer("num_scan_inputs", 1), integers("scan_output_axes", {axis}),
            integers("scan_output_directions", {1})});
    const auto m = model_of(g);
    const auto r = import(m);
    REQUIRE(problems(r) == "");
    const auto y = run(r, std::vector<host_tensor>{host_tensor({3, 2}, {1, 2, 3, 4, 5, 6})});
    CHECK(y[1].dims == std::vector<std::int64_t>{2, 3});
    CHECK(y[1].reals == std::vector<double>{9, 4, 1, 12, 6, 2});
  }
}

TEST_CASE("a loop without any round gives what it carries, and stacks of no element") {
  graph_of round, g;
  round.input("i", i64, {}).input("go", boolean, {}).input("sum", f32, {2}).output("go2").output("sum2").output("seen");
  round.node("Identity", {"go"}, {"go2"}).node("Add", {"sum", "x"}, {"sum2"}).node("Mul", {"sum2", "sum2"}, {"seen"});
  g.input("x", f32, {3, 2}).input("first", f32, {3, 2}).output("y").output("all").scalar("rounds", 0);
  g.node("Loop", {"rounds", "", "first"}, {"y", "all"}, {body("body", round.g)});
  const auto m = model_of(g);
  const auto r = import(m);
  REQUIRE(problems(r) == "");
  const host_tensor x({3, 2}, {1, 2, 3, 4, 5, 6});
  const auto y = run(r, std::vector<host_tensor>{x, x});
  CHECK(y[0].reals == x.reals);
  CHECK(y[1].dims == std::vector<std::int64_t>{0, 3, 2});
}

TEST_CASE("loops within loops that do nothing are counted as well") {
  graph_of inner, outer, g;
  inner.input("i2", i64, {}).input("go2", boolean, {}).input("v2", f32, {2}).output("go2").output("v2");
  outer.input("i1", i64, {}).input("go1", boolean, {}).input("v1", f32, {2}).output("go1").output("w1");
  outer.node("Loop", {"rounds", "", "v1"}, {"w1"}, {body("body", inner.g)}, "inner");
  g.input("x", f32, {2}).output("y").scalar("rounds", 4000);
  g.node("Loop", {"rounds", "", "x"}, {"y"}, {body("body", outer.g)}, "outer");
  CHECK(problems(import(g)).find("the model has too many nodes") != std::string::npos);
}

TEST_CASE("what no output needs of a branch is neither computed nor checked") {
  for (const bool dead_is_first : {false, true}) {
    graph_of then_branch, else_branch, g;
    if (dead_is_first) then_branch.node("Add", {"x", "four"}, {"unused"}).node("Neg", {"unused"}, {"unused2"});
    then_branch.node("Neg", {"x"}, {"t"});
    if (!dead_is_first) then_branch.node("Add", {"x", "four"}, {"unused"});
    then_branch.output("t");
    else_branch.node("Abs", {"x"}, {"e"}).output("e");
    g.input("x", f32, {"N"}).input("c", boolean, {}).output("y").initializer(reals("four", {1, 2, 3, 4}, {4}));
    g.node("If", {"c"}, {"y"}, {body("then_branch", then_branch.g), body("else_branch", else_branch.g)});
    const auto m = model_of(g);
    const auto r = import(m);
    REQUIRE(problems(r) == "");
    CHECK(operators(r.graph) == "Neg Abs If");
    for (const bool taken : {true, false}) {
      const auto y =
          run(r, std::vector<host_tensor>{host_tensor({2}, {-1, 2}), host_tensor::of_integers(boolean, {}, {taken})});
      CHECK(y[0].reals == (taken ? std::vector<double>{1, -2} : std::vector<double>{1, 2}));
    }
  }
}

TEST_CASE("Squeeze without axes: an open extent is assumed not to be 1, unless it is given") {
  graph_of g;
  g.input("x", f32, {"N", 1, "T"}).output("y").node("Squeeze", {"x"}, {"s"}, {}, "flat").node("Neg", {"s"}, {"y"});
  const auto m = model_of(g);
  const auto r = import(m);
  REQUIRE(problems(r) == "");
  CHECK(shape_of_output(r.graph) == "[N, T]");
  REQUIRE(r.graph.symbols.assumptions.size() == 2);
  CHECK(r.graph.symbols.assumptions[0].is == relation::different);
  const auto of_batch = [&](const onnx::import_result& result, std::int64_t n) {
    return run(result, std::vector<host_tensor>{host_tensor(f32, {n, 1, 3})})[0].dims;
  };
  CHECK(of_batch(r, 2) == std::vector<std::int64_t>{2, 3});
  CHECK(error_of([&] { return of_batch(r, 1); }) ==
        "Squeeze 'flat': extents are not as it needs them, expected N != 1, found N = 1 and 1");
  onnx::import_options one, several;
  one.sizes.emplace("N", 1);
  several.ranges.emplace("N", bounds{2, 64});
  several.sizes.emplace("T", 3);
  const auto of_one = import(m, one), of_several = import(m, several);
  CHECK(shape_of_output(of_one.graph) == "[T]");
  CHECK(of_batch(of_one, 1) == std::vector<std::int64_t>{3});
  CHECK(shape_of_output(of_several.graph) == "[N, 3]");
  CHECK(of_several.graph.symbols.assumptions.empty());
}
