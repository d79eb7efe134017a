// SPDX-License-Identifier: MIT
// What exporters write to compute shapes leaves no node behind, in static models and in models with symbols.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include "tests/support/error_of.hpp"
#include "tests/support/onnx_models.hpp"

using namespace dnnkit;
using namespace onnx_models;
using onnx_models::graph_of;  // not the one of dnnkit/compile.hpp

namespace {

// x -> y = Reshape(x, what `write` computes under the name "s")
std::string reshaped(std::vector<declared_extent> dims, const std::function<void(graph_of&)>& write,
                     std::string_view expected_operators) {
  graph_of g;
  g.input("x", f32, std::move(dims)).output("y");
  write(g);
  g.node("Reshape", {"x", "s"}, {"y"});
  const auto r = import(g);
  CHECK(problems(r) == "");
  if (!r.ok()) return {};
  CHECK(operators(r.graph) == expected_operators);
  return shape_of_output(r.graph);
}

}  // namespace

TEST_CASE("heads are split: [1, L, 12 * 64] -> [1, L, 12, 64], as PyTorch writes it") {
  const auto write = [](graph_of& g) {
    g.node("Shape", {"x"}, {"shape0"})
        .scalar("zero", 0)
        .node("Gather", {"shape0", "zero"}, {"n"}, {integer("axis", 0)});
    g.node("Shape", {"x"}, {"shape1"}).scalar("one", 1).node("Gather", {"shape1", "one"}, {"l"}, {integer("axis", 0)});
    g.constant("axes", {0}).node("Unsqueeze", {"n", "axes"}, {"n1"}).node("Unsqueeze", {"l", "axes"}, {"l1"});
    g.constant("heads", {12}).constant("width", {64});
    g.node("Concat", {"n1", "l1", "heads", "width"}, {"s"}, {integer("axis", 0)});
  };
  CHECK(reshaped({1, "L", 768}, write, "Reshape") == "[1, L, 12, 64]");
  CHECK(reshaped({2, 37, 768}, write, "Reshape") == "[2, 37, 12, 64]");
  CHECK(reshaped({"N", "L", 768}, write, "Reshape") == "[N, L, 12, 64]");
}

TEST_CASE("arithmetic on extents: windows of seven rows") {
  const auto write = [](graph_of& g) {
    g.node("Shape", {"x"}, {"shape"}).constant("seven", {7}).constant("rest", {49});
    g.constant("b0", {0}).constant("b1", {1}).constant("b2", {2}).constant("end", {9223372036854775807});
    g.node("Slice", {"shape", "b0", "b1"}, {"h"}).node("Slice", {"shape", "b1", "b2"}, {"w"});
    g.node("Slice", {"shape", "b2", "end"}, {"c"});
    g.node("Div", {"h", "seven"}, {"rows"})
        .node("Div", {"w", "seven"}, {"columns"})
        .node("Mul", {"rows", "columns"}, {"windows"});
    g.node("Concat", {"windows", "rest", "c"}, {"s"}, {integer("axis", 0)});
  };
  CHECK(reshaped({14, 21, 96}, write, "Reshape") == "[6, 49, 96]");
}

TEST_CASE("choices by comparison, constants of a shape, products of a part") {
  CHECK(reshaped(
            {2, "L", 6},
            [](graph_of& g) {
              // -1 where the extent asked for is -1, else the extent
              g.constant("wanted", {-1, 2, 3}).node("Shape", {"wanted"}, {"rank"});
              g.node("ConstantOfShape", {"rank"}, {"ones"}, {stored("value", numbers("", {1}, {1}))});
              g.scalar("minus", -1).node("Mul", {"ones", "minus"}, {"minus_ones"});
              g.node("Equal", {"wanted", "minus_ones"}, {"open"}).node("Shape", {"x"}, {"shape"});
              g.node("ReduceProd", {"shape"}, {"all"}, {integers("axes", {0}), integer("keepdims", 1)})
                  .constant("six", {6});
              g.node("Div", {"all", "six"}, {"rest"}).node("Where", {"open", "rest", "wanted"}, {"s"});
            },
            "Reshape") == "[2*L, 2, 3]");
  CHECK(reshaped(
            {"N", 4, 5},
            [](graph_of& g) {
              g.node("Shape", {"x"}, {"shape"}, {integer("start", 1)}).node("Size", {"x"}, {"size"});
              g.node("ReduceProd", {"shape"}, {"inner"}, {integers("axes", {0}), integer("keepdims", 0)});
              g.node("Div", {"size", "inner"}, {"outer"})
                  .constant("axes", {0})
                  .node("Unsqueeze", {"outer", "axes"}, {"o"});
              g.node("Unsqueeze", {"inner", "axes"}, {"i"}).node("Concat", {"o", "i"}, {"s"}, {integer("axis", 0)});
            },
            "Reshape") == "[N, 20]");
}

