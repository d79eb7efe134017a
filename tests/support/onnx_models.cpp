// SPDX-License-Identifier: MIT
// The importer and the reference evaluator, compiled once for the tests of models written as structs.
#include "tests/support/onnx_models.hpp"

#include "dnnkit/graph/walk.hpp"
#include "dnnkit/onnx/import.hpp"

namespace onnx_models {

namespace {

dk::host_tensor load(const dk::onnx::tensor_data& t) {
  dk::onnx::external_files none;
  return dk::to_host_tensor(dk::onnx::tensor_bytes(t, none, "test").tensor());
}

}  // namespace

dk::onnx::import_result import(const dk::onnx::model& m, dk::onnx::import_options options) {
  options.load = load;
  return dk::onnx::import_model(m, options);
}
dk::onnx::import_result import(const graph_of& g, std::int64_t opset) { return import(model_of(g, opset)); }

std::vector<dk::host_tensor> run(const dk::onnx::import_result& r, const std::vector<dk::host_tensor>& inputs,
                                 const observer& observe) {
  const auto weights = [&](std::string_view name) { return load(*r.weights.find(name)->second); };
  return dk::evaluate(r.graph, inputs, weights, observe);
}

std::string operators(const dk::graph& g) {
  std::string all;
  const auto alive = dk::live_nodes(g);
  for (std::size_t n = 0; n < g.nodes.size(); ++n)
    if (alive[n]) all += (all.empty() ? "" : " ") + std::string(g.nodes[n].op->name);
  return all;
}

}  // namespace onnx_models
