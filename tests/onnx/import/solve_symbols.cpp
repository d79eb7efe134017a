// SPDX-License-Identifier: MIT
// Equations between extents, solved: by isolation of a symbol, divisibility and bounds; and the imports that need them.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/onnx/import/solve_symbols.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "dnnkit/graph/verify.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/onnx_models.hpp"

using namespace dnnkit;
using namespace onnx_models;
using onnx_models::graph_of;  // not the one of dnnkit/compile.hpp

namespace {

// What symbol `name` is after a = b was solved, in words; "" when it could not be.
std::string solved(const std::function<equation(symbol_table&)>& make, const std::string& name) {
  symbol_table t;
  const equation e = make(t);
  onnx::symbol_solutions s;
  if (!onnx::symbol_solver(t, s).solve(e)) return "";
  symbol_table fresh;
  const dim d = onnx::solved_symbols(s).of(fresh, name);
  std::string text = fresh.print(d).str();
  if (const auto i = fresh.symbol_of(d)) {
    const bounds b = fresh.symbols[*i].limits;
    if (b.min > 1 || b.max < bounds{}.max) text += " from " + std::to_string(b.min) + " to " + std::to_string(b.max);
  }
  return text;
}
dim sym_named(symbol_table& t, const char* name) { return t.symbol_named(name, {1, bounds{}.max}); }

}  // namespace

TEST_CASE("one equation") {
  CHECK(solved([](symbol_table& t) { return equation{sym_named(t, "a"), 7}; }, "a") == "7");
  CHECK(solved([](symbol_table& t) { return equation{t.mul(sym_named(t, "a"), 3), 21}; }, "a") == "7");
  CHECK(solved([](symbol_table& t) { return equation{t.mul(sym_named(t, "a"), 3), 22}; }, "a") == "");
  CHECK(solved([](symbol_table& t) { return equation{t.add(sym_named(t, "a"), 9), 2}; }, "a") == "");  // -7
  CHECK(solved([](symbol_table& t) { return equation{sym_named(t, "a"), sym_named(t, "b")}; }, "b") == "a");
  CHECK(solved(
            [](symbol_table& t) {
              return equation{sym_named(t, "a"), t.add(t.mul(sym_named(t, "b"), 2), 1)};
            },
            "a") == "2*b+1");
  CHECK(solved(
            [](symbol_table& t) {
              const dim h = sym_named(t, "H");
              return equation{t.mul(t.floor_div(h, 16), 2), t.floor_div(h, 8)};
            },
            "H") == "16*(H/16)");
  CHECK(solved(
            [](symbol_table& t) {
              const dim l = sym_named(t, "L");
              return equation{l, t.min(l, 512)};
            },
            "L") == "L from 1 to 512");
  CHECK(solved(
            [](symbol_table& t) {
              const dim l = sym_named(t, "L");
              return equation{t.max(t.add(l, -4), 0), t.add(l, -4)};
            },
            "L") == "L from 4 to 2147483647");
  CHECK(solved(
            [](symbol_table& t) {
              const dim rows = t.add(t.floor_div(t.add(sym_named(t, "T"), 3), 10), -1);
              return equation{t.max(rows, 0), rows};
            },
            "T") == "T from 7 to 2147483647");
  CHECK(solved(
            [](symbol_table& t) {
              const dim start = t.sub(5000, t.mul(sym_named(t, "L"), 3));
              return equation{t.max(start, 0), start};
            },
            "L") == "L from 1 to 1666");
  CHECK(solved(
            [](symbol_table& t) {
              return equation{t.min(sym_named(t, "L"), 3), 3};
            },
            "L") == "L from 3 to 2147483647");
  CHECK(solved([](symbol_table& t) { return equation{t.max(sym_named(t, "L"), 9), 9}; }, "L") == "L from 1 to 9");
  CHECK(solved(
            [](symbol_table& t) {  // not L from 1 to 1, although this is a solution, too
              const dim l = t.add(sym_named(t, "L"), -1);
              return equation{l, t.min(l, t.max(t.add(t.mul(l, 2), -1), 0))};
            },
            "L") == "L from 2 to 2147483647");
  CHECK(solved(
            [](symbol_table& t) {
              const dim n = sym_named(t, "N"), l = sym_named(t, "L");
              return equation{t.mul(t.mul(n, l), 32), t.mul(n, 224)};
            },
            "L") == "7");
}

