// SPDX-License-Identifier: MIT
// The log of a plan: that its rows fit the plan, and what it says of both example networks.
#include "dnnkit/pass/write_log.hpp"

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dnnkit/pass/pipeline.hpp"
#include "tests/support/harness.hpp"
#include "tests/support/models.hpp"
#include "tests/support/random_graph.hpp"

namespace dk = dnnkit;

namespace {

dk::plan::plan_draft logged(const dk::graph& g) { return dk::default_pipeline::run_logged(g).plan; }

// "folded Mul 'bn1' into Conv 'conv1'"
std::vector<std::string> rewritings(const dk::plan::plan_draft& p) {
  std::vector<std::string> list;
  for (const dk::plan::decision& d : p.decisions)
    if (d.operators.count != 0)
      list.push_back(std::string(d.verdict) + " " + std::string(p.text_of(d.operators)) + " into " +
                     std::string(p.text_of(d.result)) + (d.by.count != 0 ? " by " : "") + std::string(p.text_of(d.by)));
  return list;
}
// The decisions of a pass about values: "Relu: channels last" each, and the costs compared.
struct about_value {
  std::string says;
  std::vector<double> costs;
};
std::vector<about_value> about_values(const dk::plan::plan_draft& p, std::string_view pass) {
  std::vector<about_value> list;
  for (const dk::plan::decision& d : p.decisions) {
    if (d.pass != pass || d.value == dk::none) continue;
    about_value x{std::string(p.text_of(p.log_values[d.value].name)) + ": " + std::string(d.verdict), {}};
    for (const dk::plan::compared_cost& c : p.part<dk::plan::compared_cost>(p.costs, d.costs))
      x.costs.push_back(c.amount);
    list.push_back(x);
  }
  return list;
}

// What is wrong with the log of a plan of `g`; empty when nothing is.
std::string log_error(const dk::graph& g) {
  const dk::plan::plan_draft plan = dk::default_pipeline::run(g).plan, with_log = logged(g);
  const auto kernels = plan.setup_steps.size() + plan.steps.size();
  if (!plan.log_kernels.empty() || !plan.decisions.empty()) return "a log that nobody asked for";
  if (with_log.log_kernels.size() != kernels) return "not one row a kernel";
  if (with_log.arena_bytes != plan.arena_bytes) return "another plan than without a log";
  for (std::size_t k = 0; k < kernels; ++k) {
    const auto step_of = [&](const dk::plan::plan_draft& p) -> const dk::plan::step& {
      return k < p.setup_steps.size() ? p.setup_steps[k] : p.steps[k - p.setup_steps.size()];
    };
    const dk::plan::step& s = step_of(with_log);
    const auto nodes = with_log.numbers_of(s.nodes), expected = plan.numbers_of(step_of(plan).nodes),
               operators = with_log.numbers_of(with_log.log_stages[with_log.log_kernels[k].stages.first].operators);
    if (!std::equal(nodes.begin(), nodes.end(), expected.begin(), expected.end())) return "other kernels";
    std::vector<dk::node_id> sorted(operators.begin(), operators.end());
    std::sort(sorted.begin(), sorted.end());
    if (!std::equal(sorted.begin(), sorted.end(), nodes.begin(), nodes.end())) return "not the operators of its step";
    for (std::size_t i = 0; i < operators.size(); ++i)  // each behind what it reads of the kernel
      for (dk::value_id v : with_log.numbers_of(with_log.log_nodes[operators[i]].inputs)) {
        const dk::node_id p = v == dk::none ? dk::none : with_log.log_values[v].producer;
        if (std::find(operators.begin() + static_cast<std::ptrdiff_t>(i), operators.end(), p) != operators.end())
          return "an operator in front of what it reads";
      }
  }
  if (with_log.is_static) {  // what the arena holds, and what stages hand over as a whole, is written once
    const auto is_whole = [](std::uint16_t n) { return n == 0; };
    std::int64_t in_arena = 0, written = 0;
    for (const dk::plan::buffer& b : with_log.buffers)
      if (b.where == dk::plan::storage::arena ||
          (b.where == dk::plan::storage::tiles && std::all_of(b.layout.part.begin(), b.layout.part.end(), is_whole))) {
        std::int64_t bytes = static_cast<std::int64_t>(size_of(b.type.type));
        for (dk::dim d : b.type.dims) bytes *= d.value();
        in_arena += bytes;
      }
    for (const dk::plan::logged_kernel& k : with_log.log_kernels) written += k.intermediates_written.value();
    if (written != in_arena) return "other bytes written than there are in the arena";
  }
  for (const dk::plan::decision& d : with_log.decisions) {
    if (d.pass.empty() || d.verdict.empty() || d.reason.empty()) return "a decision without a reason";
    const auto nodes = static_cast<dk::node_id>(with_log.log_nodes.size());
    if (d.first >= nodes || d.second >= nodes || d.value >= static_cast<dk::value_id>(with_log.log_values.size()))
      return "a decision about nothing";
    if (d.operators.first + d.operators.count > with_log.characters.size() ||
        d.result.first + d.result.count > with_log.characters.size() ||
        d.costs.first + d.costs.count > with_log.costs.size())
      return "a decision whose words are not there";
  }
  return {};
}

struct silent {
  static constexpr std::string_view name = "silent";
  static constexpr dk::graph run(dk::graph g) { return g; }
};

}  // namespace

