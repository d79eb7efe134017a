// SPDX-License-Identifier: MIT
// dnnkit generate: a model as C++ source.
#include <iostream>
#include <string>
#include <vector>

#include "cmake/onnx_tool/command.hpp"
#include "cmake/onnx_tool/instruction_sets.hpp"
#include "cmake/onnx_tool/model.hpp"
#include "cmake/onnx_tool/plan_options.hpp"
#include "cmake/onnx_tool/tuned_rows.hpp"
#include "dnnkit/core/printable.hpp"
#include "dnnkit/onnx/generate_files.hpp"
#include "dnnkit/source/identifiers.hpp"

namespace dnnkit::tool {

int generate(int argc, char** argv) {
  cxxopts::Options options("dnnkit generate",
                           "Writes a model as C++: NAME.hpp with the model, NAME_weights.hpp, which opens its weights, "
                           "and main.cpp, a program around both.");
  options.add_options()("o,output", "folder to write to", cxxopts::value<std::string>())(
      "name", "what to call the model, by default after its file", cxxopts::value<std::string>());
  add_left_out_option(options);
  add_tuned_option(options);
  add_feedback_option(options);
  add_input_option(options);
  const auto arguments = parse(options, argc, argv);
  if (!arguments) return 0;
  if (!arguments->count("output")) throw error("is missing", "--output");
  const std::vector<std::string_view> left_out = left_out_of(*arguments);
  const model m = load_compilable(*arguments, inputs_of(*arguments));
  const plan_options by{.left_out = left_out, .tuned = tuned_rows_of(*arguments)};
  if (!left_out.empty()) static_cast<void>(logged_plan(m, by));  // or why there is none
  std::vector<std::string> isas;                                 // that the model may be compiled for
  for (const instruction_set& set : instruction_sets) isas.emplace_back(set.name);
  const std::vector<tuned_row> tuned = rows_for_kernels(m, by, isas);
  using path = std::filesystem::path;
  const path source = (*arguments)["model"].as<std::string>(), folder = (*arguments)["output"].as<std::string>();
  const std::vector<onnx::feedback_names> feedbacks = feedbacks_of(*arguments, m.imported.graph);
  const std::string name =
      arguments->count("name") == 0 ? onnx::model_name(source) : (*arguments)["name"].as<std::string>();
  if (!generation::is_type_name(name))
    throw error("is no name for a struct", "--name", {}, dnnkit::detail::quoted(name));
  const path header = folder / (name + ".hpp"), weights = folder / (name + "_weights.hpp"), main = folder / "main.cpp";
  for (const path& file : {header, weights, main}) refuse_to_replace_read(*arguments, m, "--output", file);
  std::filesystem::create_directories(folder);
  onnx::write_if_changed(header, onnx::model_header(m.imported.graph, name, source, {}, {}, feedbacks, left_out,
                                                    onnx::program_target::cpu, table_of(tuned)));
  onnx::write_if_changed(weights, onnx::weights_header(name, source, linked_data_of(*arguments)));
  onnx::write_if_changed(main, onnx::program_source(name, source, linked_data_of(*arguments)));
  std::cout << printable(header.string()) << "\n";
  return 0;
}

}  // namespace dnnkit::tool