TEST_CASE("extents without a name take what the model needs of them") {
  graph_of g;
  g.input("x", f32, {"", 4})
      .input("z", f32, {"", ""})
      .output("y")
      .initializer(reals("w", std::vector<float>(12, 1), {4, 3}));
  g.node("MatMul", {"x", "w"}, {"h"}).node("Concat", {"h", "z"}, {"y"}, {integer("axis", 1)});
  const auto r = import(g);
  REQUIRE(problems(r) == "");
  CHECK(shape_of_input(r.graph, 0) == "[x.0, 4]");
  CHECK(shape_of_input(r.graph, 1) == "[x.0, z.1]");
  CHECK(shape_of_output(r.graph) == "[x.0, z.1+3]");
}

TEST_CASE("a product and a known weight decide an unknown extent") {
  graph_of g;
  g.input("x", f32, {"N", ""}).output("y").initializer(reals("w", std::vector<float>(12, 1), {4, 3}));
  g.node("MatMul", {"x", "w"}, {"y"});
  const auto r = import(g);
  REQUIRE(problems(r) == "");
  CHECK(shape_of_input(r.graph) == "[N, 4]");
  CHECK(r.sizes_found == std::map<std::string, std::int64_t, std::less<>>{{"x.1", 4}});
  const onnx::model m = model_of(g);
  onnx::import_options given;
  given.sizes = {{"x.1", 4}};
  CHECK(import(m, given).sizes_found.empty());
}

TEST_CASE("two halvings and doublings: extents are multiples of four") {
  graph_of g;
  g.input("x", f32, {1, 1, "H", "W"}).output("y");
  const auto pool = [&](std::string_view from, std::string_view to) {
    g.node("MaxPool", {from}, {to}, {integers("kernel_shape", {2, 2}), integers("strides", {2, 2})});
  };
  pool("x", "a");
  pool("a", "b");
  g.initializer(reals("scales", {1, 1, 2, 2}, {4}));
  const auto grow = [&](std::string_view from, std::string_view to) {
    g.node("Resize", {from, "", "scales"}, {to},
           {word("coordinate_transformation_mode", "asymmetric"), word("nearest_mode", "floor")});
  };
  grow("b", "c");
  g.node("Add", {"c", "a"}, {"d"});
  grow("d", "e");
  g.node("Add", {"e", "x"}, {"y"});
  const auto r = import(g);
  REQUIRE(problems(r) == "");
  CHECK(r.graph.symbols.symbols.size() == 2);
  const auto dims_of = [&](std::int64_t h, std::int64_t w) {
    return run(r, std::vector<host_tensor>{host_tensor(f32, {1, 1, h, w})})[0].dims;
  };
  CHECK(dims_of(4, 8) == std::vector<std::int64_t>{1, 1, 4, 8});
  CHECK(dims_of(12, 4) == std::vector<std::int64_t>{1, 1, 12, 4});
  CHECK_THROWS_AS(dims_of(6, 8), error);
}

TEST_CASE("thousands of symbols are solved in a few rounds") {
  constexpr int count = 1000;
  graph_of g;
  std::deque<std::string> texts;
  const auto text = [&](const char* prefix, int k) -> std::string_view {
    return texts.emplace_back(prefix + std::to_string(k));
  };
  std::string_view sum;
  for (int k = 0; k < count; ++k) {
    const std::string_view x = text("x", k), s = text("S", k), t = text("T", k);
    g.input(x, f32, {s.data(), t.data()});
    const std::string_view next = k + 1 == count ? std::string_view("y") : text("a", k);
    if (k == 0) sum = x;
    else g.node("Add", {sum, x}, {next}), sum = next;
  }
  g.output("y");
  const auto r = import(g);
  REQUIRE(problems(r) == "");
  CHECK(shape_of_output(r.graph) == "[S0, T0]");
  CHECK(r.graph.symbols.symbols.size() == 2);
}

