// SPDX-License-Identifier: MIT
// Shape inference in one line: static_assert(inferred([](builder& g) { return relu(g.input(...)); }) == "f32 [1, H]").
#pragma once

#include "dnnkit/core/text.hpp"
#include "dnnkit/graph/builder.hpp"

// The element type and shape of the tensor that `build` returns, or the error of the graph.
constexpr dnnkit::text inferred(auto build) {
  dnnkit::builder g;
  const dnnkit::tensor y = build(g);
  if (!g.value().error.empty()) return g.value().error;
  dnnkit::text t;
  return t << dnnkit::name(y.type()) << " " << dnnkit::print(g.value().symbols, y.dims());
}
