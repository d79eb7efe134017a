// SPDX-License-Identifier: MIT
// dnnkit explain: the tensors of a model with their symbolic shapes, operators by kind, and what the passes make of
// them.
#include "dnnkit/inspect/explain.hpp"
#include "dnnkit/fmt.hpp"
#include "dnnkit/inspect/explain_json.hpp"

#include <fmt/format.h>

#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "cmake/onnx_generator/opencl_kernels.hpp"
#include "cmake/onnx_tool/command.hpp"
#include "cmake/onnx_tool/model.hpp"
#include "cmake/onnx_tool/plan_options.hpp"
#include "dnnkit/core/printable.hpp"
#include "dnnkit/graph/walk.hpp"

namespace dnnkit::tool {

namespace {

void print_symbols(const dnnkit::graph& g) {
  for (const symbol& s : g.symbols.symbols) {
    const std::string most = s.limits.max < bounds{}.max ? fmt::format(" to {}", s.limits.max) : std::string();
    fmt::print("symbol {}: from {}{}\n", printable(s.name.view()), s.limits.min, most);
  }
}

void print_tensors(const dnnkit::graph& g) {
  const auto line = [&](std::string_view kind, std::string_view name, const tensor_type& t) {
    fmt::print("{} {}: {} {}\n", kind, printable(name), t.type, printable(dnnkit::print(g.symbols, t.dims).view()));
  };
  const vector<std::uint8_t> alive = live_nodes(g);
  for (value_id v : g.inputs) line("input", g.name_of(v), g.at(v).type);
  for (std::size_t n = 0; n < g.nodes.size(); ++n)
    if (alive[n]) line(g.nodes[n].op->name, g.text_of(g.nodes[n].name), g.at(g.nodes[n].output).type);
  for (std::size_t i = 0; i < g.outputs.size(); ++i)
    line("output", g.text_of(g.output_names[i]), g.at(g.outputs[i]).type);
}

void print_kinds(const onnx::file& f, const dnnkit::graph& g) {
  struct counts {
    std::size_t file = 0, graph = 0;
  };
  std::map<std::string_view, counts> kinds;
  for (const onnx::node& n : f.model().graph.nodes) ++kinds[n.op_type].file;
  const vector<std::uint8_t> alive = live_nodes(g);
  for (std::size_t n = 0; n < g.nodes.size(); ++n)
    if (alive[n]) ++kinds[g.nodes[n].op->name].graph;
  counts all;
  fmt::print("operators            in the file  in the graph\n");
  const auto row = [](std::string_view name, const counts& c) {
    fmt::print("{:<20}{:>12}{:>14}\n", printable(name), c.file, c.graph);
  };
  for (const auto& [name, c] : kinds) {
    row(name, c);
    all.file += c.file;
    all.graph += c.graph;
  }
  row("all", all);
}

}  // namespace

int explain(int argc, char** argv) {
  cxxopts::Options options(
      "dnnkit explain",
      "Prints the symbols and tensors of a model, its operators by kind before and after what computes shapes "
      "was computed, and the kernels that the passes make of them, with reasons.");
  add_input_option(options);
  add_plan_options(options);
  options.add_options()("counts", "only the operators by kind")("tensors", "only the symbols and tensors")(
      "json", "kernels, decisions and totals as one JSON object")(
      "texts", "only the kernels that a program of `dnnkit build --target` opencl, or opencl_images, has: in OpenCL C",
      cxxopts::value<std::string>());
  const auto arguments = parse(options, argc, argv);
  if (!arguments) return 0;
  for (const char* part : {"counts", "tensors", "texts"})
    if (arguments->count("json") != 0 && arguments->count(part) != 0)
      throw error("is a part of the text, which --json replaces", fmt::format("--{}", part));
  const plan_options by = plan_options_of(*arguments);  // before anything is printed
  const std::string texts = arguments->count("texts") != 0 ? (*arguments)["texts"].as<std::string>() : "opencl";
  if (texts != "opencl" && texts != "opencl_images")
    throw error("is no target whose kernels are texts", "--texts", "opencl or opencl_images", texts);
  for (const char* other : {"isa", "target"})
    if (arguments->count("texts") != 0 && arguments->count(other) != 0)
      throw error("says what to plan for, which --texts does, too", fmt::format("--{}", other));
  const model m = load_supported(*arguments, inputs_of(*arguments));
  const dnnkit::graph& g = m.imported.graph;
  if (arguments->count("texts") != 0) {
    refuse_uncompilable(m);
    std::cout << printable(onnx::texts_for_opencl(with_names_for_logs(g), by.left_out, texts == "opencl_images"),
                           line_feeds::kept);
    return 0;
  }
  if (arguments->count("json") != 0) {
    const plan::plan_draft plan = logged_plan(m, by);
    std::cout << explain_json(view_of(plan));
    return 0;
  }
  const bool counts = arguments->count("counts") != 0, list = arguments->count("tensors") != 0, all = !counts && !list;
  if (all || list) {
    print_symbols(g);
    print_tensors(g);
  }
  if (all || counts) print_kinds(*m.file, g);
  if (!all) return 0;
  const plan::plan_draft plan = logged_plan(m, by);
  std::cout << printable(dnnkit::explain(view_of(plan)), line_feeds::kept);
  return 0;
}

}  // namespace dnnkit::tool
