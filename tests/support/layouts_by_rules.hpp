// SPDX-License-Identifier: MIT
// Layouts by rules, as larger networks have them. In a graph of few values costs are asked of all; images as small as
// those of tests are then often stored row-major, and a test would go over other kernels than it is written for.
#pragma once

#include "dnnkit/compile.hpp"

namespace harness {

template <class Pipeline = dnnkit::default_pipeline>
using layouts_by_rules =
    dnnkit::replaced<Pipeline, dnnkit::passes::select_layouts, dnnkit::passes::select_layouts_by_rules>;
template <class Model>
using compile_by_rules = dnnkit::compile<Model, typename dnnkit::detail::target_of<Model>::type,
                                         layouts_by_rules<typename dnnkit::detail::pipeline_of<Model>::type>>;

}  // namespace harness