TEST_CASE("what cannot be solved is assumed, and checked when the symbols have values") {
  graph_of g;
  g.input("x", f32, {"H"}).input("z", f32, {"W"}).output("y");
  g.node("Concat", {"x", "x"}, {"a"}, {integer("axis", 0)})
      .node("Concat", {"z", "z", "z"}, {"b"}, {integer("axis", 0)});
  g.node("Add", {"a", "b"}, {"y"});
  const auto r = import(g);
  REQUIRE(problems(r) == "");
  REQUIRE(r.graph.symbols.assumptions.size() == 1);
  CHECK(r.graph.symbols.assumptions[0].needed_by == "Add 'y'");
  const auto sum = [&](std::vector<double> x, std::vector<double> z) {
    const auto tensor = [](std::vector<double> list) {
      const auto n = static_cast<std::int64_t>(list.size());
      return host_tensor({n}, std::move(list));
    };
    return run(r, std::vector<host_tensor>{tensor(std::move(x)), tensor(std::move(z))})[0].reals;
  };
  CHECK(sum({1, 2, 3}, {10, 20}) == std::vector<double>{11, 22, 13, 21, 12, 23});
  CHECK(error_of([&] {
          return sum({1, 2}, {1, 2});
        }) ==
        "Add 'y': extents that it needs to be equal differ, expected 2*H = 4 where H = 2, found 3*W = 6 where W = 2");
}

TEST_CASE("what is assumed simplifies what comes behind it") {  // as a text recogniser needs its height to be 48
  graph_of g;
  g.input("x", f32, {"N", 2, "?", "?"}).output("y").initializer(reals("w", std::vector<float>(6, 1), {2, 3}));
  g.node("MaxPool", {"x"}, {"a"}, {integers("kernel_shape", {48, 1}), integers("strides", {48, 1})})
      .node("Squeeze", {"a"}, {"b"}, {integers("axes", {2})})
      .node("Transpose", {"b"}, {"c"}, {integers("perm", {0, 2, 1})})
      .node("MatMul", {"c", "w"}, {"y"});
  const auto m = model_of(g, 11);
  const auto r = import(m);
  REQUIRE(problems(r) == "");
  CHECK(shape_of_input(r.graph) == "[N, 2, x.2, x.3]");
  CHECK(shape_of_output(r.graph) == "[N, x.3, 3]");
  CHECK(verify(r.graph) == "");
  const auto rows = [&](std::int64_t h) {
    return run(r, std::vector<host_tensor>{host_tensor(f32, {1, 2, h, 7})})[0].dims;
  };
  CHECK(rows(48) == std::vector<std::int64_t>{1, 7, 3});
  CHECK(rows(50) == std::vector<std::int64_t>{1, 7, 3});
  CHECK(error_of([&] { return rows(96); }).find("an extent is not what it needs") != std::string::npos);
}

TEST_CASE("extents of -1 and 0, and those whose name says that they have none, are symbols of their own") {
  graph_of g;
  g.input("x", f32, {-1, 0, "?", "None"}).output("y").node("Relu", {"x"}, {"y"});
  const auto r = import(g);
  REQUIRE(problems(r) == "");
  CHECK(shape_of_input(r.graph) == "[x.0, x.1, x.2, x.3]");
  CHECK(run(r, std::vector<host_tensor>{host_tensor(f32, {2, 0, 3, 1})})[0].dims ==
        std::vector<std::int64_t>{2, 0, 3, 1});
}

TEST_CASE("each symbol that a solution mentions is solved once") {
  // s1 = s0 + floor(s0 / 2), s2 = s1 + floor(s1 / 2), ...
  onnx::symbol_solutions solutions;
  for (int i = 1; i <= 60; ++i) {
    auto t = std::make_shared<symbol_table>();
    const dim before = sym_named(*t, ("s" + std::to_string(i - 1)).c_str());
    const dim value = t->add(before, t->floor_div(before, 2));
    solutions["s" + std::to_string(i)] = {t, value, {1, bounds{}.max}};
  }
  symbol_table fresh;
  onnx::solved_symbols solved_once(solutions);
  CHECK(fresh.print(solved_once.of(fresh, "s1")).view() == "floor_div(s0, 2)+s0");
  CHECK(solved_once.of(fresh, "s60").is_unknown());  // too long to be written out
}
