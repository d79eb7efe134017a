// SPDX-License-Identifier: MIT
// LABELS: no_sanitize
// Branches of an If that need other extents than the inputs have: they must not run, and the one that is taken is
// right, in the interpreter, the plan executor and sessions.
#include "dnnkit/plan/possible_steps.hpp"

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "dnnkit/compile.hpp"
#include "dnnkit/inspect/explain.hpp"
#include "dnnkit/inspect/explain_json.hpp"
#include "dnnkit/op/builtin.hpp"
#include "dnnkit/pass/verify_schedule.hpp"
#include "dnnkit/reference/evaluator.hpp"
#include "dnnkit/reference/plan_executor.hpp"
#include "dnnkit/runtime/session.hpp"
#include "tests/support/error_of.hpp"

namespace dk = dnnkit;
using dk::f32;

namespace {

// Filters of two rates, each for signals of one length: what `dnnkit generate` makes of an If with Conv, Conv, Squeeze
// and Neg in one branch, Conv, Squeeze and Exp in the other.
struct two_rates {
  static constexpr void build(dk::builder& g) {
    const dk::extent N = g.size({"N"});
    const auto x = g.input("x", f32, {N, dk::sym{"T"}});
    const auto slow = dk::equal(g.input("rate", dk::i64, {}), g.scalar(16000, dk::i64));
    auto y = dk::conv(dk::unsqueeze(x, {.axes = {1}}), g.constant({1, 2, 3, 4}, {1, 1, 4}));
    y = dk::assume_shape(dk::conv(y, g.constant({1, -1}, {1, 1, 2})), {N, 1, 1}, "Squeeze 't'");
    const auto a = dk::squeeze(y, {.axes = {2}});
    y = dk::conv(dk::unsqueeze(x, {.axes = {1}}), g.constant({1, 0, 0.5}, {1, 1, 3}));
    y = dk::assume_shape(y, {N, 1, 1}, "Squeeze 'e'");
    const auto b = dk::squeeze(y, {.axes = {2}});
    g.output("y", dk::relu(dk::combine(slow, a, b)));
    g.output("z", dk::relu(dk::combine(slow, -a, dk::exp(b))));
  }
};

struct one_case {
  std::vector<double> x;
  std::int64_t rate;
  std::vector<double> y, z;  // ONNX Runtime's
};
const one_case five{{1, 2, 3, 4, 5, 5, 4, 3, 2, 1}, 16000, {0, 10}, {10, 0}};
const one_case three{{1, 2, 3, -4, 5, 6}, 8000, {2.5, 0}, {12.182494163513184, 0.3678794503211975}};

std::vector<dk::host_tensor> inputs_of(const one_case& c, std::int64_t rate) {
  return {dk::host_tensor({2, static_cast<std::int64_t>(c.x.size() / 2)}, c.x),
          dk::host_tensor::of_integers(dk::i64, {}, {rate})};
}
void check_near(const auto& found, const std::vector<double>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == doctest::Approx(expected[i]).epsilon(1e-5));
}

const std::string other_is_taken =
    "Squeeze 'e', tensor 'Conv': an extent is not what it needs, expected 1, found T-2 = 3 where T = 5";

TEST_CASE("the branch that is taken is right, whatever the other needs; taken, the other names what it needs") {
  const dk::graph g = dk::graph_of<two_rates>();
  const dk::schedule s = dk::default_pipeline::run(g);
  REQUIRE(dk::verify(s).str() == "");
  for (const std::int64_t length : {3, 5, 9}) CHECK(dk::verify(s, std::vector<std::int64_t>{2, length}).str() == "");
  CHECK(s.plan.assumptions.size() == 0);
  CHECK(s.plan.branch_assumptions.size() == 2);
  const auto plan = dk::plan::view_of(s.plan);
  for (const one_case& c : {five, three}) {
    CAPTURE(c.rate);
    for (const auto& outputs : {dk::evaluate(g, inputs_of(c, c.rate)), dk::execute(plan, inputs_of(c, c.rate))}) {
      CHECK(outputs[0].dims == std::vector<std::int64_t>{2, 1});
      check_near(outputs[0].reals, c.y);
      check_near(outputs[1].reals, c.z);
    }
  }
  CHECK(error_of([&] { return dk::evaluate(g, inputs_of(five, 8000)); }) == other_is_taken);
  CHECK(error_of([&] { return dk::execute(plan, inputs_of(five, 8000)); }) == other_is_taken);
  CHECK(error_of([&] { return dk::evaluate(g, inputs_of(three, 16000)); }) != "no error");
  CHECK(error_of([&] { return dk::execute(plan, inputs_of(three, 16000)); }) ==
        "Squeeze 't', tensor 'Conv': an extent is not what it needs, expected 1, found T-4 = -1 where T = 3");
}