TEST_CASE("floating-point detours, casts and halves") {
  CHECK(
      reshaped(
          {1, "L", 8},
          [](graph_of& g) {
            g.node("Shape", {"x"}, {"shape"}).scalar("one", 1).node("Gather", {"shape", "one"}, {"l"});
            g.node("Cast", {"l"}, {"real"}, {integer("to", 1)}).node("Constant", {}, {"two"}, {real("value_float", 2)});
            g.node("Mul", {"real", "two"}, {"twice"})
                .node("Floor", {"twice"}, {"floor"})
                .node("Cast", {"floor"}, {"n"}, {integer("to", 7)});
            g.constant("axes", {0}).node("Unsqueeze", {"n", "axes"}, {"n1"}).constant("four", {4});
            g.node("Concat", {"n1", "four"}, {"s"}, {integer("axis", 0)});
          },
          "Reshape") == "[2*L, 4]");
}

TEST_CASE("extents used as data become a tensor") {
  graph_of g;
  g.input("x", f32, {1, "L"}).output("y").output("z");
  g.node("Shape", {"x"}, {"shape"}).scalar("one", 1).node("Gather", {"shape", "one"}, {"l"});
  g.node("Cast", {"l"}, {"real"}, {integer("to", 1)}).node("Div", {"x", "real"}, {"y"});
  g.scalar("zero", 0).node("Range", {"zero", "l", "one"}, {"z"});
  const auto r = import(g);
  REQUIRE(problems(r) == "");
  CHECK(shape_of_output(r.graph, 1) == "[L]");
  for (std::int64_t l : {1, 4}) {
    const std::vector<double> x(static_cast<std::size_t>(l), 8);
    const auto y = run(r, std::vector<host_tensor>{host_tensor({1, l}, x)});
    CHECK(y[0].reals == std::vector<double>(x.size(), 8.0 / static_cast<double>(l)));
    REQUIRE(y[1].dims == std::vector<std::int64_t>{l});
    for (std::int64_t i = 0; i < l; ++i) CHECK(y[1].integers[static_cast<std::size_t>(i)] == i);
  }
}

TEST_CASE("ranges of sizes: bounds in floats, halves, backwards, steps that are sizes") {
  const auto ranged = [](float start, float delta, std::int64_t length) {
    graph_of g;
    g.input("x", f32, {"L", 2})
        .output("y")
        .initializer(reals("start", {start}, {}))
        .initializer(reals("by", {delta}, {}));
    g.node("Shape", {"x"}, {"shape"}).scalar("zero", 0).node("Gather", {"shape", "zero"}, {"l"});
    g.node("Cast", {"l"}, {"real"}, {integer("to", 1)});
    if (delta > 0) g.node("Range", {"start", "real", "by"}, {"y"});
    else g.node("Range", {"real", "start", "by"}, {"y"});
    const auto m = model_of(g);
    const auto r = import(m);
    REQUIRE(problems(r) == "");
    const host_tensor y = run(r, std::vector<host_tensor>{host_tensor(f32, {length, 2})})[0];
    const double first = delta > 0 ? start : static_cast<double>(length);
    for (std::size_t i = 0; i < y.reals.size(); ++i)
      CHECK(y.reals[i] == first + static_cast<double>(i) * static_cast<double>(delta));
    return shape_of_output(r.graph) + " " + std::to_string(y.reals.size());
  };
  CHECK(ranged(0, 1, 7) == "[L] 7");
  CHECK(ranged(0.5, 1, 7) == "[L] 7");
  CHECK(ranged(0, 0.5, 7) == "[2*L] 14");
  CHECK(ranged(3, 2, 8) == "[max(0, floor_div(L, 2)-1)] 3");
  CHECK(ranged(-1, -1, 7) == "[L+1] 8");
  CHECK(ranged(0, -3, 7) == "[floor_div(L+2, 3)] 3");
  graph_of g;
  g.input("x", f32, {"L", "N"}).output("y").scalar("zero", 0).scalar("one", 1);
  g.node("Shape", {"x"}, {"shape"}).node("Gather", {"shape", "zero"}, {"l"}).node("Gather", {"shape", "one"}, {"n"});
  g.node("Range", {"zero", "l", "n"}, {"y"});
  const auto r = import(g);
  REQUIRE(problems(r) == "");
  CHECK(run(r, std::vector<host_tensor>{host_tensor(f32, {7, 3})})[0].integers == std::vector<std::int64_t>{0, 3, 6});
}

