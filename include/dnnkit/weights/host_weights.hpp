// SPDX-License-Identifier: MIT
// Tensors of a weights file as those of the reference evaluator.
#pragma once

#include <functional>
#include <string_view>

#include "dnnkit/reference/element_codec.hpp"
#include "dnnkit/reference/host_tensor.hpp"
#include "dnnkit/weights/safetensors.hpp"
#include "dnnkit/weights/weight_file.hpp"

namespace dnnkit {

// The elements of a tensor from a weights file.
inline host_tensor to_host_tensor(const stored_tensor& s) {
  host_tensor t(s.dtype, s.shape);
  detail::load_elements(s.dtype, s.data.data(), t, 0, t.count());
  return t;
}

// The weights of `file` (safetensors, onnx_weights, ...), which must live as long as what is returned; a missing tensor
// raises dnnkit::error.
inline std::function<host_tensor(std::string_view)> weights_of(const weight_file& file) {
  return [&file](std::string_view name) { return to_host_tensor(file.at(name)); };
}

}  // namespace dnnkit
