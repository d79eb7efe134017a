// SPDX-License-Identifier: MIT
// The system's compiler, as `dnnkit build` calls it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace dnnkit::tool {

// A command, and the file for everything it prints.
struct command_line {
  std::vector<std::string> words;
  std::filesystem::path log;
};

// The compiler with the options that models need, of which `jobs` are to run at once: the one that the environment
// variable CXX names, else c++; words in front of it are a launcher, as in "ccache g++", and options behind it are
// kept. `log` is for what it says of itself. Raises dnnkit::error where it cannot be run.
std::vector<std::string> compiler_and_options(const std::filesystem::path& log, std::size_t jobs);

// "-O3 -march=native" as words.
std::vector<std::string> words_of(std::string_view text);

// Runs commands, at most `jobs` at once, showing how long they take under `title` where standard error is a
// terminal. When one fails, what it printed is shown and dnnkit::error raised, once all that were started have ended.
void run_compilers(const std::vector<command_line>& commands, std::size_t jobs, const std::string& title,
                   const std::string& failure = "the compiler failed; its messages are above");

// The folder of the library's headers, found from where this program lies.
std::filesystem::path include_folder();

}  // namespace dnnkit::tool