struct counting {
  int* steps;
  void before(const dk::plan_view&, std::size_t) const noexcept { ++*steps; }
  static void after(const dk::plan_view&, std::size_t) noexcept {}
};

TEST_CASE("a session: no memory and no kernels for a branch that cannot be taken") {
  using net = dk::compile<two_rates>;
  static_assert(!noexcept(std::declval<dk::session<net>&>().run(std::vector<float>{}, std::vector<std::int64_t>{},
                                                                std::vector<float>{}, std::vector<float>{})));
  int steps = 0;
  dk::session<net, counting> s{counting{&steps}};
  for (const one_case& c : {five, three, five}) {
    CAPTURE(c.rate);
    const std::vector<float> x(c.x.begin(), c.x.end());
    const std::vector<std::int64_t> rate{c.rate}, other{24000 - c.rate};
    std::vector<float> y(2), z(2);
    s.bind({{"N", 2}, {"T", static_cast<std::int64_t>(c.x.size() / 2)}});
    s.run(x, rate, y, z);
    check_near(y, c.y);
    check_near(z, c.z);
    steps = 0;
    const std::string said = error_of([&] { return s.run(x, other, y, z), 0; });
    CHECK(said.find("an extent is not what it needs") != std::string::npos);
    if (c.rate == five.rate) CHECK(said == other_is_taken);
    CHECK(steps == 1);  // the condition
    s.run(x, rate, y, z);
    check_near(y, c.y);
  }
  s.bind({{"N", 1'000'000}, {"T", 5}});
  const std::size_t of_five = s.arena_bytes();
  dk::session<net> larger;
  larger.bind({{"N", 1'000'000}, {"T", 1000}});  // neither can be taken
  CHECK(larger.arena_bytes() < of_five);
}

TEST_CASE("explanations say in which branch it is assumed") {
  const std::string said = dk::explain<dk::compile<two_rates>>(), json = dk::explain_json<dk::compile<two_rates>>();
  CHECK(said.find("assumed where Equal: T-4 = 1, for Squeeze 't', tensor 'Conv #2'\n") != std::string::npos);
  CHECK(said.find("assumed where not Equal: T-2 = 1, for Squeeze 'e', tensor 'Conv #3'\n") != std::string::npos);
  CHECK(json.find("\"where\": \"not Equal\"") != std::string::npos);
}

// A branch that only has too short an input, and assumes nothing.
struct too_short {
  static constexpr void build(dk::builder& g) {
    const auto x = g.input("x", f32, {1, 1, dk::sym{"T"}}), c = g.input("c", dk::boolean, {});
    const auto longer = g.named("valid", dk::conv(x, g.constant({1, 1, 1, 1}, {1, 1, 4})));
    const auto sum = dk::reduce_sum(longer, {.axes = {2}, .keepdims = true});
    g.output("y", dk::combine(c, sum, dk::reduce_max(x, {.axes = {2}, .keepdims = true})));
  }
};

TEST_CASE("extents that would be negative are those of the branch") {
  dk::session<dk::compile<too_short>> s;
  s.bind({{"T", 2}});
  const bool yes[1] = {true}, no[1] = {false};
  const std::vector<float> x{3, 5};
  std::vector<float> y(1);
  s.run(x, no, y);
  CHECK(y[0] == 5);
  CHECK(error_of([&] { return s.run(x, yes, y), 0; }) ==
        "Conv 'valid', tensor 'valid': an extent would be negative: what is computed does not fit its input, expected "
        "T-3 of 0 or more, found -1 where T = 2");
  s.bind({{"T", 4}});
  s.run(std::vector<float>{1, 2, 3, 4}, yes, y);
  CHECK(y[0] == 10);
}

}  // namespace
