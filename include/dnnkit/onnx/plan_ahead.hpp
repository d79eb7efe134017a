// SPDX-License-Identifier: MIT
// Whether a graph can be compiled, found out by the passes that the compiler would run, before it runs.
#pragma once

#include <string>

#include "dnnkit/graph/graph.hpp"
#include "dnnkit/pass/pipeline.hpp"

namespace dnnkit::onnx {

// Empty when dnnkit::compile of a model with this graph makes a plan; else the sentence of its error.
template <class Pipeline = default_pipeline> std::string reason_not_to_compile(dnnkit::graph g) {
  if (!g.error.empty()) return g.error.str();
  return Pipeline::run(g).error.str();
}

}  // namespace dnnkit::onnx
