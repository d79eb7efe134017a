// SPDX-License-Identifier: MIT
// OPTIONS: -O1
// Each pass of the default pipeline on random graphs: alone, that is beside those that a plan cannot be made without;
// left out of all; and all together. The plan executor runs each plan, the reference evaluator the graph;
// DNNKIT_SEEDS=5000 takes some three minutes.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dnnkit/pass/pipeline.hpp"
#include "dnnkit/reference/plan_executor.hpp"
#include "tests/support/eager_stages.hpp"
#include "tests/support/harness.hpp"
#include "tests/support/random_graph.hpp"

namespace dk = dnnkit;

namespace {

using pipeline = dk::default_pipeline;
constexpr auto families = harness::with_eager_stages<2>.table;

// What a pass may do to elements, as its file says it.
enum class licence { exact, rounds };
struct expectation {
  std::string_view pass;
  licence may;
  int fires_once_in;  // so many random graphs, at least; 0: it only looks, or is for another target
};
constexpr expectation expectations[] = {
    {"propagate values", licence::exact, 100},
    {"byte functions", licence::rounds, 150},
    {"quantised products", licence::rounds, 100},
    {"fold normalizations into convolutions", licence::rounds, 150},
    {"expand composites", licence::exact, 4},
    {"expand powers", licence::rounds, 100},
    {"products of vectors", licence::rounds, 150},
    {"slice gathers", licence::exact, 100},
    {"share reductions", licence::exact, 150},
    {"apply rules", licence::rounds, 4},
    {"join recurrent outputs", licence::exact, 150},
    {"unmerge rows", licence::rounds, 150},
    {"lower transposed convolutions", licence::rounds, 150},
    {"unpad views", licence::exact, 150},
    {"share shifts", licence::rounds, 150},
    {"fold scales into products", licence::rounds, 20},
    {"sum convolutions", licence::rounds, 150},
    {"merge siblings", licence::exact, 150},
    {"read through", licence::exact, 150},
    {"break long views", licence::exact, 150},
    {"separate outputs", licence::exact, 100},
    {"check extents", licence::exact, 0},
    {"plan fusion", licence::exact, 2},
    {"select layouts", licence::exact, 4},
    {"place parts", licence::exact, 150},
    {"join stages", licence::exact, 10},
    {"choose images", licence::exact, 0},
    {"make plan", licence::exact, 6},
    {"choose kernels", licence::exact, 0},
};
constexpr const expectation& expected_of(std::string_view pass) {
  for (const expectation& e : expectations)
    if (e.pass == pass) return e;
  throw "a pass that these tests do not know";
}
constexpr bool all_are_known = [] {
  for (const dk::pass_facts& pass : dk::passes_of<pipeline>) expected_of(pass.name);
  return true;
}();
static_assert(all_are_known && std::size(expectations) == dk::passes_of<pipeline>.size());

// Sources of neighbouring seeds draw the same numbers but for the first: these lie far apart.
dk::graph graph_from(std::uint64_t seed) {
  dk::builder b;
  random_graph(b, seed * 0x2545f4914f6cdd1du,
               {.least_operators = 2,
                .most_operators = 14,
                .symbols = seed % 2 == 1,
                .branches = seed % 4 == 0,
                .chains = true,
                .idioms = true})
      .build();
  return b.value();
}

// The plans of one graph against its meaning.
class comparison {
 public:
  comparison(const dk::graph& g, std::uint64_t seed)
      : data_(harness::random_data(g, seed)),
        expected_(harness::reference(g, data_)),
        allowed_(harness::tolerances(g, data_, expected_)) {}

  struct outcome {
    std::string wrong;
    std::vector<dk::host_tensor> found;
  };
  outcome of(const dk::plan::plan_draft& plan) const {
    outcome o;
    try {
      o.found = dk::execute(dk::plan::view_of(plan), data_.inputs, dk::weights_of(data_.weights));
    } catch (const dk::error& e) {
      o.wrong = e.what();
      return o;
    }
    for (std::size_t k = 0; k < expected_.size() && o.wrong.empty(); ++k)
      if (std::string wrong = harness::difference(o.found[k], expected_[k], allowed_[k]); !wrong.empty())
        o.wrong = "output " + std::to_string(k) + ": " + wrong;
    return o;
  }
  // Where a plan finds other bits than `other` does.
  static std::string difference(const outcome& a, const outcome& other) {
    for (std::size_t k = 0; k < a.found.size(); ++k)
      if (std::string wrong = harness::difference(a.found[k], other.found[k], 0); !wrong.empty())
        return "output " + std::to_string(k) + ", another result than without it: " + wrong;
    return {};
  }

 private:
  harness::test_data data_;
  std::vector<dk::host_tensor> expected_;
  std::vector<double> allowed_;
};

}  // namespace

TEST_CASE("plans of random graphs compute what the graphs do: by all passes, by each alone, and with each left out") {
  const std::vector<std::uint64_t> seeds = harness::seeds(1, 300);
  std::vector<std::string_view> optional;
  for (const dk::pass_facts& pass : dk::passes_of<pipeline>)
    if (pass.needed.empty()) optional.push_back(pass.name);
  std::map<std::string_view, std::size_t> fired;
  std::size_t plans = 0;
  for (const std::uint64_t seed : seeds) {
    const dk::graph g = graph_from(seed);
    const auto check = [&](const std::string& wrong, std::string_view how, std::string_view pass = {}) {
      CHECK_MESSAGE(wrong.empty(), "DNNKIT_SEED=" << seed << ", " << how << " " << pass << ": " << wrong << "\n"
                                                  << harness::describe(g));
    };
    REQUIRE_MESSAGE(g.error.view() == "", "DNNKIT_SEED=" << seed);
    const comparison c(g, seed);
    const auto plan_without = [&](const std::vector<std::string_view>& left_out) {
      ++plans;
      return pipeline::run(g, families, left_out).plan;
    };

    const dk::plan::plan_draft all = pipeline::run_logged(g, families).plan;
    check(c.of(plan_without({})).wrong, "all passes");
    std::map<std::string_view, bool> here;
    for (const dk::plan::decision& d : all.decisions) here[d.pass] = here[d.pass] || d.applied;
    for (const auto& [pass, applied] : here) fired[pass] += applied;

    const comparison::outcome none = c.of(plan_without(optional));
    check(none.wrong, "no pass that can be left out");
    for (const dk::pass_facts& pass : dk::passes_of<pipeline>) {
      const dk::plan::plan_draft left = plan_without({pass.name});
      if (pass.needed.empty() || left.error.empty()) {
        if (!left.steps.empty()) check(c.of(left).wrong, "all passes but", pass.name);
        else CHECK_MESSAGE(!pass.needed.empty(), pass.name);
      }
      if (!pass.needed.empty()) continue;
      std::vector<std::string_view> others = optional;
      std::erase(others, pass.name);
      const comparison::outcome alone = c.of(plan_without(others));
      check(alone.wrong, "alone", pass.name);
      if (expected_of(pass.name).may == licence::exact && alone.wrong.empty() && none.wrong.empty())
        check(comparison::difference(alone, none), "alone", pass.name);
    }
  }
  MESSAGE(seeds.size() << " graphs, " << plans << " plans");
  for (const expectation& e : expectations) {
    MESSAGE(std::string(e.pass) << " fired in " << fired[e.pass] << " graphs");
    if (seeds.size() >= 300 && e.fires_once_in != 0)
      CHECK_MESSAGE(fired[e.pass] * static_cast<std::size_t>(e.fires_once_in) >= seeds.size(), std::string(e.pass));
  }
}
