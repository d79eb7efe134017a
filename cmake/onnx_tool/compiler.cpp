// SPDX-License-Identifier: MIT
#include "cmake/onnx_tool/compiler.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string_view>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "dnnkit/core/error.hpp"

extern char** environ;

namespace dnnkit::tool {

namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::ostringstream s;
  s << in.rdbuf();
  return s.str();
}

struct child_process {
  pid_t id;
  const command_line* command;
};

// False when the command cannot be started.
bool start(const command_line& command, std::vector<child_process>& running) {
  std::vector<char*> arguments;
  for (const std::string& w : command.words) arguments.push_back(const_cast<char*>(w.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, command.log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  child_process child{0, &command};
  const int failure = posix_spawnp(&child.id, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failure == 0) running.push_back(child);
  return failure == 0;
}

// Takes out the children that have ended; returns the commands of those that failed.
std::vector<const command_line*> ended(std::vector<child_process>& running) {
  std::vector<const command_line*> failed;
  std::erase_if(running, [&](const child_process& child) {
    int status = 0;
    if (waitpid(child.id, &status, WNOHANG) == 0) return false;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) failed.push_back(child.command);
    return true;
  });
  return failed;
}

}  // namespace

void run_compilers(const std::vector<command_line>& commands, std::size_t jobs, const std::string& title,
                   const std::string& failure) {
  const auto begin = std::chrono::steady_clock::now();
  std::vector<child_process> running;
  std::vector<const command_line*> failed;
  bool can_start = true;
  long shown = 0;
  const bool is_terminal = isatty(STDERR_FILENO) != 0 && !title.empty();
  for (std::size_t next = 0; (next < commands.size() && can_start && failed.empty()) || !running.empty();) {
    while (next < commands.size() && can_start && failed.empty() && (running.size() < jobs || running.empty()))
      can_start = start(commands[next++], running);
    for (const command_line* c : ended(running)) failed.push_back(c);
    if (running.empty()) continue;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - begin);
    if (seconds.count() == shown) continue;
    shown = static_cast<long>(seconds.count());
    if (is_terminal) std::cerr << "\r" << title << ": " << shown << " s" << std::flush;
  }
  if (shown > 0 && is_terminal) std::cerr << "\n";
  if (!can_start) throw error("cannot be started", commands.front().words[0]);
  for (const command_line* c : failed) std::cerr << text_of(c->log);
  if (!failed.empty()) throw error(failure, failed.front()->log.parent_path().string());
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  std::istringstream in{std::string(text)};
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

namespace {

// In kilobytes, what this process and others can have: of the machine, and of the control group where there is one.
std::uint64_t available_memory() {
  std::uint64_t least = 0;
  std::ifstream machine("/proc/meminfo");
  for (std::string word; least == 0 && machine >> word;)
    if (word == "MemAvailable:") machine >> least;
  std::uint64_t limit = 0, used = 0;  // "max" where there is none, which is no number
  if (std::ifstream("/sys/fs/cgroup/memory.max") >> limit && std::ifstream("/sys/fs/cgroup/memory.current") >> used)
    least = std::min(least, (limit - std::min(used, limit)) / 1024);
  return least;
}

// g++ collects garbage whenever twice as much lies there as it may keep, 128 megabytes by default; constant expressions
// leave gigabytes of it. A network is compiled in a fifth less time without collections, and takes up to twice the
// memory: two fifths of what is there for one of `jobs` compilers, two gigabytes at most. A power of two, so that the
// command is the same as last time, which caches of compilations look at.
std::string kept_garbage(std::size_t jobs) {
  constexpr std::uint64_t least = 1 << 17, most = 1 << 21;
  return fmt::format("--param=ggc-min-heapsize={}",
                     std::bit_floor(std::clamp(available_memory() * 2 / 5 / jobs, least, most)));
}

}  // namespace

// Room for constant expressions: cmake/dnnkitOptions.cmake.
std::vector<std::string> compiler_and_options(const std::filesystem::path& log, std::size_t jobs) {
  const char* const variable = std::getenv("CXX");
  const std::string given = variable == nullptr ? "" : variable;
  std::error_code unknown;
  std::vector<std::string> words = std::filesystem::is_regular_file(given, unknown)
                                       ? std::vector{given}
                                       : words_of(given);  // a path may have spaces
  if (words.empty()) words = {"c++"};
  std::vector<std::string> asks = words;
  asks.emplace_back("--version");
  try {
    run_compilers({{asks, log}}, 1, words[0]);
  } catch (const error& e) {
    throw error(e.problem(), given.empty() ? words[0] : "CXX=" + given,
                "a compiler, or a launcher and a compiler as in CXX='ccache g++'");
  }
  std::vector<std::string> options{"-std=c++20", "-fconstexpr-depth=4096"};
  if (text_of(log).find("clang") != std::string::npos)
    options.insert(options.end(), {"-fconstexpr-steps=2147483647", "-fbracket-depth=4096"});
  else
    options.insert(options.end(), {"-fconstexpr-ops-limit=2147483647", "-fconstexpr-loop-limit=10000000",
                                   "-fno-gnu-unique",  // the names of such data cannot be hidden
                                   kept_garbage(jobs)});
  words.insert(words.end(), options.begin(), options.end());
  return words;
}

std::filesystem::path include_folder() {
  std::error_code unknown;
  const std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe", unknown).parent_path();
  for (const std::filesystem::path from_bin : {DNNKIT_INCLUDE_FROM_BIN, "../include"})
    if (const auto include = (folder / from_bin).lexically_normal(); exists(include / "dnnkit/graph.hpp"))
      return include;
  throw error("the library's headers are not found from here; --include names their folder", folder.string());
}

}  // namespace dnnkit::tool
