// SPDX-License-Identifier: MIT
// Tensors of the reference evaluator as those of a file: elements in the bytes of their element type.
#pragma once

#include <cstddef>
#include <vector>

#include "dnnkit/reference/element_codec.hpp"
#include "dnnkit/reference/host_tensor.hpp"

namespace dnnkit {

// The elements of `t`, row-major and little-endian, as a file has them.
inline std::vector<std::byte> element_bytes(const host_tensor& t) {
  const std::size_t n = t.count();
  std::vector<std::byte> bytes(n * size_of(t.type));
  detail::store_elements(t.type, bytes.data(), t, 0, n);
  return bytes;
}

}  // namespace dnnkit
