// SPDX-License-Identifier: MIT
// What the compiler would make of a graph, found out by the same passes before it runs.
#pragma once

#include <string>
#include <utility>

#include "dnnkit/graph/graph.hpp"
#include "dnnkit/pass/pipeline.hpp"

namespace dnnkit::onnx {

namespace detail {

template <class Pipeline> struct passes_ahead {
  static dnnkit::graph rewritten(dnnkit::graph g);
  static std::string reason_not_to_compile(dnnkit::graph g);
};
template <class Pipeline> dnnkit::graph passes_ahead<Pipeline>::rewritten(dnnkit::graph g) {
  return Pipeline::rewriting::run(std::move(g));
}
template <class Pipeline> std::string passes_ahead<Pipeline>::reason_not_to_compile(dnnkit::graph g) {
  if (!g.error.empty()) return g.error.str();
  return Pipeline::run(g).error.str();
}
#ifdef DNNKIT_ONNX_ELSEWHERE  // a program of several files may compile the passes in one of them
extern template struct passes_ahead<default_pipeline>;
#endif

}  // namespace detail

// The graph after all rewriting passes.
template <class Pipeline = default_pipeline> dnnkit::graph rewritten(dnnkit::graph g) {
  return detail::passes_ahead<Pipeline>::rewritten(std::move(g));
}

// Empty when dnnkit::compile of a model with this graph makes a plan; else the sentence of its error.
template <class Pipeline = default_pipeline> std::string reason_not_to_compile(dnnkit::graph g) {
  return detail::passes_ahead<Pipeline>::reason_not_to_compile(std::move(g));
}

}  // namespace dnnkit::onnx