TEST_CASE("what was computed in 32-bit floats: rounded fractions") {
  CHECK(reshaped(
            {1, "L", 4},
            [](graph_of& g) {  // ceil(L / 2) * 2, as PyTorch writes it
              g.node("Shape", {"x"}, {"shape"}).scalar("one", 1).node("Gather", {"shape", "one"}, {"l"});
              g.node("Cast", {"l"}, {"real"}, {integer("to", 1)}).initializer(reals("two", {2}, {}));
              g.node("Div", {"real", "two"}, {"half"}).node("Ceil", {"half"}, {"up"});
              g.node("Mul", {"up", "two"}, {"even"}).node("Cast", {"even"}, {"whole"}, {integer("to", 7)});
              g.node("Sub", {"whole", "l"}, {"rest"}).node("Sub", {"whole", "rest"}, {"again"});
              g.constant("axes", {0}).node("Unsqueeze", {"again", "axes"}, {"l1"}).constant("four", {4});
              g.node("Concat", {"l1", "four"}, {"s"}, {integer("axis", 0)});
            },
            "Reshape") == "[L, 4]");
}

TEST_CASE("scales that are quotients of extents are sizes") {
  graph_of g;
  g.input("x", f32, {1, 1, "H"}).input("like", f32, {1, 1, "K"}).output("y");
  g.node("Shape", {"x"}, {"from"}, {integer("start", 2)}).node("Shape", {"like"}, {"to"}, {integer("start", 2)});
  g.node("Cast", {"from"}, {"h"}, {integer("to", 1)}).node("Cast", {"to"}, {"k"}, {integer("to", 1)});
  g.node("Div", {"k", "h"}, {"scale"}).initializer(reals("ones", {1, 1}, {2}));
  g.node("Concat", {"ones", "scale"}, {"scales"}, {integer("axis", 0)});
  g.node("Resize", {"x", "", "scales"}, {"y"}, {word("mode", "nearest"), word("keep_aspect_ratio_policy", "stretch")});
  const auto m = model_of(g, 18);
  const auto r = import(m);
  REQUIRE(problems(r) == "");
  CHECK(shape_of_output(r.graph) == "[1, 1, K]");
  const auto y =
      run(r, std::vector<host_tensor>{host_tensor({1, 1, 2}, {5, 7}), host_tensor({1, 1, 4}, {0, 0, 0, 0})})[0];
  CHECK(y.reals == std::vector<double>{5, 5, 7, 7});
  g.initializer(reals("half", {0.5f}, {1})).node("Concat", {"half", "ones", "scale"}, {"other"}, {integer("axis", 0)});
  g.node("Unsqueeze", {"x", "zero"}, {"wide"}).constant("zero", {0}).node("Resize", {"wide", "", "other"}, {"z"});
  CHECK(problems(import(g, 18)) ==
        "Resize 'z': a scale that depends on extents must be a size divided by the input's extent\n");
}

TEST_CASE("an upsampled tensor is padded to the size of another one, and both are joined") {
  graph_of g;
  g.input("x", f32, {1, 1, "H"}).output("y").output("padded");
  g.node("MaxPool", {"x"}, {"small"}, {integers("kernel_shape", {2}), integers("strides", {2})});
  g.initializer(reals("scales", {1, 1, 2}, {3}));
  g.node("Resize", {"small", "", "scales"}, {"large"}, {word("keep_aspect_ratio_policy", "stretch")});
  g.node("Shape", {"x"}, {"wanted"}, {integer("start", 2)}).node("Shape", {"large"}, {"there"}, {integer("start", 2)});
  g.node("Sub", {"wanted", "there"}, {"missing"}).constant("two", {2}).constant("zeros", {0, 0});
  g.node("Div", {"missing", "two"}, {"before"}).node("Sub", {"missing", "before"}, {"behind"});
  g.node("Concat", {"zeros", "before", "zeros", "behind"}, {"pads"}, {integer("axis", 0)});
  g.node("Pad", {"large", "pads"}, {"padded"}).node("Concat", {"x", "padded"}, {"y"}, {integer("axis", 1)});
  const auto m = model_of(g, 18);
  const auto r = import(m);
  REQUIRE(problems(r) == "");
  CHECK(shape_of_output(r.graph) == "[1, 2, H]");
  const auto padded = [&](std::vector<double> x) {
    const auto n = static_cast<std::int64_t>(x.size());
    return run(r, std::vector<host_tensor>{host_tensor({1, 1, n}, std::move(x))})[1].reals;
  };
  CHECK(padded({1, 2, 3, 4}) == std::vector<double>{2, 2, 4, 4});
  CHECK(padded({1, 2, 3, 4, 5}) == std::vector<double>{2, 2, 4, 4, 0});
}

