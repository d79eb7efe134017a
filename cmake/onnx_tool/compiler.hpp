// SPDX-License-Identifier: MIT
// The system's compiler, as `dnnkit build` calls it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace dnnkit::tool {

// A command, and the file for everything it prints.
struct command_line {
  std::vector<std::string> words;
  std::filesystem::path log;
};

// The compiler with the options that models need: the one that the environment variable CXX names, else c++. `log` is
// for what it says of itself.
std::vector<std::string> compiler_and_options(const std::filesystem::path& log);

// Runs commands, at most `jobs` at once, showing how long they take under `title` where standard error is a
// terminal. When one fails, what it printed is shown and dnnkit::error raised, once all that were started have ended.
void run_compilers(const std::vector<command_line>& commands, std::size_t jobs, const std::string& title);

// The folder of the library's headers, found from where this program lies.
std::filesystem::path include_folder();

}  // namespace dnnkit::tool
