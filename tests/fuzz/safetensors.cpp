// SPDX-License-Identifier: MIT
// libFuzzer target of the safetensors reader: any bytes are either refused with dnnkit::error or read and written back.
#include "dnnkit/weights/safetensors.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "dnnkit/weights/safetensors_writer.hpp"

namespace dk = dnnkit;

static void require(bool condition) {
  if (!condition) std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* input, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(input, size));
  try {
    const dk::safetensors file = dk::safetensors::from_memory(bytes, "input");

    // The data of the tensors is the data section, piece by piece.
    std::vector<const dk::stored_tensor*> order;
    std::vector<std::byte> data;
    for (const dk::stored_tensor& tensor : file.tensors()) {
      require(file.find(tensor.name) == &tensor);
      require(tensor.data.size() == dk::detail::dense_bytes(tensor.dtype, tensor.shape));
      data.insert(data.end(), tensor.data.begin(), tensor.data.end());
      order.push_back(&tensor);
    }
    require(std::ranges::equal(data, bytes.last(data.size())));

    // What is written is read back as it was.
    const std::string header = dk::detail::safetensors_header(order, file.metadata());
    data.insert(data.begin(), reinterpret_cast<const std::byte*>(header.data()),
                reinterpret_cast<const std::byte*>(header.data() + header.size()));
    const dk::safetensors copy = dk::safetensors::from_memory(data, "copy");
    require(copy.metadata() == file.metadata());
    require(copy.tensors().size() == file.tensors().size());
    for (const dk::stored_tensor& tensor : file.tensors())
      require(std::ranges::equal(copy.check(tensor.name, tensor.dtype, tensor.shape).data, tensor.data));
  } catch (const dk::error& refusal) { require(!refusal.problem().empty() && refusal.where().starts_with("input")); }
  return 0;
}
