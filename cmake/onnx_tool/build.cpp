// SPDX-License-Identifier: MIT
// dnnkit build: a model as a program, by way of C++ and the system's compiler.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "cmake/onnx_tool/command.hpp"
#include "cmake/onnx_tool/model.hpp"
#include "dnnkit/onnx/generate_files.hpp"

extern char** environ;

namespace dnnkit::tool {

namespace {

// Starts a command with everything it prints in `log`, calls waiting(seconds) every now and then, and returns its exit
// status.
template <class Waiting>
int execute(const std::vector<std::string>& words, const std::filesystem::path& log, Waiting waiting) {
  std::vector<char*> arguments;
  for (const std::string& w : words) arguments.push_back(const_cast<char*>(w.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = 0;
  const int failure = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) throw error("cannot be started", words[0], "a compiler; CXX names another one");
  const auto begin = std::chrono::steady_clock::now();
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    waiting(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::ostringstream s;
  s << in.rdbuf();
  return s.str();
}

// What models need of a compiler: room for constant expressions (cmake/dnnkitOptions.cmake).
std::vector<std::string> constexpr_options(const std::string& compiler, const std::filesystem::path& log) {
  execute({compiler, "--version"}, log, [](double) {});
  if (text_of(log).find("clang") != std::string::npos)
    return {"-fconstexpr-steps=2147483647", "-fconstexpr-depth=4096", "-fbracket-depth=4096"};
  return {"-fconstexpr-ops-limit=2147483647", "-fconstexpr-loop-limit=10000000", "-fconstexpr-depth=4096"};
}

// The folder of the library's headers, found from where this program lies.
std::filesystem::path include_folder() {
  std::error_code unknown;
  const std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe", unknown).parent_path();
  for (const std::filesystem::path from_bin : {DNNKIT_INCLUDE_FROM_BIN, "../include"})
    if (const auto include = (folder / from_bin).lexically_normal(); exists(include / "dnnkit/graph.hpp"))
      return include;
  throw error("the library's headers are not found from here; --include names their folder", folder.string());
}

}  // namespace

int build(int argc, char** argv) {
  cxxopts::Options options(
      "dnnkit build",
      "Compiles a model to a program that takes --input, --output, --dim, --threads and --time. The "
      "compiler is the one that the environment variable CXX names, else c++.");
  options.add_options()("o,output", "the program", cxxopts::value<std::string>())(
      "include", "folder of the library's headers, by default those beside this program",
      cxxopts::value<std::string>())("flags", "flags for the compiler",
                                     cxxopts::value<std::string>()->default_value("-O3 -march=native"));
  add_input_option(options);
  const auto arguments = parse(options, argc, argv);
  if (!arguments) return 0;
  if (!arguments->count("output")) throw error("is missing", "--output");
  const model m = load_compilable(*arguments, inputs_of(*arguments));
  const std::filesystem::path include =
      arguments->count("include") ? std::filesystem::path((*arguments)["include"].as<std::string>()) : include_folder();
  const std::filesystem::path path = (*arguments)["model"].as<std::string>(),
                              program = (*arguments)["output"].as<std::string>(), folder = program.string() + ".source";
  const std::string name = onnx::model_name(path);
  std::filesystem::create_directories(folder);
  onnx::write_if_changed(folder / (name + ".hpp"), onnx::model_header(m.imported.graph, name, path));
  onnx::write_if_changed(folder / "main.cpp", onnx::program_source(name, path, linked_data_of(*arguments)));

  const char* given = std::getenv("CXX");
  const std::string compiler = given != nullptr && *given != '\0' ? given : "c++";
  const std::filesystem::path log = folder / "compiler.log";
  std::vector<std::string> words{compiler, "-std=c++20"};
  for (const std::string& o : constexpr_options(compiler, log)) words.push_back(o);
  std::istringstream flags((*arguments)["flags"].as<std::string>());
  for (std::string flag; flags >> flag;) words.push_back(flag);
  for (const std::string& w : {"-I" + include.string(), "-I" + folder.string(), absolute(folder / "main.cpp").string(),
                               std::string("-o"), absolute(program).string(), std::string("-pthread")})
    words.push_back(w);  // absolute paths are no options, whatever they begin with
  double seconds = 0;
  const int status = execute(words, log, [&](double passed) {
    if (static_cast<long>(passed) != static_cast<long>(seconds))
      std::cerr << "\rcompiling " << name << ": " << static_cast<long>(passed) << " s" << std::flush;
    seconds = passed;
  });
  if (seconds >= 1) std::cerr << "\n";
  if (status != 0) {
    std::cerr << text_of(log);
    throw error("the compiler failed; its messages are above", (folder / "main.cpp").string());
  }
  std::cout << program.string() << "\n";
  return 0;
}

}  // namespace dnnkit::tool
