// SPDX-License-Identifier: MIT
// ONNX models of tests, written as structs instead of bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dnnkit/graph/graph.hpp"
#include "dnnkit/onnx/format/model.hpp"
#include "dnnkit/onnx/import/result.hpp"
#include "dnnkit/reference/host_tensor.hpp"

namespace onnx_models {

namespace dk = dnnkit;

struct declared_extent {
  declared_extent(int n) : d{n, {}} {}
  declared_extent(const char* symbol) : d{{}, symbol} {}  // "": unknown
  dk::onnx::dimension d;
};

inline dk::onnx::attribute integer(std::string_view name, std::int64_t i) {
  dk::onnx::attribute a;
  a.name = name;
  a.type = dk::onnx::attribute_type::integer;
  a.i = i;
  return a;
}
inline dk::onnx::attribute integers(std::string_view name, std::vector<std::int64_t> list) {
  dk::onnx::attribute a;
  a.name = name;
  a.type = dk::onnx::attribute_type::integers;
  a.ints = std::move(list);
  return a;
}
inline dk::onnx::attribute real(std::string_view name, float f) {
  dk::onnx::attribute a;
  a.name = name;
  a.type = dk::onnx::attribute_type::real;
  a.f = f;
  return a;
}
inline dk::onnx::attribute word(std::string_view name, std::string_view s) {
  dk::onnx::attribute a;
  a.name = name;
  a.type = dk::onnx::attribute_type::string;
  a.s = s;
  return a;
}
inline dk::onnx::attribute body(std::string_view name, dk::onnx::graph g) {
  dk::onnx::attribute a;
  a.name = name;
  a.type = dk::onnx::attribute_type::graph;
  a.graphs.push_back(std::move(g));
  return a;
}
inline dk::onnx::tensor_data numbers(std::string_view name, std::vector<std::int64_t> elements,
                                     std::vector<std::int64_t> dims) {
  dk::onnx::tensor_data t;
  t.name = name;
  t.data_type = 7;
  t.dims = std::move(dims);
  t.int64_data = std::move(elements);
  return t;
}
inline dk::onnx::tensor_data reals(std::string_view name, std::vector<float> elements, std::vector<std::int64_t> dims) {
  dk::onnx::tensor_data t;
  t.name = name;
  t.data_type = 1;
  t.dims = std::move(dims);
  t.float_data = std::move(elements);
  return t;
}
inline dk::onnx::attribute stored(std::string_view name, dk::onnx::tensor_data t) {
  dk::onnx::attribute a;
  a.name = name;
  a.type = dk::onnx::attribute_type::tensor;
  a.tensors.push_back(std::move(t));
  return a;
}

using names = std::vector<std::string_view>;
using attributes = std::vector<dk::onnx::attribute>;

// A graph under construction; names must be literals, which the structs view.
class graph_of {
 public:
  graph_of& input(std::string_view name, dk::dtype type, std::vector<declared_extent> dims) {
    dk::onnx::value_info v;
    v.name = name;
    v.kind = dk::onnx::value_kind::tensor;
    v.data_type = dk::onnx::data_type_of(type);
    v.shape.emplace();
    for (const declared_extent& e : dims) v.shape->push_back(e.d);
    g.inputs.push_back(std::move(v));
    return *this;
  }
  graph_of& output(std::string_view name) {
    dk::onnx::value_info v;
    v.name = name;
    v.kind = dk::onnx::value_kind::tensor;
    v.data_type = 1;
    g.outputs.push_back(v);
    return *this;
  }
  graph_of& initializer(dk::onnx::tensor_data t) {
    g.initializers.push_back(std::move(t));
    return *this;
  }
  graph_of& node(std::string_view op, names inputs, names outputs, attributes list = {}, std::string_view name = {}) {
    dk::onnx::node n;
    n.op_type = op;
    n.name = name;
    n.inputs = std::move(inputs);
    n.outputs = std::move(outputs);
    n.attributes = std::move(list);
    g.nodes.push_back(std::move(n));
    return *this;
  }
  // A Constant node with i64 elements, of rank 1 or 0.
  graph_of& constant(std::string_view name, std::vector<std::int64_t> elements) {
    const auto n = static_cast<std::int64_t>(elements.size());
    return node("Constant", {}, {name}, {stored("value", numbers("", std::move(elements), {n}))});
  }
  graph_of& scalar(std::string_view name, std::int64_t element) {
    return node("Constant", {}, {name}, {stored("value", numbers("", {element}, {}))});
  }

  dk::onnx::graph g;
};

inline dk::onnx::model model_of(const graph_of& g, std::int64_t opset = 17) {
  dk::onnx::model m;
  m.ir_version = 8;
  m.opset_imports.push_back({"", opset});
  m.graph = g.g;
  return m;
}

// What dnnkit::onnx::import_model makes of `m`, whose tensors the structs hold themselves
// (tests/support/onnx_models.cpp, so that the importer is compiled once for all tests). `m` must outlive the result's
// weights.
dk::onnx::import_result import(const dk::onnx::model& m, dk::onnx::import_options options = {});
dk::onnx::import_result import(const graph_of& g, std::int64_t opset = 17);

using observer = std::function<void(dk::value_id, const dk::host_tensor&)>;
// The outputs of an imported graph by the reference evaluator.
std::vector<dk::host_tensor> run(const dk::onnx::import_result& r, const std::vector<dk::host_tensor>& inputs,
                                 const observer& observe = {});

// All problems, one a line.
inline std::string problems(const dk::onnx::import_result& r) {
  std::string all;
  for (const dk::onnx::import_problem& p : r.problems) all += p.describe() + "\n";
  return all;
}
// "Conv Relu": the operators of the graph that its outputs depend on, in order.
std::string operators(const dk::graph& g);
inline std::string shape_of_output(const dk::graph& g, std::size_t i = 0) {
  return dk::print(g.symbols, g.at(g.outputs[i]).type.dims).str();
}
inline std::string shape_of_input(const dk::graph& g, std::size_t i = 0) {
  return dk::print(g.symbols, g.at(g.inputs[i]).type.dims).str();
}

}  // namespace onnx_models
