// SPDX-License-Identifier: MIT
// Generates the C++ of conformance_compiled: ONNX's backend tests as models, some dozens a file.
#include <algorithm>
#include <cxxopts.hpp>
#include <fstream>
#include <iostream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "dnnkit/cpu/plan_ahead.hpp"
#include "dnnkit/onnx/generate_files.hpp"
#include "dnnkit/onnx/import.hpp"
#include "tests/conformance/status.hpp"
#include "tests/conformance/test_case.hpp"

namespace {

namespace dk = dnnkit;
using dk::conformance::test_case;

// A test as part of a file.
struct part {
  std::string name, definition, build, entry;
};

using tensors = std::map<std::string, dk::host_tensor, std::less<>>;

// The graph of a model for the sizes of the data set, with the inputs that decide shapes taken from it. (An extent of 0
// or less is open, as the importer has it.)
dk::onnx::import_result import_with(dk::onnx::file& f, const tensors& given) {
  dk::onnx::import_options options;
  for (const dk::onnx::value_info& i : f.model().graph.inputs) {
    const auto found = given.find(i.name);
    if (found == given.end() || !i.shape) continue;
    for (std::size_t d = 0; d < i.shape->size() && d < found->second.dims.size(); ++d)
      if (const auto& x = (*i.shape)[d]; !x.value || *x.value <= 0)
        options.sizes[x.symbol.empty() ? std::string(i.name) + "." + std::to_string(d) : std::string(x.symbol)] =
            found->second.dims[d];
  }
  while (true) {
    dk::onnx::import_result imported = dk::onnx::import_model(f, options);
    bool more = false;
    for (const std::string& name : imported.inputs_to_bind)
      if (const auto found = given.find(name); found != given.end()) more |= options.bind.emplace(*found).second;
    if (imported.ok() || !more) return imported;
  }
}

// Gives every input, output and weight a name that no other test has: "test/name".
void qualify(dk::graph& g, const std::string& test) {
  for (std::size_t v = 0; v < g.values.size(); ++v)
    if (g.values[v].from == dk::origin::input || g.values[v].from == dk::origin::weight)
      g.values[v].name = g.store(test + "/" + std::string(g.text_of(g.values[v].name)));
  for (std::size_t i = 0; i < g.output_names.size(); ++i)
    g.output_names[i] = g.store(test + "/" + std::string(g.text_of(g.output_names[i])));
}

// NAME.safetensors: what the test's graph reads as weights, wherever in the model that is.
void save_weights(dk::onnx::file& f, const dk::onnx::import_result& imported, const std::filesystem::path& path,
                  const std::string& test) {
  std::vector<dk::onnx::tensor_bytes> elements;
  std::vector<std::string> names;
  for (const auto& [name, data] : imported.weights) {
    elements.push_back(f.elements(*data));
    names.push_back(test + "/" + name);
  }
  if (names.empty()) return;
  std::vector<dk::stored_tensor> stored;
  for (std::size_t i = 0; i < names.size(); ++i) {
    stored.push_back(elements[i].tensor());
    stored.back().name = names[i];
  }
  dk::save_safetensors(path, stored);
}

part part_of(const test_case& t, const std::filesystem::path& set, std::size_t number,
             const std::filesystem::path& out) {
  dk::onnx::file f(t.folder / "model.onnx");
  const auto declared = f.model().graph.inputs;
  const auto given = dk::conformance::read_tensors(set, "input_", declared);
  tensors by_name;
  for (std::size_t i = 0; i < given.size(); ++i) by_name.emplace(std::string(declared[i].name), given[i]);
  dk::onnx::import_result imported = import_with(f, by_name);
  if (!imported.ok()) throw dk::error(imported.problems.front().describe(), t.name);
  if (const std::string problem = dk::cpu::reason_not_to_compile(imported.graph); !problem.empty())
    throw dk::error(problem, t.name);
  const std::string name = t.name + (set.filename() == "test_data_set_0" ? "" : "." + set.filename().string());
  save_weights(f, imported, out / (name + ".safetensors"), name);
  std::string inputs;
  for (dk::value_id v : imported.graph.inputs)
    inputs += (inputs.empty() ? "" : ", ") + dk::generation::string_literal(imported.graph.name_of(v));
  qualify(imported.graph, name);
  const std::string model = "model_" + std::to_string(number);
  return {name, "// " + name + "\n" + dk::generation::generate_model(imported.graph, model) + "\n",
          model + "::build(g);",
          "{" + dk::generation::string_literal(t.name) + ", " + dk::generation::string_literal(t.folder.string()) +
              ", " + dk::generation::string_literal(set.filename().string()) + ", {" + inputs + "}, " +
              std::to_string(imported.graph.outputs.size()) + "}"};
}

void write_group(const std::filesystem::path& path, const std::vector<part>& parts) {
  std::string s =
      "// Generated: backend tests of ONNX.\n#include <array>\n#include <cstdint>\n#include <limits>\n#include <span>\n"
      "#include <string_view>\n\n#include \"dnnkit/graph.hpp\"\n#include \"tests/conformance/compiled_group.hpp\"\n\n"
      "namespace dk = dnnkit;\n\nnamespace {\n\n";
  for (const part& p : parts) s += p.definition;
  s += "struct all {\n  static constexpr void build(dk::builder& g) {\n";
  for (const part& p : parts) s += "    " + p.build + "\n";
  s += "  }\n};\n\nconst dk::conformance::registration tests({\n";
  for (const part& p : parts) s += "    " + p.entry + ",\n";
  dk::onnx::write_if_changed(path, s + "}, dk::conformance::run_group<dk::compile<all>>);\n\n}  // namespace\n");
  std::ofstream names(path.string() + ".names");
  for (const part& p : parts) names << p.name << "\n";
}

int write_all(const cxxopts::ParseResult& arguments) {
  const dk::conformance::status_file status(arguments["status"].as<std::string>());
  const std::filesystem::path out = arguments["out"].as<std::string>();
  const std::string prefix = arguments["prefix"].as<std::string>();
  const std::regex only(arguments["only"].as<std::string>());
  const std::size_t most = arguments["per-file"].as<std::size_t>();
  std::set<std::string> wanted;
  if (arguments.count("names")) {
    std::ifstream in(arguments["names"].as<std::string>());
    for (std::string line; std::getline(in, line);) wanted.insert(line.substr(0, line.find(".test_data_set")));
  }
  std::filesystem::create_directories(out);
  std::ofstream refused(out / (prefix + ".refused"));
  std::vector<part> parts;
  std::size_t files = 0, number = 0;
  const auto flush = [&] {
    if (parts.empty()) return;
    const std::string digits = std::to_string(1000 + files++).substr(1);
    write_group(out / (prefix + "_" + digits + ".cpp"), parts);
    parts.clear();
  };
  for (const test_case& t : dk::conformance::find_tests(arguments["data"].as<std::string>())) {
    if (!std::regex_search(t.name, only) || (!wanted.empty() && !wanted.contains(t.name))) continue;
    try {
      dk::onnx::file f(t.folder / "model.onnx");
      if (!status.reason_to_skip(f.model()).empty()) continue;
      std::vector<part> sets;
      for (const auto& set : dk::conformance::data_sets(t)) sets.push_back(part_of(t, set, number++, out));
      parts.insert(parts.end(), sets.begin(), sets.end());
    } catch (const std::exception& e) {
      std::string sentence = e.what();
      std::replace(sentence.begin(), sentence.end(), '\n', ' ');
      refused << t.name << ": " << sentence << "\n";
    }
    if (parts.size() >= most) flush();
  }
  flush();
  std::cout << files << " files\n";
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  cxxopts::Options options("conformance_sources", "Writes ONNX's backend tests as C++.");
  options.add_options()("data", "folder with tests, at any depth below it", cxxopts::value<std::string>())(
      "out", "folder to write to", cxxopts::value<std::string>())(
      "prefix", "of the names of the files", cxxopts::value<std::string>()->default_value("group"))(
      "per-file", "tests in a file", cxxopts::value<std::size_t>()->default_value("32"))(
      "only", "tests whose names match", cxxopts::value<std::string>()->default_value(""))(
      "names", "file with the names of the tests wanted", cxxopts::value<std::string>())(
      "status", "list of what is not passed", cxxopts::value<std::string>()->default_value(DNNKIT_CONFORMANCE_STATUS));
  try {
    return write_all(options.parse(argc, argv));
  } catch (const std::exception& e) {
    std::cerr << "conformance_sources: " << e.what() << "\n";
    return 2;
  }
}
