// SPDX-License-Identifier: MIT
// LABELS: no_sanitize
// If in compiled networks: each branch gives what it should, and only the kernels of the one that is taken run.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "dnnkit/compile.hpp"
#include "dnnkit/inspect/explain.hpp"
#include "dnnkit/op/builtin.hpp"
#include "dnnkit/pass/verify_schedule.hpp"
#include "dnnkit/reference/evaluator.hpp"
#include "dnnkit/runtime/session.hpp"
#include "tests/support/compiled.hpp"
#include "tests/support/harness.hpp"

namespace dk = dnnkit;
using dk::f32;

namespace {

// Two convolutions that are skipped unless the mean of what they read is positive.
constexpr dk::tensor skippable(dk::builder& g, dk::tensor x, const char* gate, const char* name, dk::tensor otherwise) {
  const dk::tensor mean = dk::reduce_mean(x, {.keepdims = false});
  const dk::tensor wanted = g.named(gate, dk::greater(mean, g.scalar(0)));
  const dk::text first = dk::text(name) << " 1", second = dk::text(name) << " 2";
  dk::tensor y = dk::conv(x, g.weight(name, ".1", {8, 8, 3, 3}), {.pads = {1, 1, 1, 1}});
  y = dk::relu(g.named(first.view(), y));
  y = dk::conv(y, g.weight(name, ".2", {8, 8, 3, 3}), {.pads = {1, 1, 1, 1}});
  y = dk::relu(x + g.named(second.view(), y));
  return g.named("join", dk::combine(wanted, y, otherwise));
}

struct one_block {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {1, 8, 6, 5});
    const dk::tensor y = skippable(g, x, "gate", "block", x);
    g.output("y", g.named("last", dk::conv(y, g.weight("last", {4, 8, 1, 1}))));
  }
};

// A branch within a branch, whose condition only the outer one computes.
struct nested {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {1, 8, 6, dk::sym("W", {1, 9})}), c = g.input("c", dk::boolean, {1});
    const dk::tensor t = g.named("outside", dk::softmax(x, {.axis = 1}));
    const dk::tensor outer = g.named("outer", dk::conv(x, g.weight("outer", {8, 8, 1, 1})));
    const dk::tensor inner = skippable(g, outer, "inner gate", "inner", t);
    const dk::tensor other = g.named("other", dk::max_pool(x, {.kernel_shape = {3, 3}, .pads = {1, 1, 1, 1}}));
    g.output("y", g.named("outer join", dk::combine(dk::reshape(c, {}), inner, other)));
  }
};

// Booleans, the graph's own input as a branch, and a condition that movement makes of something larger.
struct of_booleans {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", dk::boolean, {2, 3}), y = g.input("y", f32, {2, 3});
    const dk::tensor decides = dk::reshape(dk::slice(dk::logical_not(x), {.starts = {1, 2}, .ends = {2, 3}}), {});
    const dk::tensor positive = dk::greater(y, g.scalar(0));
    g.output("z", dk::combine(decides, positive, x));
    g.output("r", dk::combine(decides, dk::softmax(y), y));
  }
};

struct names_of_steps {
  std::vector<std::string>* ran;
  void before(const dk::plan_view& plan, std::size_t i) noexcept {
    ran->emplace_back(plan.text_of(plan.steps[i].name));
  }
  static void after(const dk::plan_view&, std::size_t) noexcept {}
};

template <class Net> struct observed {
  std::vector<std::string> ran;
  harness::test_data data = harness::random_data(dk::graph_of<typename Net::model>(), 1);
  std::vector<std::byte> file = harness::safetensors_bytes(data.weights);
  dk::session<Net, names_of_steps> session{dk::safetensors::from_memory(file, "weights"), names_of_steps{&ran}};

  bool has_run(const std::string& name) const {
    for (const std::string& r : ran)
      if (r == name) return true;
    return false;
  }
};

std::vector<float> filled(std::size_t n, float x) {
  std::vector<float> v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = x * (1 + static_cast<float>(i % 7) / 8);
  return v;
}

TEST_CASE("a block that is skipped") {
  using net = dk::compile<one_block>;
  observed<net> o;
  std::vector<float> y(4 * 6 * 5);
  for (const bool taken : {true, false, true}) {
    CAPTURE(taken);
    o.ran.clear();
    const std::vector<float> x = filled(8 * 6 * 5, taken ? 0.5F : -0.5F);
    o.session.run(x, y);
    CHECK(o.has_run("last"));
    CHECK(o.has_run("block 1") == taken);
    CHECK(o.has_run("block 2") == taken);
    CHECK(o.ran.size() == (taken ? net::kernels : net::kernels - 2));
    dk::host_tensor in(f32, {1, 8, 6, 5});
    in.reals.assign(x.begin(), x.end());
    const dk::host_tensor expected = dk::evaluate(dk::graph_of<one_block>(), {in}, dk::weights_of(o.data.weights))[0];
    for (std::size_t i = 0; i < y.size(); ++i) CHECK(y[i] == doctest::Approx(expected.reals[i]).epsilon(1e-4));
  }
}

TEST_CASE("a branch within a branch") {
  using net = dk::compile<nested>;
  observed<net> o;
  o.session.bind({{"W", 4}});
  std::vector<float> x = filled(8 * 6 * 4, 1), y(8 * 6 * 4);
  const bool yes[1] = {true}, no[1] = {false};
  o.session.run(x, no, y);
  CHECK(o.has_run("other"));
  for (const char* name : {"outside", "outer", "inner 1", "inner 2", "join"}) CHECK_MESSAGE(!o.has_run(name), name);
  bool skipped = false, taken = false;
  for (float sign : {1.0F, -1.0F}) {
    o.ran.clear();
    x = filled(8 * 6 * 4, sign);
    o.session.run(x, yes, y);
    CHECK(o.has_run("outer"));
    CHECK(!o.has_run("other"));
    CHECK(o.has_run("inner 1") == o.has_run("inner 2"));
    CHECK(o.has_run("inner 1") != o.has_run("outside"));
    (o.has_run("inner 1") ? taken : skipped) = true;
  }
  CHECK(skipped);
  CHECK(taken);
}

TEST_CASE("all branches give what the reference evaluator gives") {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    CHECK(harness::compiled_error(harness::compiled<one_block>("one block"), seed) == "");
    CHECK(harness::compiled_error(harness::compiled<nested>("nested"), seed) == "");
    CHECK(harness::compiled_error(harness::compiled<of_booleans>("of booleans"), seed) == "");
  }
}

TEST_CASE("plans and explanations say what runs when") {
  CHECK(dk::verify(dk::default_pipeline::run(dk::graph_of<one_block>())).str() == "");
  CHECK(dk::verify(dk::default_pipeline::run(dk::graph_of<nested>()), std::vector<std::int64_t>{5}).str() == "");
  CHECK(dk::explain<dk::compile<one_block>>().find("runs only if  gate\n") != std::string::npos);
  CHECK(dk::explain<dk::compile<nested>>().find("runs only if  c and not inner gate\n") != std::string::npos);
}

}  // namespace
