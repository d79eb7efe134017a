// SPDX-License-Identifier: MIT
// The tests' harness catches what it is there to catch: operators, passes and plans that are broken on purpose.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "dnnkit/graph/rebuild.hpp"
#include "dnnkit/op/builtin.hpp"
#include "dnnkit/pass/verify_schedule.hpp"
#include "tests/support/compiled.hpp"
#include "tests/support/random_graph.hpp"

namespace dk = dnnkit;

namespace {

// Relu that lets a ten-thousandth of what is negative through.
struct leaking_relu {
  static constexpr std::string_view name = "Relu";
  static constexpr dk::form kind = dk::form::elementwise;
  static constexpr dk::traits properties{};
  template <class T> static constexpr T apply(T x) {
    using dk::select;
    return select(x < T(0), x * T(1e-4f), x);
  }
};
struct right {
  static constexpr void build(dk::builder& g) { build_with(g, dk::op::relu{}); }
  static constexpr void build_with(dk::builder& g, auto op) {
    const dk::tensor x = g.input("x", dk::f32, {1, 4, 6, 7});
    const dk::tensor y = dk::conv(x, g.weight("w", {8, 4, 3, 3}), {.pads = {1, 1, 1, 1}});
    g.output("y", dk::apply(op, y) * 0.5);
  }
};
struct broken {
  static constexpr auto ops = dk::builtin_ops + dk::op_set<leaking_relu>{};
  static constexpr void build(dk::builder& g) { right::build_with(g, leaking_relu{}); }
};
struct shorter {  // another output's shape
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", dk::f32, {1, 4, 6, 7});
    g.output("y", dk::relu(dk::conv(x, g.weight("w", {8, 4, 3, 3}), {.pads = {1, 1, 0, 1}})) * 0.5);
  }
};

dk::graph random(std::uint64_t seed) {
  dk::builder b;
  random_graph(b, seed).build();
  return b.value();
}

}  // namespace

TEST_CASE("an operator broken on purpose is caught in the kernel") {
  const harness::compiled_network fine = harness::compiled<right>("right");
  harness::compiled_network wrong = harness::compiled<broken>("broken");
  wrong.make_graph = &dk::graph_of<right>;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    CHECK(harness::compiled_error(fine, seed) == "");
    CHECK(harness::compiled_error(wrong, seed).find("output 0: element") != std::string::npos);
  }
}

TEST_CASE("a kernel that depends on how its work is divided is caught") {
  static dk::vector<dk::cpu::kernel_entry> kernels;
  harness::compiled_network network = harness::compiled<right>("right");
  kernels = {};
  for (const dk::cpu::kernel_entry& k : network.kernels) kernels.push_back(k);
  static const auto run = kernels[0].run;
  kernels[0].run = [](const dk::cpu::kernel_call& call, dk::cpu::index_t first, dk::cpu::index_t last) noexcept {
    if (first > 0) ++first;
    run(call, first, last);
  };
  network.kernels = {kernels.data(), kernels.size()};
  CHECK(harness::compiled_error(network, 1).find("depends on the number of threads") != std::string::npos);
}

TEST_CASE("a kernel that writes outside its output is caught") {
  static dk::vector<dk::cpu::kernel_entry> kernels;
  harness::compiled_network network = harness::compiled<right>("right");
  kernels = {};
  for (const dk::cpu::kernel_entry& k : network.kernels) kernels.push_back(k);
  static const auto run = kernels[0].run;
  kernels[0].run = [](const dk::cpu::kernel_call& call, dk::cpu::index_t first, dk::cpu::index_t last) noexcept {
    run(call, first, last);
    reinterpret_cast<float*>(call.operands[2])[8 * 6 * 7] = 3;  // x, w, y
  };
  network.kernels = {kernels.data(), kernels.size()};
  REQUIRE(network.plan.steps[0].operands.count == 3);
  CHECK(harness::compiled_error(network, 1) == "right: written outside output 0");
}

TEST_CASE("a pass broken on purpose is caught on random graphs") {
  std::size_t changed = 0, caught = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const dk::graph g = random(seed);
    bool touched = false;
    const dk::graph after = dk::rebuild(g, [&](dk::builder& b, const dk::node& n, const auto& inputs) {
      if (!g.is<dk::op::add>(n)) return dk::tensor{};
      touched = true;
      return b.apply(dk::op::sub{}, {inputs[0], inputs[1]});
    });
    if (!touched) continue;
    ++changed;
    const harness::test_data data = harness::random_data(g, seed);
    const auto expected = harness::reference(g, data), found = harness::reference(after, data);
    const auto allowed = harness::tolerances(g, data, expected);
    bool wrong = false;
    for (std::size_t k = 0; k < expected.size(); ++k)
      wrong = wrong || !harness::difference(found[k], expected[k], allowed[k]).empty();
    caught += wrong;
  }
  CHECK(changed > 50);
  CHECK(caught >= changed * 9 / 10);  // an Add of zeros, or in front of a Relu that hides it, is the same
}

