// SPDX-License-Identifier: MIT
// What the laws of operators leave out, and what they do not.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/pass/apply_rules.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dnnkit/graph/verify.hpp"
#include "dnnkit/op/builtin.hpp"
#include "dnnkit/pass/pipeline.hpp"
#include "dnnkit/reference/evaluator.hpp"
#include "tests/support/harness.hpp"
#include "tests/support/random_graph.hpp"
#include "tests/support/random_source.hpp"

namespace dk = dnnkit;

namespace {

constexpr dk::rewrite::rule_list idempotent = dk::rewrite::rules::idempotent;
using only_idempotent = dk::passes::apply_rules<idempotent>;
using all_rules = dk::passes::default_rules;

// f(a, b) = a: associative and idempotent, but not commutative.
struct left_operand {
  static constexpr std::string_view name = "Left";
  static constexpr dk::form kind = dk::form::elementwise;
  static constexpr dk::traits properties{.laws = dk::algebra::associative | dk::algebra::idempotent};
  template <class T> static constexpr T apply(T a, T) { return a; }
};

// How many nodes the pass leaves of a model of two inputs; -1 when it changes what they mean.
template <class Pass = only_idempotent, class Build> int nodes_left(Build build) {
  dk::builder b;
  const dk::tensor x = b.input("x", dk::f32, {2, 4}), y = b.input("y", dk::f32, {4});
  b.output("z", build(x, y));
  const dk::graph after = Pass::run(b.value());
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

TEST_CASE("neutral elements, wherever they are constants") {
  CHECK(nodes_left<all_rules>([](auto x, auto) { return x * 1; }) == 0);
  CHECK(nodes_left<all_rules>([](auto x, auto) { return 1 * (x / 1) - 0; }) == 0);
  CHECK(nodes_left<all_rules>([](auto x, auto) { return 0 + (x + 0); }) == 0);
  CHECK(nodes_left<all_rules>([](auto x, auto) { return x * 2; }) == 1);
  CHECK(nodes_left<all_rules>([](auto x, auto) { return 1 / x; }) == 1);
  CHECK(nodes_left<all_rules>([](auto x, auto) { return 0 - x; }) == 1);
  CHECK(nodes_left<all_rules>([](auto x, auto) { return x - 1 + 0.5; }) == 1);
  const auto ones = [](dk::tensor x, const dk::shape& s) { return x.owner().constant({1}, s); };
  CHECK(nodes_left<all_rules>([&](auto x, auto) { return x * ones(x, {2, 4}); }) == 0);  // one number for all elements
  CHECK(nodes_left<all_rules>([&](auto x, auto) {
          return x * dk::reshape(ones(x, {4}), {1, 4});
        }) == 1);  // the Reshape
  CHECK(nodes_left<all_rules>([&](auto x, auto) { return x * x.owner().constant({1, 1, 1, 2}, {4}); }) == 1);
  CHECK(nodes_left<all_rules>([&](auto, auto y) { return y * ones(y, {2, 4}); }) == 1);  // which makes it larger
  CHECK(nodes_left<all_rules>([&](auto x, auto) { return dk::max(x, x * 1); }) ==
        0);  // behind which others see the operand
}

TEST_CASE("operands are exchanged where they commute only") {
  const auto nodes_left_of = [](bool same_side) {
    dk::builder b;
    const dk::tensor x = b.input("x", dk::f32, {3}), y = b.input("y", dk::f32, {3});
    const auto left = [&](dk::tensor p, dk::tensor q) { return b.apply(left_operand{}, {p, q}); };
    b.output("z", same_side ? left(x, left(x, y)) : left(x, left(y, x)));
    return only_idempotent::run(b.value()).nodes.size();
  };
  CHECK(nodes_left_of(true) == 1);
  CHECK(nodes_left_of(false) == 2);  // f(a, f(b, a)) = a, and f(b, a) = b
}

TEST_CASE("the log says which rule it was, and what it saved") {
  dk::builder b;
  b.output("y", dk::relu(dk::relu(b.input("x", dk::f32, {3}))));
  const dk::plan::plan_draft p = dk::default_pipeline::run_logged(b.value()).plan;
  std::size_t said = 0;
  for (const dk::plan::decision& d : p.decisions)
    if (d.pass == only_idempotent::name) {
      ++said;
      CHECK(d.reason == "idempotence");
      CHECK(p.text_of(d.by) == "f(f(a)) = f(a), f a projection, exact");
      CHECK(p.text_of(d.result) == "Relu");
      REQUIRE(d.costs.count == 2);
      CHECK(p.costs[d.costs.first].amount > p.costs[d.costs.first + 1].amount);
    }
  CHECK(said == 1);
}

TEST_CASE("the log says what stands for an operator when no other came") {
  const auto result_of = [](auto build) {
    dk::builder b;
    b.output("y", build(b));
    const dk::plan::plan_draft p = dk::default_pipeline::run_logged(b.value()).plan;
    for (const dk::plan::decision& d : p.decisions)
      if (d.pass == all_rules::name) return std::string(p.text_of(d.result));
    return std::string("nothing");
  };
  const auto x_of = [](dk::builder& b) { return b.input("x", dk::f32, {3}); };
  CHECK(result_of([&](dk::builder& b) { return dk::log(dk::exp(x_of(b))); }) == "input 'x'");
  CHECK(result_of([&](dk::builder& b) { return dk::neg(dk::neg(dk::tanh(x_of(b)))); }) == "Tanh");
  const auto product = [&](dk::builder& b) {
    const dk::tensor x = x_of(b);
    return dk::exp(x) * dk::exp(x + 1.0);
  };
  CHECK(result_of(product) == "Add, Exp");
}

namespace unapplied {

using namespace dk::rewrite;
using namespace dk::rewrite::names;
inline constexpr auto mine =
    rules_of(law::distributive, rule(a* a - b * b == (a - b) * (a + b), reassociates),
             rule(dk::tanh(a) == dk::transpose(a), exact), rule(dk::relu(dk::elu(a)) == dk::relu(a), exact),
             rule(dk::cos(a) == dk::sin(a), exact),
             rule(dk::reduce_sum(a* c)[p] == dk::reduce_sum(a)[p] * c, when(constant_along(c, p)), reassociates),
             rule(dk::relu(dk::relu(dk::tanh(a))) == dk::relu(dk::tanh(a)), exact),
             rule(dk::atan(a) == a, approximates(8)), rule(dk::softsign(a) == a, exact));
inline constexpr rule_list both = rules::all + mine;
using pass = dk::passes::apply_rules<both, approximates(7)>;

}  // namespace unapplied

TEST_CASE("the log says of rules of one's own where and why they were not applied") {
  dk::builder b;
  const dk::tensor x = b.input("x", dk::f32, {4, 10}), y = b.input("y", dk::f32, {4, 10});
  b.output("square", x * x - y * y);
  b.output("another shape", dk::tanh(x + y));
  b.output("attributes", dk::relu(dk::elu(x, {.alpha = 0.3f})));
  b.output("condition", dk::reduce_sum(dk::sqrt(x) * y, {.axes = {1}}));
  b.output("taken", dk::relu(dk::relu(dk::tanh(x - y))));
  b.output("licence", dk::atan(x));
  b.output("applied", dk::softsign(x));
  const dk::schedule s = dk::pipeline<unapplied::pass>::run_logged(b.value());
  const auto text_of = [&](dk::slice_of t) {
    return std::string(s.log.characters.data() + t.first, s.log.characters.data() + t.first + t.count);
  };
  std::vector<std::string> said;
  for (const dk::plan::decision& d : s.log.decisions) {
    if (d.pass != unapplied::pass::name || d.applied) continue;
    std::string line =
        std::string(d.verdict) + " " + text_of(d.operators) + " by " + text_of(d.by) + ": " + std::string(d.reason);
    CHECK((d.reason == "it saves nothing") == (d.costs.count == 2));
    if (d.costs.count == 2) CHECK(s.log.costs[d.costs.first].amount <= s.log.costs[d.costs.first + 1].amount);
    said.push_back(line);
  }
  const std::vector<std::string> expected{
      "not rewritten Sub by a * a - b * b = (a - b) * (a + b), reassociates: it saves nothing",
      "not rewritten Tanh by Tanh(a) = Transpose(a, perm=[]), exact: the right side would have another shape or "
      "element type",
      "not rewritten Tanh #2 by Tanh(a) = Transpose(a, perm=[]), exact: the right side would have another shape or "
      "element type",
      "not found Relu(Elu(a, alpha=1)) = Relu(a), exact by : its left side is in the graph with other attributes only",
      "not found Cos(a) = Sin(a), exact by : its left side is not in the graph",
      "not rewritten ReduceSum by ReduceSum(a * c)[p] = ReduceSum(a)[p] * c, reassociates: its condition does not hold",
      "not found Relu(Relu(Tanh(a))) = Relu(Tanh(a)), exact by : another rule was applied where its left side was",
      "not allowed Atan(a) = a, approximates (8 ulp) by : its licence is not allowed"};
  CHECK(said == expected);
}

TEST_CASE("the log says nothing of the library's rules that were not applied") {
  dk::builder b;
  const dk::tensor x = b.input("x", dk::f32, {4, 10});
  b.output("y", dk::reduce_sum(dk::sqrt(x) * x, {.axes = {1}}));
  const dk::schedule s = dk::pipeline<all_rules>::run_logged(b.value());
  for (const dk::plan::decision& d : s.log.decisions) CHECK(d.pass != all_rules::name);
}

TEST_CASE("rules of one's own, and what rules may do to elements") {
  using namespace dk::rewrite::names;
  static constexpr auto mine = dk::rewrite::rules_of(
      dk::rewrite::law::identity,
      dk::rewrite::rule(dk::sin(a) * dk::sin(a) + dk::cos(a) * dk::cos(a) == 1 + 0 * a, dk::rewrite::approximates(2)));
  static constexpr dk::rewrite::rule_list both = dk::rewrite::rules::all + mine;
  static_assert(both.size() == dk::rewrite::rules::all.size() + 1);
  dk::builder b;
  const dk::tensor x = b.input("x", dk::f32, {2, 4});
  b.output("y", dk::sin(x) * dk::sin(x) + dk::cos(x) * dk::cos(x));
  const auto nodes = [&]<class Pass>(Pass) { return Pass::run(b.value()).nodes.size(); };
  CHECK(nodes(dk::passes::apply_rules<both>()) == 2);
  CHECK(nodes(dk::passes::default_rules()) == 7);
  CHECK(nodes(dk::passes::apply_rules<both, dk::rewrite::licence::reassociates>()) == 7);
}

TEST_CASE("chains are found in whatever brackets and order they are written") {
  const auto nodes = [](auto build) {
    dk::builder b;
    const dk::tensor x = b.input("x", dk::f32, {2, 4}), y = b.input("y", dk::f32, {2, 4}),
                     z = b.input("z", dk::f32, {2, 4});
    b.output("out", build(x, y, z));
    return dk::passes::default_rules::run(b.value()).nodes.size();
  };
  // The factor in common is deep in both chains: x y z + x z (z + 1) = x z (y + (z + 1)).
  CHECK(nodes([](auto x, auto y, auto z) { return (x * y) * z + (z + 1.0) * (z * x); }) == 4);
  // Gelu, with another factor in its chain.
  CHECK(nodes([](auto x, auto y, auto) { return 0.5 * (y * (1.0 + dk::erf(x / 1.4142135)) * x); }) == 2);
  // Reciprocals that are not next to each other.
  CHECK(nodes([](auto x, auto y, auto z) { return dk::reciprocal(x) * (z * dk::reciprocal(y)); }) == 2);
  // What others read stays, and is not computed twice.
  CHECK(nodes([](auto x, auto y, auto z) {
          const auto p = x * y, q = x * z;
          return dk::max(p + q, dk::min(p, q));
        }) == 5);
}

namespace {

// The whole measure of a graph.
double work(dk::graph& g) {
  double all = 0;
  for (std::size_t k = 0; k < g.nodes.size(); ++k) all += dk::rewrite::work_of(g, g.nodes[k]);
  return all;
}
using greedy =
    dk::passes::apply_rules<dk::rewrite::rules::all, dk::rewrite::licence::approximates, dk::rewrite::search_by::greed>;

// A product of four matrices in one of its five brackets; m: their extents, five.
dk::graph product_of_four(const std::array<int, 5>& m, int brackets) {
  dk::builder b;
  std::array<dk::tensor, 4> x;
  for (std::size_t i = 0; i < 4; ++i) x[i] = b.input(std::string("x") + char('0' + i), dk::f32, {m[i], m[i + 1]});
  const auto mul = [](dk::tensor p, dk::tensor q) { return dk::matmul(p, q); };
  b.output("y", brackets == 0   ? mul(mul(mul(x[0], x[1]), x[2]), x[3])
                : brackets == 1 ? mul(mul(x[0], mul(x[1], x[2])), x[3])
                : brackets == 2 ? mul(mul(x[0], x[1]), mul(x[2], x[3]))
                : brackets == 3 ? mul(x[0], mul(mul(x[1], x[2]), x[3]))
                                : mul(x[0], mul(x[1], mul(x[2], x[3]))));
  return b.value();
}
dk::graph by_beam(dk::graph g) { return all_rules::run(std::move(g)); }

}  // namespace

TEST_CASE("the beam goes on where greed is stuck: two steps, of which the first makes the product dearer") {
  const std::array<int, 5> extents{2, 16, 16, 2, 1};
  dk::graph g = product_of_four(extents, 0), stuck = greedy::run(g), found = by_beam(g);
  CHECK(work(stuck) == work(g));
  CHECK(work(found) < 0.62 * work(g));  // the matrix-vector products, from the right
  CHECK(dk::verify(found).str() == "");
}

TEST_CASE("sweeps that look where others have changed something leave nothing that a look everywhere finds") {
  std::size_t rewritten = 0;
  for (const std::uint64_t seed : harness::seeds(1, 1500)) {
    dk::builder b;
    random_graph(b, seed * 0x2545f4914f6cdd1du,
                 {.least_operators = 8, .most_operators = 40, .symbols = seed % 2 == 1, .chains = true, .idioms = true})
        .build();
    const dk::graph g = dk::passes::expand_composites::run(b.value());
    dk::graph once = greedy::run(g), twice = greedy::run(once), first = g;
    const double left = work(once);
    CHECK_MESSAGE(work(twice) == left, "DNNKIT_SEED=" << seed << "\n" << harness::describe(b.value()));
    rewritten += left < work(first);
  }
  CHECK(rewritten > 0);
}

TEST_CASE("a place that gave way to another is looked for again, wherever that has changed something") {
  using namespace dk::rewrite::names;
  static constexpr auto two = dk::rewrite::rules_of(
      dk::rewrite::law::identity, dk::rewrite::rule(dk::pow(b, dk::neg(dk::exp(a))) == b, dk::rewrite::exact),
      dk::rewrite::rule(dk::log(dk::exp(a)) == a, dk::rewrite::approximates(2)));
  static constexpr dk::rewrite::rule_list rules = two;
  dk::builder g;
  const dk::tensor inner = dk::exp(g.input("x", dk::f32, {8})), outer = dk::neg(inner);
  g.output("dearer", dk::pow(dk::sin(g.input("y", dk::f32, {8})), outer));  // goes first, and leaves the Exp alone
  g.output("kept", outer);
  g.output("other", dk::log(inner));
  CHECK((dk::passes::apply_rules<rules>::run(g.value()).nodes.size()) == 3);  // Exp, Neg, Sin
}

TEST_CASE("the beam finds the best brackets of four matrices, whatever brackets it begins with") {
  std::size_t better = 0;
  for (const std::uint64_t seed : harness::seeds(1, 60)) {
    random_source random(seed);
    std::array<int, 5> extents{};
    for (int& n : extents) n = static_cast<int>(random.between(1, 24));
    double least = 1e300;
    for (int brackets = 0; brackets < 5; ++brackets) {
      dk::graph g = product_of_four(extents, brackets);
      least = std::min(least, work(g));
    }
    for (int brackets = 0; brackets < 5; ++brackets) {
      const dk::graph g = product_of_four(extents, brackets);
      dk::graph found = by_beam(g), stuck = greedy::run(g);
      CHECK_MESSAGE(work(found) == least, "seed " << seed << ", brackets " << brackets);
      better += work(found) < work(stuck);
      std::vector<dk::host_tensor> inputs;
      for (std::size_t i = 0; i < 4; ++i) {
        std::vector<double> x(static_cast<std::size_t>(extents[i] * extents[i + 1]));
        for (double& element : x) element = static_cast<double>(random.between(-4, 4));
        inputs.emplace_back(std::vector<std::int64_t>{extents[i], extents[i + 1]}, x);
      }
      CHECK(evaluate(found, inputs)[0].reals == evaluate(g, inputs)[0].reals);  // sums of small integers are exact
    }
  }
  CHECK(better > 0);
}

TEST_CASE("readers of one operator that save nothing alone do so together") {
  const auto nodes = []<class Pass>(Pass, int readers) {
    dk::builder b;
    const dk::tensor x = dk::neg(b.input("x", dk::f32, {8}));
    for (int i = 0; i < readers; ++i)
      b.output(std::string("y") + char('0' + i), b.input(std::string("a") + char('0' + i), dk::f32, {8}) + x);
    return Pass::run(b.value()).nodes.size();
  };
  CHECK(nodes(greedy(), 1) == 1);
  CHECK(nodes(greedy(), 2) == 3);
  CHECK(nodes(all_rules(), 2) == 2);
  CHECK(nodes(all_rules(), 4) == 4);
  CHECK(nodes(all_rules(), 5) == 6);  // more steps without a gain than the beam takes
}

TEST_CASE("the log has the beam's steps, and they lower the measure together") {
  const dk::schedule s = dk::pipeline<all_rules>::run_logged(product_of_four({2, 16, 16, 2, 1}, 0));
  double before = 0, after = 0;
  std::size_t steps = 0;
  for (const dk::plan::decision& d : s.log.decisions)
    if (d.pass == all_rules::name && d.costs.count == 2) {
      ++steps;
      before += s.log.costs[d.costs.first].amount;
      after += s.log.costs[d.costs.first + 1].amount;
    }
  CHECK(steps == 2);
  CHECK(after < before);
}

TEST_CASE("what is allowed can be restricted by kind, and by units in the last place") {
  using dk::rewrite::approximates;
  using dk::rewrite::licence;
  const auto nodes = []<class Pass>(Pass) {
    dk::builder b;
    const dk::tensor x = b.input("x", dk::f32, {8}), y = b.input("y", dk::f32, {8});
    b.output("exact", dk::neg(dk::neg(x)) + 1.0);                      // 3 nodes, 1 behind
    b.output("reassociates", x * y + y * b.input("z", dk::f32, {8}));  // 3, 2
    b.output("few", dk::reciprocal(dk::reciprocal(y)) - 3.0);          // 3, 1: 2 ulp
    b.output("many", dk::exp(dk::log(x)) - 4.0);                       // 3, 1: 128 ulp
    return Pass::run(b.value()).nodes.size();
  };
  const auto& all = dk::rewrite::rules::all;
  CHECK(nodes(dk::passes::apply_rules<all, licence::exact>()) == 10);
  CHECK(nodes(dk::passes::apply_rules<all, licence::reassociates>()) == 9);
  CHECK(nodes(dk::passes::apply_rules<all, approximates(1)>()) == 9);
  CHECK(nodes(dk::passes::apply_rules<all, approximates(2)>()) == 7);
  CHECK(nodes(dk::passes::apply_rules<all, approximates(127)>()) == 7);
  CHECK(nodes(dk::passes::apply_rules<all, approximates(128)>()) == 5);
  CHECK(nodes(dk::passes::apply_rules<all>()) == 5);
  static_assert(dk::rewrite::licence_limit(licence::exact).allows(dk::rewrite::exact));
  static_assert(!dk::rewrite::licence_limit(licence::exact).allows(dk::rewrite::reassociates));
  static_assert(!dk::rewrite::licence_limit(approximates(3)).allows(approximates(4)));
  static_assert(dk::rewrite::licence_limit(licence::approximates).allows(approximates(4096)));
}
