// SPDX-License-Identifier: MIT
// dnnkit run: a model in the interpreter, from and to .npy files.
#include <fmt/format.h>

#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "cmake/onnx_tool/command.hpp"
#include "cmake/onnx_tool/model.hpp"
#include "dnnkit/core/printable.hpp"
#include "dnnkit/fmt.hpp"
#include "dnnkit/weights/npy_name.hpp"

namespace dnnkit::tool {

namespace {

// The names of the files of the outputs; of each that is not called after its output a line on standard error.
std::vector<std::string> files_of_outputs(const dnnkit::graph& g) {
  std::vector<std::string> names;
  for (const slice_of name : g.output_names) names.emplace_back(g.text_of(name));
  std::vector<std::string> files = npy_names_of_outputs(names);
  for (std::size_t i = 0; i < files.size(); ++i)
    if (files[i] != npy_name(names[i])) std::cerr << describe_numbered_file(names[i], files[i]);
  return files;
}

}  // namespace

int run(int argc, char** argv) {
  cxxopts::Options options("dnnkit run",
                           "Runs a model in the interpreter, and writes each output to DIR/NAME.npy: letters, digits "
                           "and . _ - ~ of its name as "
                           "they are, the rest as %XX, as in URLs; out_0.npy is the first output where its name is "
                           "too long for a file.");
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
  const std::filesystem::path folder = (*arguments)["output"].as<std::string>();
  const std::vector<std::string> files = files_of_outputs(g);
  for (const std::string& file : files) refuse_to_replace_read(*arguments, m, "--output", folder / file);
  const std::vector<host_tensor> outputs = plans ? execute(m, g, given) : evaluate(m, g, given);
  std::filesystem::create_directories(folder);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::filesystem::path path = folder / files[i];
    write_npy(path, outputs[i]);
    fmt::print("{}: {} -> {}\n", printable(g.text_of(g.output_names[i])), outputs[i], printable(path.string()));
  }
  return 0;
}

}  // namespace dnnkit::tool
