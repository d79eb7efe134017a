// SPDX-License-Identifier: MIT
// SUPPORT: harness
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
#include "dnnkit/pass/verify_schedule.hpp"
#include "dnnkit/reference/plan_executor.hpp"
#include "tests/support/harness.hpp"
#include "tests/support/random_graph.hpp"

namespace dk = dnnkit;

namespace {

void require(const std::string& wrong, const std::string& what, const dk::graph& g) {
  if (wrong.empty()) return;
  std::cerr << what << ": " << wrong << "\n" << harness::describe(g) << std::flush;
  std::abort();
}

std::string difference(const std::vector<dk::host_tensor>& found, const std::vector<dk::host_tensor>& expected,
                       const std::vector<double>& allowed) {
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

  const harness::test_data data = harness::random_data(g, 1);
  std::vector<std::int64_t> symbols;
  for (const dk::symbol& each : g.symbols.symbols) symbols.push_back(data.symbols.at(each.name.str()));
  const dk::schedule s = dk::default_pipeline::run(g, [&](std::string_view pass, const dk::schedule& left) {
    require(dk::verify(left, symbols).str(), std::string(pass), g);
  });
  const auto expected = harness::reference(g, data);
  const auto allowed = harness::tolerances(g, data, expected);
  require(difference(harness::reference(s.g, data), expected, allowed), "the rewritten graph's results", g);
  require(
      difference(dk::execute(dk::plan::view_of(s.plan), data.inputs, dk::weights_of(data.weights)), expected, allowed),
      "the plan's results", g);
  return 0;
}
