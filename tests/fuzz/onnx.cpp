// SPDX-License-Identifier: MIT
// libFuzzer target of the ONNX reader: any bytes are either refused with dnnkit::error or read, and so are the elements
// of every tensor.
#include "dnnkit/onnx/format/read_model.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <span>
#include <string_view>

#include "dnnkit/onnx/onnx_weights.hpp"

namespace dk = dnnkit;

static void require(bool condition) {
  if (!condition) std::abort();
}

// Touches the elements, so that a sanitizer sees those that are not there.
static void read_elements(dk::onnx::file& file, const dk::onnx::tensor_data& t) {
  try {
    const dk::onnx::tensor_bytes elements = file.elements(t);
    const dk::stored_tensor& tensor = elements.tensor();
    require(tensor.data.size() == dk::detail::dense_bytes(tensor.dtype, tensor.shape));
    for (const std::byte b : tensor.data) require(tensor.dtype != dk::boolean || b <= std::byte{1});
  } catch (const dk::error& refusal) { require(refusal.where().starts_with("input, tensor ")); }
}

static void read_graph(dk::onnx::file& file, const dk::onnx::graph& g) {
  for (const dk::onnx::tensor_data& t : g.initializers) read_elements(file, t);
  for (const dk::onnx::node& n : g.nodes) {
    require(!n.op_type.empty());
    for (const dk::onnx::attribute& a : n.attributes) {
      require(n.find(a.name) != nullptr && !name(a.type).empty());
      require(a.type != dk::onnx::attribute_type::tensor || !a.ref_attr_name.empty() || a.tensors.size() == 1);
      require(a.type != dk::onnx::attribute_type::graph || !a.ref_attr_name.empty() || a.graphs.size() == 1);
      for (const dk::onnx::tensor_data& t : a.tensors) read_elements(file, t);
      for (const dk::onnx::graph& inner : a.graphs) read_graph(file, inner);
    }
  }
}

// Every view is of the input.
static void require_inside(std::span<const std::byte> bytes, std::string_view text) {
  const auto* begin = reinterpret_cast<const char*>(bytes.data());
  require(text.empty() || (text.data() >= begin && text.data() + text.size() <= begin + bytes.size()));
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* input, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(input, size));
  try {
    dk::onnx::file file = dk::onnx::file::from_memory(bytes, "input");
    read_graph(file, file.model().graph);
    for (const dk::onnx::node& n : file.model().graph.nodes) require_inside(bytes, n.op_type);
    for (const dk::onnx::function& f : file.model().functions) require_inside(bytes, f.name);

    const dk::onnx_weights weights(std::move(file));
    for (const dk::stored_tensor& t : weights.tensors()) require(weights.find(t.name) == &t);
  } catch (const dk::error& refusal) { require(!refusal.problem().empty() && refusal.where().starts_with("input")); }
  try {
    const dk::onnx::tensor_file file = dk::onnx::tensor_file::from_memory(bytes, "input");
    require(file.tensor().data.size() == dk::detail::dense_bytes(file.tensor().dtype, file.tensor().shape));
  } catch (const dk::error& refusal) { require(refusal.where().starts_with("input")); }
  return 0;
}
