// SPDX-License-Identifier: MIT
// dnnkit operators: what the importer knows, as a table.
#include <iostream>
#include <string_view>

#include "cmake/onnx_tool/command.hpp"
#include "dnnkit/core/error.hpp"
#include "dnnkit/onnx/supported_operators.hpp"

namespace dnnkit::tool {

int operators(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--help") {
    std::cout << "Prints the operators of ONNX that are supported, as a Markdown table.\nUsage:\n  dnnkit operators\n";
    return 0;
  }
  if (argc > 1) throw error("takes no arguments", "command line", {}, argv[1]);
  std::cout << onnx::operator_table();
  return 0;
}

}  // namespace dnnkit::tool
