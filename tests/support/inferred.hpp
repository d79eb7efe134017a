// SPDX-License-Identifier: MIT
// Shape inference in one line: static_assert(inferred([](builder& g) { return relu(g.input(...)); }) == "f32 [1, H]").
#pragma once

#include "dnnkit/core/text.hpp"
#include "dnnkit/graph/builder.hpp"

// The element type and shape of the tensor that `build` returns, or the error of the graph without the words that say
// where that is: "Conv: what is wrong".
constexpr dnnkit::text inferred(auto build) {
  dnnkit::builder g;
  const dnnkit::tensor y = build(g);
  dnnkit::text t;
  if (const dnnkit::graph& wrong = g.value(); !wrong.error.empty())
    return wrong.wrong == dnnkit::none ? wrong.error
                                       : t << wrong.error.view().substr(0, wrong.error.view().find(" (node ")) << ": "
                                           << wrong.error.view().substr(wrong.error_reason);
  return t << dnnkit::name(y.type()) << " " << dnnkit::print(g.value().symbols, y.dims());
}