TEST_CASE("repeated as often as an extent says") {
  graph_of g;
  g.input("x", f32, {2, "L"}).output("y");
  g.node("Shape", {"x"}, {"times"}, {integer("start", 1)}).constant("two", {2});
  g.node("Concat", {"two", "times"}, {"repeats"}, {integer("axis", 0)}).node("Tile", {"x", "repeats"}, {"y"});
  const auto r = import(g);
  REQUIRE(problems(r) == "");
  CHECK(shape_of_output(r.graph) == "[4, L*L]");
  const auto y = run(r, std::vector<host_tensor>{host_tensor({2, 2}, {1, 2, 3, 4})})[0];
  CHECK(y.reals == std::vector<double>{1, 2, 1, 2, 3, 4, 3, 4, 1, 2, 1, 2, 3, 4, 3, 4});
}

TEST_CASE("positions of what is not 0 among known elements, and powers of extents") {
  CHECK(
      reshaped(
          {1, "L", 6},
          [](graph_of& g) {  // a range, as PyTorch wrote it before there was Range
            g.constant("five", {5})
                .node("ConstantOfShape", {"five"}, {"ones"}, {stored("value", numbers("", {1}, {1}))});
            g.node("NonZero", {"ones"}, {"range"}).constant("last", {4}).scalar("one", 1).scalar("two", 2);
            g.node("Gather", {"range", "last"}, {"four"}, {integer("axis", 1)}).constant("flat", {-1});
            g.node("Pow", {"four", "two"}, {"sixteen"}).node("Reshape", {"sixteen", "flat"}, {"n"});
            g.node("Shape", {"x"}, {"shape"})
                .node("Gather", {"shape", "one"}, {"l"})
                .node("Pow", {"l", "two"}, {"area"});
            g.node("Div", {"area", "l"}, {"again"}).constant("axes", {0}).node("Unsqueeze", {"again", "axes"}, {"l1"});
            g.constant("ten", {10}).node("Sub", {"n", "ten"}, {"six"});
            g.node("Concat", {"l1", "six"}, {"s"}, {integer("axis", 0)});
          },
          "Reshape") == "[L, 6]");
}

TEST_CASE("a window around the middle of a table says how long an input may be") {
  graph_of g;
  g.input("x", f32, {"L"}).output("y").initializer(reals("table", {0, 1, 2, 3, 4, 5, 6}, {7}));
  g.node("Shape", {"x"}, {"l"}).constant("middle", {4}).constant("before", {3});
  g.node("Sub", {"middle", "l"}, {"start"}).node("Add", {"before", "l"}, {"end"});
  g.node("Slice", {"table", "start", "end"}, {"y"});
  const auto m = model_of(g);
  const auto r = import(m);
  REQUIRE(problems(r) == "");
  CHECK(shape_of_output(r.graph) == "[2*L-1]");
  CHECK(r.graph.symbols.symbols[0].limits.max == 4);
  const auto y = run(r, std::vector<host_tensor>{host_tensor({2}, {0, 0})})[0];
  CHECK(y.reals == std::vector<double>{2, 3, 4});
}

TEST_CASE("a symbol that a Reshape divides") {
  graph_of g;
  g.input("x", f32, {"N", "H", 6}).output("y").constant("s", {0, -1, 4, 6}).node("Reshape", {"x", "s"}, {"y"});
  const auto r = import(g);
  REQUIRE(problems(r) == "");
  CHECK(shape_of_input(r.graph) == "[N, 4*(H/4), 6]");
  CHECK(shape_of_output(r.graph) == "[N, H/4, 4, 6]");
  graph_of part;
  part.input("x", f32, {"N", "H", 6}).output("y").constant("s", {0, -1, 4, 3}).node("Reshape", {"x", "s"}, {"y"});
  CHECK(shape_of_output(import(part).graph) == "[N, H/2, 4, 3]");  // which are 6 * H numbers
}

