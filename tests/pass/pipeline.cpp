// SPDX-License-Identifier: MIT
#include "dnnkit/pass/pipeline.hpp"

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "dnnkit/graph/verify.hpp"
#include "dnnkit/pass/verify_schedule.hpp"
#include "tests/support/harness.hpp"
#include "tests/support/random_graph.hpp"

namespace dk = dnnkit;

namespace {

// Every other graph has symbols.
dk::graph graph_from(std::uint64_t seed) {
  dk::builder b;
  random_graph(b, seed, {.least_operators = 2, .most_operators = 12, .symbols = seed % 2 == 1}).build();
  return b.value();
}
std::vector<std::int64_t> symbols_of(const dk::graph& g, const harness::test_data& data) {
  std::vector<std::int64_t> values;
  for (const dk::symbol& s : g.symbols.symbols) values.push_back(data.symbols.at(s.name.str()));
  return values;
}

// Empty when the passes leave the function as it is.
std::string rewriting_error(const dk::graph& g, const dk::graph& after, std::uint64_t seed) {
  const harness::test_data data = harness::random_data(g, seed);
  const auto expected = harness::reference(g, data), found = harness::reference(after, data);
  const auto allowed = harness::tolerances(g, data, expected);
  if (found.size() != expected.size()) return "another number of outputs";
  for (std::size_t k = 0; k < expected.size(); ++k)
    if (const std::string wrong = harness::difference(found[k], expected[k], allowed[k]); !wrong.empty())
      return "output " + std::to_string(k) + ": " + wrong;
  return {};
}

}  // namespace

TEST_CASE("random graphs are legal and differ") {
  std::size_t operators = 0, with_symbols = 0;
  for (const std::uint64_t seed : harness::seeds(0, 500)) {
    CAPTURE(seed);
    const dk::graph g = graph_from(seed);
    REQUIRE(g.error.str() == "");
    REQUIRE(dk::verify(g).str() == "");
    operators += g.nodes.size();
    with_symbols += !g.symbols.symbols.empty();
  }
  if (std::getenv("DNNKIT_SEED") == nullptr) {
    CHECK(operators > 500 * 5);
    CHECK(with_symbols > 100);
  }
}

namespace {

struct as_maximum {  // Relu(x) = Max(x, 0), and nothing but with notes
  static constexpr std::string_view name = "as maximum";
  static constexpr dk::graph run(dk::graph g, dk::plan::decision_notes notes) {
    return dk::rebuild(g, [&](dk::builder& b, const dk::node& n, const dk::rebuilt_inputs& inputs) {
      if (n.op->id != dk::id_of<dk::op::relu>) return dk::tensor{};
      notes.add({name, "replaced", "a maximum says the same"}, g, n);
      return dk::max(inputs[0], b.scalar(0));
    });
  }
};
using with_maximum = decltype(dk::pipeline<as_maximum>{} + dk::default_pipeline{});
static_assert(std::is_same_v<dk::rewriting_of<dk::pipeline<as_maximum>>, dk::pipeline<as_maximum>>);
static_assert(std::is_same_v<dk::planning_of<with_maximum>, dk::planning_of<dk::default_pipeline>>);

// A pass behind another one, and in its place.
using dk::passes::share_reductions, dk::passes::break_long_views, dk::passes::expand_composites;
using three = dk::pipeline<share_reductions, break_long_views, expand_composites>;
static_assert(std::is_same_v<dk::replaced<three, break_long_views, break_long_views, as_maximum>,
                             dk::pipeline<share_reductions, break_long_views, as_maximum, expand_composites>>);
static_assert(std::is_same_v<dk::replaced<three, expand_composites, as_maximum>,
                             dk::pipeline<share_reductions, break_long_views, as_maximum>>);

// The same by names, of which each must be one's.
static_assert(
    std::is_same_v<dk::without_called<three, "break long views", "share reductions">, dk::pipeline<expand_composites>>);
static_assert(std::is_same_v<dk::without_called<three>, three>);
// What programs know of a list when they run.
static_assert(dk::passes_of<three>[2].name == expand_composites::name && !dk::passes_of<three>[2].needed.empty());
static_assert(dk::passes_of<three>[0].name == share_reductions::name && dk::passes_of<three>[0].needed.empty());
static_assert(dk::passes_of<dk::pipeline<>>.empty());

}  // namespace

TEST_CASE("passes left out of a run: the same as a list that lacks them, and the log names them") {
  const std::vector<std::string_view> left_out{"plan fusion", "apply rules"};
  using fewer = dk::without<dk::without<dk::default_pipeline, dk::passes::default_fusion<>>, dk::passes::default_rules>;
  for (const std::uint64_t seed : harness::seeds(0, 300)) {
    CAPTURE(seed);
    const dk::graph g = graph_from(seed);
    const dk::plan::plan_draft found = dk::default_pipeline::run_logged(g, {}, left_out).plan,
                               expected = fewer::run_logged(g).plan;
    CHECK(found.error.str() == expected.error.str());
    CHECK(found.steps.size() == expected.steps.size());
    CHECK(found.recipes.size() == expected.recipes.size());
    CHECK(found.arena_bytes == expected.arena_bytes);
    std::vector<std::string_view> named;
    for (const dk::plan::decision& d : found.decisions)
      if (d.verdict == dk::plan::not_run) named.push_back(d.pass);
    CHECK(named == std::vector<std::string_view>{"apply rules", "plan fusion"});
    CHECK(found.decisions.size() == expected.decisions.size() + 2);
  }
}

