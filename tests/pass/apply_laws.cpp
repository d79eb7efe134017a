// SPDX-License-Identifier: MIT
// What the laws of operators leave out, and what they do not.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/pass/apply_laws.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "dnnkit/graph/verify.hpp"
#include "dnnkit/op/builtin.hpp"
#include "dnnkit/pass/pipeline.hpp"
#include "dnnkit/reference/evaluator.hpp"

namespace dk = dnnkit;

namespace {

// f(a, b) = a: associative and idempotent, but not commutative.
struct left_operand {
  static constexpr std::string_view name = "Left";
  static constexpr dk::form kind = dk::form::elementwise;
  static constexpr dk::traits properties{.laws = dk::algebra::associative | dk::algebra::idempotent};
  template <class T> static constexpr T apply(T a, T) { return a; }
};

// How many nodes the pass leaves of a model of two inputs; -1 when it changes what they mean.
template <class Build> int nodes_left(Build build) {
  dk::builder b;
  const dk::tensor x = b.input("x", dk::f32, {2, 4}), y = b.input("y", dk::f32, {4});
  b.output("z", build(x, y));
  const dk::graph after = dk::passes::apply_laws::run(b.value());
  if (!dk::verify(after).view().empty()) return -1;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<dk::host_tensor> inputs{dk::host_tensor({2, 4}, {1, -2, 3, -4, 0.5, -0.5, nan, 7}),
                                            dk::host_tensor({4}, {2, -3, nan, 0.25})};
  const std::vector<double> expected = evaluate(b.value(), inputs)[0].reals, found = evaluate(after, inputs)[0].reals;
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (found[i] != expected[i] && (found[i] == found[i] || expected[i] == expected[i])) return -1;
  return static_cast<int>(after.nodes.size());
}

}  // namespace

TEST_CASE("f(f(x)) = f(x)") {
  CHECK(nodes_left([](auto x, auto) { return dk::relu(dk::relu(x)); }) == 1);
  CHECK(nodes_left([](auto x, auto) { return dk::abs(dk::abs(dk::abs(dk::abs(x)))); }) == 1);
  CHECK(nodes_left([](auto x, auto) { return dk::clip(dk::clip(x, {.max = 2}), {.max = 2}); }) == 1);
  CHECK(nodes_left([](auto x, auto) { return dk::clip(dk::clip(x, {.max = 2}), {.max = 3}); }) == 2);
  CHECK(nodes_left([](auto x, auto) { return dk::neg(dk::neg(x)); }) == 2);
  CHECK(nodes_left([](auto x, auto) { return dk::relu(dk::neg(dk::relu(x))); }) == 3);
}

TEST_CASE("f(a, a) = a") {
  CHECK(nodes_left([](auto x, auto) { return dk::max(x, x) + 1; }) == 1);
  CHECK(nodes_left([](auto x, auto) { return dk::min(x, x); }) == 0);
  CHECK(nodes_left([](auto x, auto) { return x + x; }) == 1);
}

TEST_CASE("f(a, f(a, b)) = f(a, b), whichever side") {
  CHECK(nodes_left([](auto x, auto y) { return dk::max(x, dk::max(x, y)); }) == 1);
  CHECK(nodes_left([](auto x, auto y) { return dk::max(dk::max(x, y), y); }) == 1);
  CHECK(nodes_left([](auto x, auto y) { return dk::max(dk::max(x, y), x); }) == 1);
  CHECK(nodes_left([](auto x, auto y) { return dk::min(y, dk::min(x, y)); }) == 1);
  CHECK(nodes_left([](auto x, auto y) { return dk::max(x, dk::min(x, y)); }) == 2);
  CHECK(nodes_left([](auto x, auto y) { return x * (x * y); }) == 2);
}

TEST_CASE("operands are exchanged where they commute only") {
  const auto nodes_left_of = [](bool same_side) {
    dk::builder b;
    const dk::tensor x = b.input("x", dk::f32, {3}), y = b.input("y", dk::f32, {3});
    const auto left = [&](dk::tensor p, dk::tensor q) { return b.apply(left_operand{}, {p, q}); };
    b.output("z", same_side ? left(x, left(x, y)) : left(x, left(y, x)));
    return dk::passes::apply_laws::run(b.value()).nodes.size();
  };
  CHECK(nodes_left_of(true) == 1);
  CHECK(nodes_left_of(false) == 2);  // f(a, f(b, a)) = a, and f(b, a) = b
}

TEST_CASE("the log says which law it was") {
  dk::builder b;
  b.output("y", dk::relu(dk::relu(b.input("x", dk::f32, {3}))));
  const dk::plan::plan_draft p = dk::default_pipeline::run_logged(b.value()).plan;
  bool said = false;
  for (const dk::plan::decision& d : p.decisions)
    said = said || (d.pass == dk::passes::apply_laws::name && d.reason == "f(f(x)) = f(x)");
  CHECK(said);
}
