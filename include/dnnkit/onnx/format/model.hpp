// SPDX-License-Identifier: MIT
// An ONNX model as plain structs: what the file says, no more. Every string is a view into the bytes it was read from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dnnkit/onnx/format/data_type.hpp"

namespace dnnkit::onnx {

using name_list = std::vector<std::string_view>;

// Where the elements of a tensor lie when they are not in the model's own file.
struct external_data {
  std::string_view location;            // path relative to the model's folder
  std::uint64_t offset = 0;             // bytes from the beginning of that file
  std::optional<std::uint64_t> length;  // bytes; up to the end of that file when absent
};

// TensorProto. ONNX stores elements in exactly one of raw_data, the typed fields and external data; which typed field
// belongs to which data_type, and whether the number of elements fits, is checked where bytes are taken
// (onnx/format/tensor_bytes.hpp).
struct tensor_data {
  std::string_view name;
  std::int32_t data_type = 0;  // TensorProto.DataType; see dtype_of() and data_type_name()
  std::vector<std::int64_t> dims;
  std::optional<std::span<const std::byte>> raw_data;  // little-endian, row-major
  std::vector<float> float_data;
  std::vector<std::int32_t> int32_data;  // also the narrower integers, bool, and the bits of f16 and bf16
  std::vector<std::int64_t> int64_data;
  std::vector<double> double_data;
  std::vector<std::uint64_t> uint64_data;  // also u32
  name_list string_data;
  std::optional<external_data> external;
};

// AttributeProto.AttributeType
enum class attribute_type : std::uint8_t {
  undefined,
  real,
  integer,
  string,
  tensor,
  graph,
  reals,
  integers,
  strings,
  tensors,
  graphs,
  sparse_tensor,
  sparse_tensors,
  type_proto,
  type_protos,
};

// "FLOAT", "INTS", ...: ONNX's own words.
constexpr std::string_view name(attribute_type t) {
  constexpr std::string_view names[] = {
      "UNDEFINED", "FLOAT",   "INT",    "STRING",        "TENSOR",         "GRAPH",      "FLOATS",     "INTS",
      "STRINGS",   "TENSORS", "GRAPHS", "SPARSE_TENSOR", "SPARSE_TENSORS", "TYPE_PROTO", "TYPE_PROTOS"};
  return names[static_cast<std::size_t>(t)];
}

struct graph;

// AttributeProto. The member that `type` names holds the value. Of the last four types (sparse tensors, types) only the
// name is read: nothing here supports them. An attribute inside a function may refer to one of the function's by
// ref_attr_name; it then has no value of its own.
struct attribute {
  std::string_view name;
  attribute_type type = attribute_type::undefined;
  float f = 0;
  std::int64_t i = 0;
  std::string_view s;
  std::vector<float> floats;
  std::vector<std::int64_t> ints;
  name_list strings;
  std::vector<tensor_data> tensors;  // one element when the type is `tensor`
  std::vector<graph> graphs;         // one element when the type is `graph`
  std::string_view ref_attr_name;

  // The value of an attribute whose type is `tensor` or `graph`.
  const tensor_data& t() const { return tensors.front(); }
  const graph& g() const;
};

// NodeProto. An empty name among `inputs` is an optional input left out, among `outputs` one that nobody reads.
struct node {
  std::string_view op_type;
  std::string_view domain;  // as in the file; "" and "ai.onnx" both mean ONNX's own operators
  std::string_view overload;
  std::string_view name;
  name_list inputs, outputs;
  std::vector<attribute> attributes;

  // nullptr when there is no attribute of that name.
  const attribute* find(std::string_view attribute_name) const noexcept {
    for (const attribute& a : attributes)
      if (a.name == attribute_name) return &a;
    return nullptr;
  }
};

// One dimension of a declared shape: a number, a symbol, or (both absent) unknown.
struct dimension {
  std::optional<std::int64_t> value;
  std::string_view symbol;

  bool is_unknown() const noexcept { return !value && symbol.empty(); }
};

// What a TypeProto describes.
enum class value_kind : std::uint8_t { undeclared, tensor, sequence, map, optional, sparse_tensor, opaque };

constexpr std::string_view name(value_kind k) {
  constexpr std::string_view names[] = {"undeclared", "tensor",        "sequence", "map",
                                        "optional",   "sparse tensor", "opaque"};
  return names[static_cast<std::size_t>(k)];
}

// ValueInfoProto. Element type and shape are those of a tensor; other kinds have neither.
struct value_info {
  std::string_view name;
  value_kind kind = value_kind::undeclared;
  std::int32_t data_type = 0;
  std::optional<std::vector<dimension>> shape;  // absent: even the rank is unknown
};

// GraphProto: the main graph, or the body of an If, Loop or Scan (which also sees the values of the graphs around it).
struct graph {
  std::string_view name;
  std::vector<node> nodes;  // in topological order, says ONNX; not checked here
  std::vector<tensor_data> initializers;
  name_list sparse_initializers;  // their names; their elements are not read
  std::vector<value_info> inputs, outputs, value_infos;
};

inline const graph& attribute::g() const { return graphs.front(); }

// OperatorSetIdProto: a domain and the version of its operators.
struct opset_import {
  std::string_view domain;
  std::int64_t version = 0;
};

// FunctionProto: an operator defined in the model by other operators.
struct function {
  std::string_view name, domain, overload;
  name_list inputs, outputs;
  name_list attributes;                       // without default
  std::vector<attribute> default_attributes;  // with the value they have when the node does not give one
  std::vector<node> nodes;
  std::vector<opset_import> opset_imports;
  std::vector<value_info> value_infos;
};

struct metadata_entry {
  std::string_view key, value;
};

// ModelProto. Training information and device configurations are not read.
struct model {
  std::int64_t ir_version = 0;
  std::vector<opset_import> opset_imports;
  std::string_view producer_name, producer_version, domain;
  std::int64_t model_version = 0;
  onnx::graph graph;
  std::vector<function> functions;
  std::vector<metadata_entry> metadata;

  // The version of ONNX's own operators, 0 when the model imports none.
  std::int64_t opset() const noexcept {
    for (const opset_import& o : opset_imports)
      if (o.domain.empty() || o.domain == "ai.onnx") return o.version;
    return 0;
  }
};

}  // namespace dnnkit::onnx
