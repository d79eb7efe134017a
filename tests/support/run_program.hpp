// SPDX-License-Identifier: MIT
// Runs one of the project's programs as a user would, and keeps what it says.
#pragma once

#include <sys/wait.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "tests/support/temporary_folder.hpp"

struct program_run {
  int status = -1;             // exit status; -1 when it was ended by a signal
  std::string output, errors;  // standard output and standard error
};

// `program`: its name in the folder of programs. Arguments reach it as they are.
inline program_run run_program(const std::string& program, const std::vector<std::string>& arguments) {
  const auto quoted = [](const std::string& s) {
    std::string q = "'";
    for (const char c : s) q += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return q + "'";
  };
  const temporary_folder folder;
  std::string command = quoted(DNNKIT_PROGRAMS "/" + program);
  for (const std::string& a : arguments) command += " " + quoted(a);
  command += " >" + quoted((folder / "out").string()) + " 2>" + quoted((folder / "err").string()) + " </dev/null";
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(folder / "out"), read_file(folder / "err")};
}