TEST_CASE("the logs of 1,000 random graphs fit their plans, which are those without a log") {
  for (const std::uint64_t seed : harness::seeds(0, 1000)) {
    dk::builder b;
    random_graph(b, seed, {.least_operators = 2, .most_operators = 12, .symbols = seed % 2 == 1}).build();
    const std::string wrong = log_error(b.value());
    CHECK_MESSAGE(wrong.empty(), "seed " << seed << ": " << wrong << "\n" << harness::describe(b.value()));
  }
}

TEST_CASE("digits: what was rewritten, how the values lie and where") {
  const dk::plan::plan_draft p = logged(dk::graph_of<models::digits>());
  const std::vector<std::string> list = rewritings(p);
  const auto place_of = [&](std::string_view what) { return std::find(list.begin(), list.end(), what) - list.begin(); };
  const auto times = [&](std::string_view what) { return std::count(list.begin(), list.end(), what); };
  CHECK(times("expanded Gemm 'fc' into Transpose, MatMul, Add") == 1);
  for (const std::string n : {"1", "2", "3"}) {
    const std::string folded = "folded BatchNormalization 'bn" + n + "' into Conv 'conv" + n + "'";
    CHECK(times(folded) == 1);
    CHECK(place_of(folded) < place_of("expanded Gemm 'fc' into Transpose, MatMul, Add"));  // in the order of the passes
  }
  for (const std::string pool : {"MaxPool", "MaxPool #2"})  // of the Relus that stand before pools
    CHECK(times("rewritten " + pool + " into MaxPool, Relu by MaxPool(Relu(a))[p] = Relu(MaxPool(a)[p]), exact") == 1);

  const auto layouts = about_values(p, "select layouts");
  const auto says = [&](std::string_view what) {
    return std::count_if(layouts.begin(), layouts.end(), [&](const about_value& x) { return x.says == what; });
  };
  CHECK(says("Relu: channels last") == 1);  // the two others are of the kernels of the pools behind them
  CHECK(says("MaxPool: channels last") == 1);
  CHECK(says("MaxPool #2: channels last") == 1);
  CHECK(says("conv2: channels last") == 1);
  CHECK(says("conv3: channels last") == 1);
  CHECK(says("MaxPool: halo") == 1);
  CHECK(says("Relu: halo") == 1);
  CHECK(layouts.size() == 8);  // and the last, which is an output
  CHECK(p.totals[0].operators == 13);
  CHECK(p.totals[0].flops == dk::dim(919'040));
  CHECK(p.totals[0].bytes_of_intermediates == dk::dim(46'080));

  const auto places = about_values(p, "make plan");
  REQUIRE(places.size() == 5);
  std::int64_t end = 0;
  for (const about_value& x : places) end = std::max(end, static_cast<std::int64_t>(x.costs[0] + x.costs[1]));
  CHECK(end == p.arena_bytes);
}

TEST_CASE("wdsr: sizes are expressions") {
  const dk::plan::plan_draft p = logged(dk::graph_of<models::wdsr>());
  const dk::symbol_table table = dk::plan::table_of(dk::plan::view_of(p));
  CHECK(table.print(p.totals[0].flops).str() == "181711*H*W");
}

TEST_CASE("an operator that no output depends on is left out, and a pass that says nothing is noted all the same") {
  dk::builder b;
  const dk::tensor x = b.input("x", dk::f32, {2, 3});
  static_cast<void>(b.named("forgotten", dk::relu(x)));
  b.output("y", dk::exp(x));
  CHECK(rewritings(logged(b.value())) == std::vector<std::string>{"left out Relu 'forgotten' into "});

  const auto s = decltype(dk::pipeline<silent>{} + dk::default_pipeline{})::run_logged(b.value());
  REQUIRE(!s.log.decisions.empty());
  CHECK(s.log.decisions[0].pass == "silent");
  CHECK(s.log.costs[0].amount == 2);
}
