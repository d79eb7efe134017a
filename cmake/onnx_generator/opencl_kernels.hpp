// SPDX-License-Identifier: MIT
// What kernels for OpenCL cannot be made of, found out before a compiler runs, and the texts of those that can: for
// dnnkit_add_onnx() and the tool.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "dnnkit/graph/graph.hpp"

namespace dnnkit::onnx {

// Why dnnkit::compile<MODEL, targets::opencl> of a model with this graph, by all passes but those named in `left_out`,
// would not do: a line and then one a kernel, ten of these at most; empty where it would.
std::string refusal_of_opencl(dnnkit::graph g, std::span<const std::string_view> left_out = {});

// The OpenCL C that such a program has, values being in buffers or in images: what memory a session takes, where sizes
// are known, what all kernels use, then each with the kernels of a run that it is, as traces number them, and the
// operands of the first of these, or in a comment why there is none. Raises dnnkit::error where there is no plan.
std::string texts_for_opencl(dnnkit::graph g, std::span<const std::string_view> left_out, bool images);

}  // namespace dnnkit::onnx
