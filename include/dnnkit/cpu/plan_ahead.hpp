// SPDX-License-Identifier: MIT
// What the compiler would make of a graph, found out by the same passes before it runs.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "dnnkit/cpu/families.hpp"
#include "dnnkit/graph/graph.hpp"
#include "dnnkit/pass/pipeline.hpp"

namespace dnnkit::cpu {

namespace ahead {

// Target: named, as units of one program may be compiled for different ones.
template <class Pipeline, class Target> struct passes {
  static dnnkit::graph rewritten(dnnkit::graph g);
  static plan_draft planned(dnnkit::graph g);
  static plan_draft logged(dnnkit::graph g, std::span<const std::string_view> left_out, tuned_table tuned);
};
template <class Pipeline, class Target> dnnkit::graph passes<Pipeline, Target>::rewritten(dnnkit::graph g) {
  return rewriting_of<Pipeline>::run(std::move(g)).g;
}
template <class Pipeline, class Target> plan_draft passes<Pipeline, Target>::planned(dnnkit::graph g) {
  return Pipeline::template run<Target>(std::move(g), cpu::default_families.table).plan;
}
template <class Pipeline, class Target>
plan_draft passes<Pipeline, Target>::logged(dnnkit::graph g, std::span<const std::string_view> left_out,
                                            tuned_table tuned) {
  const family_table families(cpu::default_families.table, tuned);
  return Pipeline::template run_logged<Target>(std::move(g), families, left_out).plan;
}
#ifdef DNNKIT_INSTANTIATED_ELSEWHERE  // a program of several files may compile the passes in one of them
extern template struct passes<default_pipeline, targets::native>;
#endif

}  // namespace ahead

// The graph after all rewriting passes.
template <class Pipeline = default_pipeline, class Target = targets::native> dnnkit::graph rewritten(dnnkit::graph g) {
  return ahead::passes<Pipeline, Target>::rewritten(std::move(g));
}

// The plan that dnnkit::compile of a model with this graph makes; its error says why there is none.
template <class Pipeline = default_pipeline, class Target = targets::native> plan_draft planned(dnnkit::graph g) {
  return ahead::passes<Pipeline, Target>::planned(std::move(g));
}

// The same with its log, for printers (plan/decision.hpp), by all passes but those named in `left_out`, of a model with
// this table of what was measured (cost/tuned.hpp).
template <class Pipeline = default_pipeline, class Target = targets::native>
plan_draft logged_plan(dnnkit::graph g, std::span<const std::string_view> left_out = {}, tuned_table tuned = {}) {
  return ahead::passes<Pipeline, Target>::logged(std::move(g), left_out, tuned);
}

// Empty when dnnkit::compile of a model with this graph makes a plan; else the sentence of its error.
template <class Pipeline = default_pipeline, class Target = targets::native>
std::string reason_not_to_compile(dnnkit::graph g) {
  return planned<Pipeline, Target>(std::move(g)).error.str();
}

}  // namespace dnnkit::cpu