TEST_CASE("a pass from graph to graph that takes notes is one of the rewriting passes") {
  dk::builder b;
  b.output("y", dk::relu(b.input("x", dk::f32, {4})));
  const dk::schedule s = dk::rewriting_of<dk::without<with_maximum, dk::passes::default_rules>>::run_logged(b.value());
  REQUIRE(s.g.nodes.size() == 1);
  CHECK(s.g.nodes[0].op->name == "Max");
  CHECK(s.log.decisions[0].pass == as_maximum::name);
}

TEST_CASE("2,000 random graphs mean the same before and after the rewriting passes") {
  for (const std::uint64_t seed : harness::seeds(0, 2000)) {
    const dk::graph g = graph_from(seed);
    const std::string wrong = rewriting_error(g, dk::rewriting_of<dk::default_pipeline>::run(g).g, seed);
    CHECK_MESSAGE(wrong.empty(), "seed " << seed << ": " << wrong << "\n" << harness::describe(g));
  }
}

namespace {

// An edge between two kernels of which nothing says why it was not fused: "Relu -> Conv"; empty when there is none.
std::string unexplained_edge(const dk::schedule& s) {
  const dk::graph& g = s.g;
  const auto setup = dk::setup_values(g);
  std::vector<std::set<const dk::plan::fusion_group*>> homes(g.nodes.size());
  for (const dk::plan::fusion_group& group : s.fusion.groups)
    for (dk::node_id n : group.nodes) homes[static_cast<std::size_t>(n)].insert(&group);
  std::set<std::pair<dk::node_id, dk::node_id>> refused;
  for (const dk::plan::decision& d : s.log.decisions)
    if (d.pass == "plan fusion" && !d.applied && !d.reason.empty()) refused.emplace(d.first, d.second);
  for (dk::node_id n = 0; n < static_cast<dk::node_id>(g.nodes.size()); ++n) {
    const dk::node& reader = g.node_at(n);
    const auto& home = homes[static_cast<std::size_t>(n)];
    if (home.empty() || reader.op->kind == dk::form::movement) continue;
    for (std::size_t i = 0; i < reader.inputs.count; ++i) {
      const dk::value_id v = g.input_of(reader, i);
      dk::node_id p = v == dk::none ? dk::none : g.at(v).producer;
      while (p != dk::none && g.node_at(p).op->kind == dk::form::movement)
        p = g.at(g.input_of(g.node_at(p), 0)).producer;
      if (p == dk::none || setup[g.node_at(p).output] != setup[reader.output]) continue;
      bool together = false;
      for (const dk::plan::fusion_group* other : homes[static_cast<std::size_t>(p)])
        together = together || home.contains(other);
      if (!together && !refused.contains({p, n}))
        return std::string(g.node_at(p).op->name) + " -> " + std::string(reader.op->name);
    }
  }
  return {};
}

}  // namespace

TEST_CASE("every edge between kernels of 1,000 random graphs has a reason") {
  for (const std::uint64_t seed : harness::seeds(0, 1000)) {
    const dk::graph g = graph_from(seed);
    const std::string edge = unexplained_edge(dk::default_pipeline::run_logged(g));
    CHECK_MESSAGE(edge.empty(), "seed " << seed << ": " << edge << "\n" << harness::describe(g));
  }
}

TEST_CASE("what every pass leaves of 6,000 random graphs is legal") {
  for (const std::uint64_t seed : harness::seeds(0, 6000)) {
    const dk::graph g = graph_from(seed);
    const std::vector<std::int64_t> symbols = symbols_of(g, harness::random_data(g, seed));
    std::string wrong;
    dk::default_pipeline::run(g, [&](std::string_view pass, const dk::schedule& s) {
      if (const dk::text verdict = dk::verify(s, symbols); wrong.empty() && !verdict.empty())
        wrong = "after " + std::string(pass) + ": " + verdict.str();
    });
    CHECK_MESSAGE(wrong.empty(), "seed " << seed << ": " << wrong);
  }
}

TEST_CASE("an output that is an input, a weight, computed from weights or given out twice is computed by a node") {
  dk::builder b;
  const dk::tensor x = b.input("x", dk::f32, {2, 3}), w = b.weight("w", {2, 3});
  const dk::tensor y = x + w, fixed = dk::relu(w);
  const dk::tensor given[] = {x, w, fixed, y, y};
  const char* const names[] = {"input", "weight", "setup", "y", "again"};
  for (std::size_t i = 0; i < 5; ++i) b.output(names[i], given[i]);
  const dk::graph g = b.value(), after = dk::passes::separate_outputs::run(g);
  CHECK(dk::verify(after).str() == "");
  for (std::size_t i = 0; i < after.outputs.size(); ++i) {
    CHECK(after.at(after.outputs[i]).from == dk::origin::node);
    for (std::size_t j = 0; j < i; ++j) CHECK(after.outputs[i] != after.outputs[j]);
  }
  const auto setup = dk::setup_values(after);
  for (dk::value_id v : after.outputs) CHECK(setup[static_cast<std::size_t>(v)] == 0);
  CHECK(rewriting_error(g, after, 1) == "");
}

TEST_CASE("a graph with an error gives an empty plan with that error") {
  dk::builder b;
  b.output("y", b.input("x", dk::f32, {2, 3}) + b.input("y", dk::f32, {4}));
  const dk::plan::plan_draft plan = dk::default_pipeline::run(b.value()).plan;
  CHECK(plan.steps.empty());
  CHECK(plan.error.str().find("do not broadcast") != std::string::npos);
}
