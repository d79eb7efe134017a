// SPDX-License-Identifier: MIT
// dnnkit dot: a model's operators and kernels as Graphviz text.
#include "dnnkit/inspect/dot.hpp"

#include <iostream>
#include <utility>

#include "cmake/onnx_tool/command.hpp"
#include "cmake/onnx_tool/model.hpp"
#include "dnnkit/core/printable.hpp"
#include "dnnkit/onnx/layer_names.hpp"
#include "dnnkit/onnx/plan_ahead.hpp"

namespace dnnkit::tool {

int dot(int argc, char** argv) {
  cxxopts::Options options("dnnkit dot", "Prints a model's operators, grouped into kernels, as a Graphviz digraph.");
  add_input_option(options);
  const auto arguments = parse(options, argc, argv);
  if (!arguments) return 0;
  const model m = load_supported(*arguments, inputs_of(*arguments));
  const plan_draft plan = onnx::logged_plan(onnx::with_names_of_layers(m.imported.graph));
  std::cout << printable(planned_or_refused([&] { return dnnkit::dot(view_of(plan)); }), line_feeds::kept);
  return 0;
}

}  // namespace dnnkit::tool
