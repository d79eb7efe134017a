// SPDX-License-Identifier: MIT
// What kernels for OpenCL cannot be made of, found out before a compiler runs; and the texts of those that can.
#pragma once

#include <string>
#include <vector>

#include "cmake/onnx_tool/instruction_sets.hpp"
#include "dnnkit/graph/graph.hpp"

namespace dnnkit::tool {

// Why dnnkit::compile<MODEL, targets::opencl> of a model with this graph, by all passes but those named in `left_out`,
// would not do: a sentence a kernel; empty where it would.
std::vector<std::string> problems_for_opencl(dnnkit::graph g, pass_names left_out);

// The OpenCL C that such a program has, values being in buffers or in images: what all kernels use, then each with the
// names of the steps that it is for, or in a comment why there is none. Raises dnnkit::error where there is no plan.
std::string texts_for_opencl(dnnkit::graph g, pass_names left_out, bool images);

}  // namespace dnnkit::tool
