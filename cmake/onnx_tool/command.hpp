// SPDX-License-Identifier: MIT
// The commands of the tool, one file each.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "dnnkit/core/error.hpp"

namespace dnnkit::tool {

struct command {
  std::string_view name, summary;
  int (*run)(int argc, char** argv);  // argv[0] is the command's name; returns the exit status
};

// What a command raises where the model itself is what it cannot take; the tool's exit status is 1 then, and 2 for any
// other error.
struct refused : error {
  explicit refused(const error& e) : error(e) {}
};

int check(int argc, char** argv);
int run(int argc, char** argv);
int compare(int argc, char** argv);
int explain(int argc, char** argv);
int compare_plans(int argc, char** argv);
int dot(int argc, char** argv);
int generate(int argc, char** argv);
int build(int argc, char** argv);
int tune(int argc, char** argv);
int operators(int argc, char** argv);

}  // namespace dnnkit::tool
