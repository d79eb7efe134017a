// SPDX-License-Identifier: MIT
// What kernels for OpenCL cannot be made of, found out before a compiler runs: for dnnkit_add_onnx() and the tool.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "dnnkit/graph/graph.hpp"

namespace dnnkit::onnx {

// Why dnnkit::compile<MODEL, targets::opencl> of a model with this graph, by all passes but those named in `left_out`,
// would not do: a line and then one a kernel, ten of these at most; empty where it would.
std::string refusal_of_opencl(dnnkit::graph g, std::span<const std::string_view> left_out = {});

}  // namespace dnnkit::onnx
