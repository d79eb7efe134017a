// SPDX-License-Identifier: MIT
// libFuzzer target of the .npy reader: any bytes are either refused with dnnkit::error or read as an array.
#include "dnnkit/weights/npy.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

namespace dk = dnnkit;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* input, std::size_t size) {
  const auto require = [](bool condition) {
    if (!condition) std::abort();
  };
  try {
    const dk::npy file = dk::npy::from_memory(std::as_bytes(std::span(input, size)), "input");
    const dk::stored_tensor& t = file.tensor();
    require(t.data.size() == dk::detail::dense_bytes(t.dtype, t.shape));
    for (const std::byte b : t.data) require(t.dtype != dk::boolean || b <= std::byte{1});
  } catch (const dk::error& refusal) { require(refusal.where().starts_with("input")); }
  return 0;
}
