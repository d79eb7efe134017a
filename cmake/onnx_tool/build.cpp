// SPDX-License-Identifier: MIT
// dnnkit build: a model as a program, by way of C++ and the system's compiler.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iostream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "cmake/onnx_tool/command.hpp"
#include "cmake/onnx_tool/compiler.hpp"
#include "cmake/onnx_tool/model.hpp"
#include "dnnkit/core/printable.hpp"
#include "dnnkit/cpu/plan_ahead.hpp"
#include "dnnkit/onnx/generate_files.hpp"

namespace dnnkit::tool {

namespace {

using path = std::filesystem::path;

// The sources of the program, and the names of its units.
std::vector<std::string> write_sources(const dnnkit::graph& g, const path& file, const path& folder,
                                       std::size_t kernel_parts, onnx::linked_data linked) {
  const std::string name = onnx::model_name(file);
  std::filesystem::create_directories(folder);
  onnx::write_if_changed(folder / (name + ".hpp"), onnx::model_header(g, name, file, kernel_parts));
  onnx::write_if_changed(folder / "main.cpp", onnx::program_source(name, file, linked));
  std::vector<std::string> units{"main"};
  for (std::size_t part = 1; part < kernel_parts; ++part) {
    units.push_back(fmt::format("{}_kernels_{}", name, part));
    onnx::write_if_changed(folder / (units.back() + ".cpp"), onnx::kernel_unit_source(name, part, kernel_parts));
  }
  return units;
}

// "-O3 -march=native" as words.
std::vector<std::string> words_of(const std::string& flags) {
  std::vector<std::string> words;
  std::istringstream in(flags);
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

}  // namespace

int build(int argc, char** argv) {
  const std::size_t processors = std::max(1U, std::thread::hardware_concurrency());
  cxxopts::Options options(
      "dnnkit build",
      "Compiles a model to a program that takes --input, --output, --dim, --weights, --threads, --time and --trace, "
      "and "
      "--help to explain them. The compiler is the one that the environment variable CXX names, else c++.");
  options.add_options()("o,output", "the program", cxxopts::value<std::string>())(
      "include", "folder of the library's headers, by default those beside this program",
      cxxopts::value<std::string>())("flags", "flags for the compiler",
                                     cxxopts::value<std::string>()->default_value("-O3 -march=native"))(
      "j,jobs", "compilers to run at once, by default as many as there are processors",
      cxxopts::value<std::size_t>()->default_value(std::to_string(processors)))(
      "kernel-parts", "units to compile the kernels in, by default as many as pay and run at once",
      cxxopts::value<std::size_t>());
  add_input_option(options);
  const auto arguments = parse(options, argc, argv);
  if (!arguments) return 0;
  if (!arguments->count("output")) throw error("is missing", "--output");
  const path program = (*arguments)["output"].as<std::string>();
  if (!program.has_filename() || is_directory(program))
    throw error("is a folder", "--output", "a file", program.string());
  const std::size_t jobs = (*arguments)["jobs"].as<std::size_t>();
  if (jobs == 0) throw error("is no number of compilers", "--jobs", "at least 1", "0");
  const model m = load_compilable(*arguments, inputs_of(*arguments));
  const dnnkit::graph& g = m.imported.graph;
  const std::size_t kernel_parts = arguments->count("kernel-parts")
                                       ? std::max<std::size_t>(1, (*arguments)["kernel-parts"].as<std::size_t>())
                                       : onnx::kernel_parts_that_pay(cpu::planned(g).recipes.size(), jobs);
  const path include = arguments->count("include") ? path((*arguments)["include"].as<std::string>()) : include_folder();
  const path file = (*arguments)["model"].as<std::string>(), folder = program.string() + ".source";
  const std::vector<std::string> units = write_sources(g, file, folder, kernel_parts, linked_data_of(*arguments));

  const path log = folder / "compiler.log";
  std::vector<std::string> words = compiler_and_options(log);
  for (const std::string& flag : words_of((*arguments)["flags"].as<std::string>())) words.push_back(flag);
  std::vector<command_line> compilations;
  command_line link{words, log};
  for (const std::string& unit : units) {
    const std::string object = absolute(folder / (unit + ".o")).string();  // no option, whatever it begins with
    compilations.push_back({words, folder / (unit + ".log")});
    for (const std::string& w :
         {fmt::format("-I{}", include.string()), fmt::format("-I{}", folder.string()), std::string("-c"),
          absolute(folder / (unit + ".cpp")).string(), std::string("-o"), object})
      compilations.back().words.push_back(w);
    link.words.push_back(object);
  }
  for (const std::string& w : {std::string("-o"), absolute(program).string(), std::string("-pthread")})
    link.words.push_back(w);
  run_compilers(compilations, jobs, fmt::format("compiling {}", onnx::model_name(file)));
  run_compilers({link}, 1, fmt::format("linking {}", printable(program.string())));
  std::cout << printable(program.string()) << "\n";
  return 0;
}

}  // namespace dnnkit::tool
