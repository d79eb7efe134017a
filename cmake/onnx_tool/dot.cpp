// SPDX-License-Identifier: MIT
// dnnkit dot: a model's operators and kernels as Graphviz text.
#include "dnnkit/inspect/dot.hpp"

#include <iostream>
#include <utility>

#include "cmake/onnx_tool/command.hpp"
#include "cmake/onnx_tool/model.hpp"
#include "cmake/onnx_tool/plan_options.hpp"
#include "dnnkit/core/printable.hpp"

namespace dnnkit::tool {

int dot(int argc, char** argv) {
  cxxopts::Options options("dnnkit dot", "Prints a model's operators, grouped into kernels, as a Graphviz digraph.");
  add_input_option(options);
  add_plan_options(options);
  const auto arguments = parse(options, argc, argv);
  if (!arguments) return 0;
  const plan_options by = plan_options_of(*arguments);
  const model m = load_supported(*arguments, inputs_of(*arguments));
  const plan::plan_draft plan = logged_plan(m, by);
  std::cout << printable(dnnkit::dot(view_of(plan)), line_feeds::kept);
  return 0;
}

}  // namespace dnnkit::tool
