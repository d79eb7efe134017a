// SPDX-License-Identifier: MIT
// libFuzzer target of the ONNX importer: any model is either imported, as a legal graph, or has problems.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>

#include "dnnkit/graph/verify.hpp"
#include "dnnkit/onnx/import.hpp"

namespace dk = dnnkit;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* input, std::size_t size) {
  try {
    dk::onnx::file file = dk::onnx::file::from_memory(std::as_bytes(std::span(input, size)), "input");
    const dk::onnx::import_result result = dk::onnx::import_model(file);
    if (result.ok())
      if (const dk::text wrong = dk::verify(result.graph); !wrong.empty()) {
        std::fputs((wrong.str() + "\n").c_str(), stderr);
        std::abort();
      }
    for (const dk::onnx::import_problem& p : result.problems)
      if (p.message.empty()) std::abort();
  } catch (const dk::error&) {  // of the reader
  }
  return 0;
}
