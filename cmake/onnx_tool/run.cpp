// SPDX-License-Identifier: MIT
// dnnkit run: a model in the interpreter, from and to .npy files.
#include <fmt/format.h>

#include <filesystem>
#include <iostream>

#include "cmake/onnx_tool/command.hpp"
#include "cmake/onnx_tool/model.hpp"
#include "dnnkit/core/printable.hpp"
#include "dnnkit/fmt.hpp"
#include "dnnkit/weights/npy_name.hpp"

namespace dnnkit::tool {

int run(int argc, char** argv) {
  cxxopts::Options options("dnnkit run",
                           "Runs a model in the interpreter, and writes each output to DIR/NAME.npy: letters, digits "
                           "and . _ - ~ of its name as "
                           "they are, the rest as %XX, as in URLs.");
  add_input_option(options);
  options.add_options()("output", "folder for the outputs", cxxopts::value<std::string>()->default_value("."))(
      "passes", "on: run the graph that the rewriting passes leave; off: the graph as imported",
      cxxopts::value<std::string>()->default_value("on"))(
      "executor", "graph: operator by operator; plan: the kernels of the plan that compile<> makes, in its own buffers",
      cxxopts::value<std::string>()->default_value("graph"));
  const auto arguments = parse(options, argc, argv);
  if (!arguments) return 0;
  const bool plans = is_plan((*arguments)["executor"].as<std::string>());
  const bool passes = is_on((*arguments)["passes"].as<std::string>(), plans);
  const tensors given = inputs_of(*arguments);
  model m = load_to_run(*arguments, given);
  if (passes && !plans) m.imported.graph = rewritten(m.imported.graph);
  const dnnkit::graph& g = m.imported.graph;
  const std::vector<host_tensor> outputs = plans ? execute(m, g, given) : evaluate(m, g, given);
  const std::filesystem::path folder = (*arguments)["output"].as<std::string>();
  std::filesystem::create_directories(folder);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::filesystem::path path = folder / npy_name(g.text_of(g.output_names[i]));
    write_npy(path, outputs[i]);
    fmt::print("{}: {} -> {}\n", printable(g.text_of(g.output_names[i])), outputs[i], printable(path.string()));
  }
  return 0;
}

}  // namespace dnnkit::tool