TEST_CASE("tolerances follow the length of reductions and stay tight") {
  const auto tolerance_of = [](std::int64_t length) {
    dk::builder b;
    b.output("y", dk::reduce_sum(b.input("x", dk::f32, {4, length}), {.axes = {1}}));
    const harness::test_data data = harness::random_data(b.value(), 1);
    return harness::tolerances(b.value(), data, harness::reference(b.value(), data))[0];
  };
  CHECK(tolerance_of(1000) > tolerance_of(10));
  CHECK(tolerance_of(10) < 1e-5);
  CHECK(tolerance_of(10000) < 1e-3);
}

TEST_CASE("differences are told") {
  const dk::host_tensor a({2}, {1, 2}), b({2}, {1, 2.001}), c({1, 2}, {1, 2}), nan({2}, {1, 0.0 / 0.0});
  CHECK(harness::difference(a, a, 0) == "");
  CHECK(harness::difference(a, b, 0.01) == "");
  CHECK(harness::difference(a, b, 0.0001).find("element 1") != std::string::npos);
  CHECK(harness::difference(a, c, 1).find("expected f32 [1, 2]") != std::string::npos);
  CHECK(harness::difference(nan, a, 1e9) != "");
  CHECK(harness::difference(nan, nan, 0) == "");
}

TEST_CASE("fusion plans broken on purpose are caught") {
  const dk::schedule good = dk::without<dk::default_pipeline, dk::passes::make_plan>::run(random(9));
  REQUIRE(good.fusion.groups.size() >= 2);
  CHECK(dk::verify(good).str() == "");
  dk::schedule s = good;
  s.fusion.groups.pop_back();
  CHECK(dk::verify(s).str() != "");
  s = good;
  s.fusion.groups.push_back(s.fusion.groups[0]);
  CHECK(dk::verify(s).str().find("stored twice") != std::string::npos);
  s = good;
  s.fusion.groups[0].outputs = {};
  CHECK(dk::verify(s).str() != "");
  s = good;
  s.layouts.pop_back();
  CHECK(dk::verify(s).str() == "there are 10 layouts of 11 values");
}

TEST_CASE("plans broken on purpose are caught") {
  dk::builder b;
  dk::tensor x = b.input("x", dk::f32, {1, 3, 8, 8});
  for (const char* name : {"a", "b", "c"})
    x = dk::relu(dk::conv(x, b.weight(name, {3, 3, 3, 3}), {.pads = {1, 1, 1, 1}}));
  b.output("y", x);
  const dk::plan::plan_draft good = dk::default_pipeline::run(b.value()).plan;
  const auto error_of = [](const dk::plan::plan_draft& plan) { return dk::verify(dk::plan::view_of(plan)).str(); };
  REQUIRE(error_of(good) == "");
  const auto broken_by = [&](const std::function<void(dk::plan::plan_draft&)>& change) {
    dk::plan::plan_draft plan = good;
    change(plan);
    return error_of(plan);
  };
  const auto arena = [](dk::plan::plan_draft& p, std::size_t which) -> dk::plan::buffer& {
    for (dk::plan::buffer& each : p.buffers)
      if (each.where == dk::plan::storage::arena && which-- == 0) return each;
    throw "no such buffer";
  };
  CHECK(broken_by([&](auto& p) { arena(p, 0).offset = arena(p, 1).offset; }).find("overlap") != std::string::npos);
  CHECK(broken_by([&](auto& p) { arena(p, 0).offset += 1 << 20; }).find("outside the arena") != std::string::npos);
  CHECK(broken_by([&](auto& p) { arena(p, 0).layout.before[2] += 1; }).find("elements") != std::string::npos);
  CHECK(broken_by([&](auto& p) { arena(p, 0).layout.order[0] = 1; }) != "");
  CHECK(broken_by([&](auto& p) { p.loads[0].operand = 99; }) != "");
  CHECK(broken_by([&](auto& p) { p.steps[1].kernel = 99; }) != "");
  CHECK(broken_by([&](auto& p) { p.numbers[0] = 99; }) != "");
  CHECK(broken_by([&](auto& p) { p.loads[0].offset = 1 << 20; }).find("leaves its buffer") != std::string::npos);
  const auto joined = [](auto& p) {  // rows with a border between them
    for (dk::plan::view_axis& axis : p.axes) axis.continues = true;
  };
  CHECK(broken_by(joined).find("does not continue") != std::string::npos);
}
