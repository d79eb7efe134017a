// SPDX-License-Identifier: MIT
// Plans against the graphs they were made of, by the plan executor and the reference evaluator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "dnnkit/core/error.hpp"
#include "dnnkit/pass/verify_schedule.hpp"
#include "dnnkit/reference/plan_executor.hpp"
#include "tests/support/harness.hpp"

namespace harness {

// Empty when the plan computes what the graph does, on random data of this seed.
inline std::string error_of_plan(const dnnkit::graph& g, const dnnkit::plan::plan_draft& plan, std::uint64_t seed) {
  const test_data data = random_data(g, seed);
  const auto expected = reference(g, data);
  const auto allowed = tolerances(g, data, expected);
  std::vector<dnnkit::host_tensor> found;
  try {
    found = dnnkit::execute(dnnkit::plan::view_of(plan), data.inputs, dnnkit::weights_of(data.weights));
  } catch (const dnnkit::error& e) { return e.what(); }
  for (std::size_t k = 0; k < expected.size(); ++k)
    if (std::string wrong = difference(found[k], expected[k], allowed[k]); !wrong.empty()) return wrong;
  return {};
}

// The same of a schedule's plan, which must be legal besides (pass/verify_schedule.hpp).
inline std::string error_of_schedule(const dnnkit::graph& g, const dnnkit::schedule& s, std::uint64_t seed) {
  if (!s.plan.error.empty()) return s.plan.error.str();
  const test_data data = random_data(g, seed);
  std::vector<std::int64_t> symbols;
  for (const dnnkit::symbol& x : s.g.symbols.symbols) symbols.push_back(data.symbols.at(x.name.str()));
  if (const dnnkit::text wrong = dnnkit::verify(s, symbols); !wrong.empty()) return "verify: " + wrong.str();
  return error_of_plan(g, s.plan, seed);
}

}  // namespace harness
