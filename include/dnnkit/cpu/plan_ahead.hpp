// SPDX-License-Identifier: MIT
// What the compiler would make of a graph, found out by the same passes before it runs.
#pragma once

#include <string>
#include <utility>

#include "dnnkit/cpu/families.hpp"
#include "dnnkit/graph/graph.hpp"
#include "dnnkit/pass/pipeline.hpp"

namespace dnnkit::cpu {

namespace ahead {

template <class Pipeline> struct passes {
  static dnnkit::graph rewritten(dnnkit::graph g);
  static plan_draft planned(dnnkit::graph g);
  static plan_draft logged(dnnkit::graph g);
};
template <class Pipeline> dnnkit::graph passes<Pipeline>::rewritten(dnnkit::graph g) {
  return rewriting_of<Pipeline>::run(std::move(g)).g;
}
template <class Pipeline> plan_draft passes<Pipeline>::planned(dnnkit::graph g) {
  return Pipeline::run(std::move(g), cpu::default_families.table).plan;
}
template <class Pipeline> plan_draft passes<Pipeline>::logged(dnnkit::graph g) {
  return Pipeline::run_logged(std::move(g), cpu::default_families.table).plan;
}
#ifdef DNNKIT_INSTANTIATED_ELSEWHERE  // a program of several files may compile the passes in one of them
extern template struct passes<default_pipeline>;
#endif

}  // namespace ahead

// The graph after all rewriting passes.
template <class Pipeline = default_pipeline> dnnkit::graph rewritten(dnnkit::graph g) {
  return ahead::passes<Pipeline>::rewritten(std::move(g));
}

// The plan that dnnkit::compile of a model with this graph makes; its error says why there is none.
template <class Pipeline = default_pipeline> plan_draft planned(dnnkit::graph g) {
  return ahead::passes<Pipeline>::planned(std::move(g));
}

// The same with its log, for printers (plan/decision.hpp).
template <class Pipeline = default_pipeline> plan_draft logged_plan(dnnkit::graph g) {
  return ahead::passes<Pipeline>::logged(std::move(g));
}

// Empty when dnnkit::compile of a model with this graph makes a plan; else the sentence of its error.
template <class Pipeline = default_pipeline> std::string reason_not_to_compile(dnnkit::graph g) {
  return planned<Pipeline>(std::move(g)).error.str();
}

}  // namespace dnnkit::cpu