TEST_CASE("symbols that a Reshape requires to be equal") {
  graph_of g;
  g.input("x", f32, {"S", "N", 6}).input("z", f32, {"B", 4}).output("y").output("w");
  g.node("Shape", {"x"}, {"shape"}).constant("one", {1}).constant("two", {2}).constant("rest", {-1});
  g.node("Slice", {"shape", "one", "two"}, {"n"}).node("Mul", {"n", "two"}, {"heads"}).constant("seven", {7});
  g.constant("three", {3}).node("Concat", {"seven", "heads", "three"}, {"s"}, {integer("axis", 0)});
  g.node("Reshape", {"x", "s"}, {"y"});
  g.node("Concat", {"n", "rest"}, {"t"}, {integer("axis", 0)}).node("Reshape", {"z", "t"}, {"w"});
  const auto r = import(g);
  REQUIRE(problems(r) == "");
  CHECK(shape_of_input(r.graph, 0) == "[7, N, 6]");
  CHECK(shape_of_output(r.graph) == "[7, 2*N, 3]");
  CHECK(shape_of_input(r.graph, 1) == "[N, 4]");
  CHECK(shape_of_output(r.graph, 1) == "[N, 4]");
}

TEST_CASE("parts up to the length of another tensor") {
  graph_of g;
  g.input("x", i64, {1, "L"}).output("y").initializer(numbers("table", std::vector<std::int64_t>(512, 3), {1, 512}));
  g.node("Shape", {"x"}, {"shape"}).scalar("one", 1).node("Gather", {"shape", "one"}, {"l"});
  g.constant("axes", {0}).node("Unsqueeze", {"l", "axes"}, {"end"}).constant("begin", {0}).constant("along", {1});
  g.node("Slice", {"table", "begin", "end", "along"}, {"part"}).node("Add", {"x", "part"}, {"y"});
  const auto m = model_of(g);
  const auto r = import(m);
  REQUIRE(problems(r) == "");
  CHECK(shape_of_output(r.graph) == "[1, L]");
  CHECK(r.graph.symbols.symbols[0].limits.max == 512);  // what the sum needs
  const auto y = run(r, std::vector<host_tensor>{host_tensor::of_integers(i64, {1, 2}, {10, 20})})[0];
  CHECK(y.integers == std::vector<std::int64_t>{13, 23});
  CHECK_THROWS_AS(run(r, std::vector<host_tensor>{host_tensor(i64, {1, 513})}), error);
}

TEST_CASE("a value that is not known is refused by name") {
  graph_of g;
  g.input("x", f32, {4}).input("k", f32, {2, 3}).output("y");
  g.node("Cast", {"k"}, {"s"}, {integer("to", 7)}).node("Reshape", {"x", "s"}, {"y"});
  const auto r = import(g);
  CHECK(problems(r) == "Reshape 'y': the shape ('s') must be known when the model is imported\n");
  CHECK(r.inputs_to_bind.empty());  // an image decides no shape
}

TEST_CASE("a count that elements decide is refused where it must be an extent") {
  graph_of g;
  g.input("x", f32, {9}).output("y").node("NonZero", {"x"}, {"where"}).node("Shape", {"where"}, {"extents"});
  g.constant("one", {1}).node("Gather", {"extents", "one"}, {"count"}).node("TopK", {"x", "count"}, {"y", "positions"});
  CHECK(problems(import(g)) ==
        "TopK 'y': k ('count') must be a number or an expression of sizes, not computed from elements\n");
}

TEST_CASE("integers are divided by no 0: a known one is refused, one that a symbol may make is an error of that run") {
  for (const char* op : {"Div", "Mod"}) {
    graph_of known;
    known.input("x", f32, {"N"}).output("y").constant("twelve", {12}).constant("nothing", {0});
    known.node(op, {"twelve", "nothing"}, {"s"}, {}, "parts").node("Reshape", {"x", "s"}, {"y"});
    CHECK(problems(import(known)).find(std::string(op) + " 'parts': divides integers by 0") != std::string::npos);

    graph_of open;
    open.input("x", f32, {"N", 4}).output("y").scalar("twelve", 12).scalar("one", 1);
    open.node("Shape", {"x"}, {"shape"}).node("Gather", {"shape", "first"}, {"n"}).scalar("first", 0);
    open.node("Sub", {"n", "one"}, {"less"}).node(op, {"twelve", "less"}, {"y"}, {}, "parts");
    const auto m = model_of(open);
    const auto r = import(m);
    REQUIRE(problems(r) == "");
    const auto of = [&](std::int64_t n) {
      return run(r, std::vector<host_tensor>{host_tensor(f32, {n, 4})})[0].integers[0];
    };
    CHECK(of(6) == 2);
    CHECK(of(9) == (std::string_view(op) == "Div" ? 1 : 4));
    CHECK(error_of([&] { return of(1); }) ==
          std::string(op) +
              " 'parts': extents are not as it needs them, expected N-1 != 0, found N-1 = 0 where N = 1 and 0");
  }
}
