// SPDX-License-Identifier: MIT
// Command lines of the example programs: cxxopts, made strict, with --help.
#pragma once

#include <fmt/format.h>

#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

// Without this cxxopts includes <regex>, which takes longer to compile than the rest of a small example.
#define CXXOPTS_NO_REGEX true
#include <cxxopts.hpp>

namespace dnnkit::examples {

// What the command line says. --help prints the help and ends the program with 0; an unknown option, a malformed value,
// a word too many or one of `required` missing prints the reason and the way to the help and ends it with 2.
inline cxxopts::ParseResult parse_arguments(cxxopts::Options& options, int argc, const char* const* argv,
                                            const std::vector<std::string>& required = {}) {
  std::string complaint;
  try {
    options.add_options()("h,help", "Print this help");
    const cxxopts::ParseResult result = options.parse(argc, argv);
    if (result.count("help")) {
      std::cout << options.help();
      std::exit(0);
    }
    if (!result.unmatched().empty()) complaint = fmt::format("unexpected argument '{}'", result.unmatched().front());
    for (const std::string& name : required)
      if (complaint.empty() && !result.count(name)) complaint = fmt::format("argument {} is missing", name);
    if (complaint.empty()) return result;
  } catch (const std::exception& failure) { complaint = failure.what(); }
  std::cerr << options.program() << ": " << complaint << "; see " << options.program() << " --help\n";
  std::exit(2);
}

}  // namespace dnnkit::examples
