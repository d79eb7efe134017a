// SPDX-License-Identifier: MIT
// dnnkit operators: what the importer knows, as a table; and the library's own operators.
#include <iostream>
#include <string_view>

#include "cmake/onnx_tool/command.hpp"
#include "dnnkit/core/error.hpp"
#include "dnnkit/inspect/operator_reference.hpp"
#include "dnnkit/onnx/import/supported_operators.hpp"

namespace dnnkit::tool {

int operators(int argc, char** argv) {
  const std::string_view option = argc > 1 ? argv[1] : "";
  if (argc > 2 || (argc == 2 && option != "--help" && option != "--reference"))
    throw error("takes --reference at most", "command line", {}, argv[argc - 1]);
  if (option == "--help")
    std::cout
        << "Prints the operators of ONNX that are supported, as a Markdown table; with --reference, how those of the "
           "library are called from C++, with their attributes.\nUsage:\n  dnnkit operators [--reference]\n";
  else if (option == "--reference") std::cout << operator_reference(builtin_ops);
  else std::cout << onnx::operator_table();
  return 0;
}

}  // namespace dnnkit::tool
