// SPDX-License-Identifier: MIT
// What a rewriting pass leaves for each run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "dnnkit/graph/verify.hpp"
#include "dnnkit/pass/pipeline.hpp"
#include "tests/support/harness.hpp"

namespace harness {

// The operators that a run of the graph computes behind First and Pass, but for movement, by name: those that depend on
// weights alone are computed before. What is wrong where the graph is then not legal, or computes something else.
template <class Pass, class First = dnnkit::passes::expand_composites>
std::string left_operators(const dnnkit::graph& model, std::uint64_t seed = 1) {
  if (!model.error.empty()) return model.error.str();
  const dnnkit::graph g = First::run(model), after = Pass::run(g);
  if (const dnnkit::text wrong = dnnkit::verify(after); !wrong.view().empty()) return wrong.str();
  const test_data data = random_data(g, seed);
  const auto expected = reference(g, data), found = reference(after, data);
  const auto allowed = tolerances(g, data, expected);
  for (std::size_t k = 0; k < expected.size(); ++k)
    if (const std::string wrong = difference(found[k], expected[k], allowed[k]); !wrong.empty())
      return wrong + " (seed " + std::to_string(seed) + ")";
  const auto setup = dnnkit::setup_values(after), alive = dnnkit::live_nodes(after);
  std::string operators;
  for (std::size_t k = 0; k < after.nodes.size(); ++k) {
    const dnnkit::node& n = after.nodes[k];
    if (alive[k] == 0 || setup[static_cast<std::size_t>(n.output)] != 0 || n.op->kind == dnnkit::form::movement)
      continue;
    if (!operators.empty()) operators += " ";
    operators += n.op->name;
  }
  return operators;
}
template <class Pass, class First = dnnkit::passes::expand_composites> std::string left_operators(auto build) {
  dnnkit::builder b;
  build(b);
  return left_operators<Pass, First>(b.value());
}

}  // namespace harness
