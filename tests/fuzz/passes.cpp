// SPDX-License-Identifier: MIT
// SUPPORT: harness plan_checks
// libFuzzer target of the pass pipeline: any bytes are choices that make a legal graph; what the passes leave of it is
// legal, means the same, and its plan keeps its promises.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <span>
#include <string>
#include <vector>

#include "dnnkit/graph/verify.hpp"
#include "dnnkit/pass/pipeline.hpp"
#include "tests/support/harness.hpp"
#include "tests/support/plan_checks.hpp"
#include "tests/support/random_graph.hpp"

namespace dk = dnnkit;

namespace {

void require(const std::string& wrong, const char* what, const dk::graph& g) {
  if (wrong.empty()) return;
  std::cerr << what << ": " << wrong << "\n" << harness::describe(g) << std::flush;
  std::abort();
}

std::string difference(const dk::graph& g, const dk::graph& after, const harness::test_data& data) {
  const auto expected = harness::reference(g, data), found = harness::reference(after, data);
  const auto allowed = harness::tolerances(g, data, expected);
  if (found.size() != expected.size()) return "another number of outputs";
  for (std::size_t k = 0; k < expected.size(); ++k)
    if (std::string wrong = harness::difference(found[k], expected[k], allowed[k]); !wrong.empty()) return wrong;
  return {};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* input, std::size_t size) {
  const std::span<const std::uint8_t> choices(input, size);
  dk::builder b;
  random_graph(b, random_source(choices), {.symbols = size % 2 == 1}).build();
  const dk::graph& g = b.value();
  require(g.error.str(), "the graph", g);
  require(dk::verify(g).str(), "the graph", g);

  using stages = dk::default_pipeline;
  const harness::test_data data = harness::random_data(g, 1);
  dk::graph after = stages::rewriting::run(g);
  require(dk::verify(after).str(), "the rewritten graph", g);
  require(difference(g, after, data), "its results", g);

  const dk::fusion_plan fusion = stages::fusion::run(after);
  require(harness::fusion_error(after, fusion), "fusion", g);
  std::vector<std::int64_t> symbols;
  for (const dk::symbol& s : after.symbols.symbols) symbols.push_back(data.symbols.at(s.name.str()));
  const dk::plan_draft plan = dk::make_plan(after, fusion, stages::layouts::run(after, fusion));
  require(harness::plan_error(plan, symbols), "the plan", g);
  return 0;
}
