// SPDX-License-Identifier: MIT
// dnnkit: what can be done with an ONNX model on the command line.
#include <fmt/format.h>

#include <array>
#include <exception>
#include <iostream>
#include <string_view>

#include "cmake/onnx_tool/command.hpp"
#include "dnnkit/core/printable.hpp"

namespace {

using dnnkit::tool::command;

constexpr std::array commands{
    command{"check", "list everything in a model that is not supported", dnnkit::tool::check},
    command{"run", "run a model in the interpreter", dnnkit::tool::run},
    command{"compare", "find the first node whose result deviates", dnnkit::tool::compare},
    command{"explain", "say what the passes make of a model, and why", dnnkit::tool::explain},
    command{"compare-plans", "say what plans differ in, by all passes and without some", dnnkit::tool::compare_plans},
    command{"dot", "draw a model's kernels as Graphviz text", dnnkit::tool::dot},
    command{"generate", "write a model as C++ source", dnnkit::tool::generate},
    command{"build", "compile a model to a program", dnnkit::tool::build},
    command{"tune", "measure what may carry out a model's kernels on this machine, for build", dnnkit::tool::tune},
    command{"operators", "list the operators of ONNX that are supported", dnnkit::tool::operators},
};

void usage(std::ostream& out) {
  out << "usage: dnnkit COMMAND [MODEL.onnx] [options]\n\n";
  for (const command& c : commands) out << fmt::format("  {:<15}{}\n", c.name, c.summary);
  out << "\n`dnnkit COMMAND --help` tells the options of one.\n";
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view wanted = argc > 1 ? argv[1] : "";
  if (wanted.empty() || wanted == "--help" || wanted == "-h") {
    usage(wanted.empty() ? std::cerr : std::cout);
    return wanted.empty() ? 2 : 0;
  }
  for (const command& c : commands) {
    if (c.name != wanted) continue;
    try {
      return c.run(argc - 1, argv + 1);
    } catch (const std::exception& e) {
      std::cerr << "dnnkit " << wanted << ": " << dnnkit::printable(e.what(), dnnkit::line_feeds::kept) << "\n";
      return dynamic_cast<const dnnkit::tool::refused*>(&e) != nullptr ? 1 : 2;
    }
  }
  std::cerr << "dnnkit: no command '" << wanted << "'\n\n";
  usage(std::cerr);
  return 2;
}
