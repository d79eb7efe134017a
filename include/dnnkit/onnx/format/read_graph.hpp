// SPDX-License-Identifier: MIT
// The messages of onnx.proto, decoded into the structs of onnx/format/model.hpp; fields that are not there are passed
// over.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "dnnkit/onnx/format/model.hpp"
#include "dnnkit/onnx/format/wire.hpp"
#include "dnnkit/weights/stored_tensor.hpp"

namespace dnnkit::onnx::detail {

// A repeated message: decoded at the end of `list`.
template <class T>
void append(wire_message& m, const char* name, std::vector<T>& list, void (*read)(wire_message, T&)) {
  wire_message inner = m.message(name, list.size());
  read(std::move(inner), list.emplace_back());
}

inline void read_entry(wire_message m, metadata_entry& e) {
  while (m.next()) switch (m.field()) {
      case 1:
        e.key = m.text("key");
        break;
      case 2:
        e.value = m.text("value");
        break;
      default:
        m.skip();
    }
}

inline void read_opset(wire_message m, opset_import& o) {
  while (m.next()) switch (m.field()) {
      case 1:
        o.domain = m.text("domain");
        break;
      case 2:
        o.version = m.integer("version");
        break;
      default:
        m.skip();
    }
}

inline std::uint64_t decimal(const wire_message& m, const metadata_entry& e) {
  std::uint64_t value = 0;
  const char* end = e.value.data() + e.value.size();
  const auto [stop, failure] = std::from_chars(e.value.data(), end, value);
  if (failure != std::errc() || stop != end)
    m.fail("is not a number of bytes", e.key, "", dnnkit::detail::quoted(e.value));
  return value;
}

inline void read_external(const wire_message& m, const std::vector<metadata_entry>& entries, tensor_data& t) {
  external_data x;
  for (const metadata_entry& e : entries) {
    if (e.key == "location") x.location = e.value;
    if (e.key == "offset") x.offset = decimal(m, e);
    if (e.key == "length") x.length = decimal(m, e);
  }
  if (x.location.empty()) m.fail("external data has no location", "external_data");
  t.external = x;
}

inline void read_tensor(wire_message m, tensor_data& t) {
  std::vector<metadata_entry> external;
  bool is_external = false;
  while (m.next()) switch (m.field()) {
      case 1:
        m.numbers("dims", t.dims);
        break;
      case 2:
        t.data_type = static_cast<std::int32_t>(m.integer("data_type"));
        break;
      case 3:  // also where SequenceProto and OptionalProto have their elements
        m.fail("is no whole tensor: a segment of one, a sequence or an optional, which are not supported");
      case 4:
        m.numbers("float_data", t.float_data);
        break;
      case 5:
        m.numbers("int32_data", t.int32_data);
        break;
      case 6:
        t.string_data.push_back(m.text("string_data"));
        break;
      case 7:
        m.numbers("int64_data", t.int64_data);
        break;
      case 8:
        t.name = m.text("name");
        break;
      case 9:
        t.raw_data = m.bytes("raw_data");
        break;
      case 10:
        m.numbers("double_data", t.double_data);
        break;
      case 11:
        m.numbers("uint64_data", t.uint64_data);
        break;
      case 13:
        append(m, "external_data", external, read_entry);
        break;
      case 14:
        is_external = m.integer("data_location") == 1;
        break;
      default:
        m.skip();
    }
  if (is_external) read_external(m, external, t);
}

// The name of a SparseTensorProto is that of its `values`.
inline void read_sparse(wire_message m, std::string_view& name) {
  while (m.next()) {
    if (m.field() != 1) {
      m.skip();
      continue;
    }
    wire_message values = m.message("values");
    while (values.next())
      if (values.field() == 8) name = values.text("name");
      else values.skip();
  }
}

inline void read_dimension(wire_message m, dimension& d) {
  while (m.next()) switch (m.field()) {
      case 1:
        d = {m.integer("dim_value"), {}};
        break;
      case 2:
        d = {{}, m.text("dim_param")};
        break;
      default:
        m.skip();
    }
}

inline void read_shape(wire_message m, std::vector<dimension>& dims) {
  while (m.next())
    if (m.field() == 1) append(m, "dim", dims, read_dimension);
    else m.skip();
}

inline void read_tensor_type(wire_message m, value_info& v) {
  while (m.next()) switch (m.field()) {
      case 1:
        v.data_type = static_cast<std::int32_t>(m.integer("elem_type"));
        break;
      case 2:
        read_shape(m.message("shape"), v.shape.emplace());
        break;
      default:
        m.skip();
    }
}

inline void read_type(wire_message m, value_info& v) {
  const auto of_kind = [&](value_kind k) {
    v.kind = k;
    m.skip();
  };
  while (m.next()) switch (m.field()) {
      case 1:
        v.kind = value_kind::tensor;
        read_tensor_type(m.message("tensor_type"), v);
        break;
      case 4:
        of_kind(value_kind::sequence);
        break;
      case 5:
        of_kind(value_kind::map);
        break;
      case 7:
        of_kind(value_kind::opaque);
        break;
      case 8:
        of_kind(value_kind::sparse_tensor);
        break;
      case 9:
        of_kind(value_kind::optional);
        break;
      default:
        m.skip();
    }
}

inline void read_value_info(wire_message m, value_info& v) {
  while (m.next()) switch (m.field()) {
      case 1:
        v.name = m.text("name");
        break;
      case 2:
        read_type(m.message("type"), v);
        break;
      default:
        m.skip();
    }
}

// The field that holds a value of type i, attribute_type being numbered as AttributeProto.AttributeType.
inline constexpr std::array<std::uint64_t, 15> value_field{0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 22, 23, 14, 15};
static_assert(static_cast<int>(attribute_type::sparse_tensor) == 11 &&
              static_cast<int>(attribute_type::type_protos) == 14);

void read_graph(wire_message m, graph& g);

// The type may be left out (by the first versions of the format); the one field with a value tells it then.
inline void read_attribute(wire_message m, attribute& a) {
  std::int64_t stated = 0;
  attribute_type found = attribute_type::undefined;
  const auto note_value = [&](std::uint64_t field) {
    const auto at = std::ranges::find(value_field, field);
    if (field == 0 || at == value_field.end()) return;
    const auto type = static_cast<attribute_type>(at - value_field.begin());
    if (found != attribute_type::undefined && found != type)
      m.fail("attribute has values of two types", "", std::string(name(found)), std::string(name(type)));
    if (found == type && (type == attribute_type::tensor || type == attribute_type::graph))
      m.fail("attribute has two values", "", "one " + std::string(name(type)));
    found = type;
  };
  while (m.next()) {
    note_value(m.field());
    switch (m.field()) {
      case 1:
        a.name = m.text("name");
        break;
      case 2:
        a.f = m.real("f");
        break;
      case 3:
        a.i = m.integer("i");
        break;
      case 4:
        a.s = m.text("s");
        break;
      case 5:
        append(m, "t", a.tensors, read_tensor);
        break;
      case 6:
        append(m, "g", a.graphs, read_graph);
        break;
      case 7:
        m.numbers("floats", a.floats);
        break;
      case 8:
        m.numbers("ints", a.ints);
        break;
      case 9:
        a.strings.push_back(m.text("strings"));
        break;
      case 10:
        append(m, "tensors", a.tensors, read_tensor);
        break;
      case 11:
        append(m, "graphs", a.graphs, read_graph);
        break;
      case 20:
        stated = m.integer("type");
        break;
      case 21:
        a.ref_attr_name = m.text("ref_attr_name");
        break;
      default:
        m.skip();
    }
  }
  if (stated < 0 || static_cast<std::size_t>(stated) >= value_field.size())
    m.fail("attribute's type is not known", "type", "0 to 14", std::to_string(stated));
  a.type = stated == 0 ? found : static_cast<attribute_type>(stated);
  if (found != attribute_type::undefined && found != a.type)
    m.fail("attribute " + dnnkit::detail::quoted(a.name) + " has a value of another type than it says", "",
           std::string(name(a.type)), std::string(name(found)));
  if (a.ref_attr_name.empty() && found == attribute_type::undefined &&
      (a.type == attribute_type::tensor || a.type == attribute_type::graph))
    m.fail("attribute " + dnnkit::detail::quoted(a.name) + " has no value", "", std::string(name(a.type)));
}

inline void read_node(wire_message m, node& n) {
  while (m.next()) switch (m.field()) {
      case 1:
        n.inputs.push_back(m.text("input"));
        break;
      case 2:
        n.outputs.push_back(m.text("output"));
        break;
      case 3:
        n.name = m.text("name");
        break;
      case 4:
        n.op_type = m.text("op_type");
        break;
      case 5:
        append(m, "attribute", n.attributes, read_attribute);
        break;
      case 7:
        n.domain = m.text("domain");
        break;
      case 8:
        n.overload = m.text("overload");
        break;
      default:
        m.skip();
    }
  if (n.op_type.empty()) m.fail("node has no operator", "op_type");
}

inline void read_graph(wire_message m, graph& g) {
  while (m.next()) switch (m.field()) {
      case 1:
        append(m, "node", g.nodes, read_node);
        break;
      case 2:
        g.name = m.text("name");
        break;
      case 5:
        append(m, "initializer", g.initializers, read_tensor);
        break;
      case 11:
        append(m, "input", g.inputs, read_value_info);
        break;
      case 12:
        append(m, "output", g.outputs, read_value_info);
        break;
      case 13:
        append(m, "value_info", g.value_infos, read_value_info);
        break;
      case 15:
        append(m, "sparse_initializer", g.sparse_initializers, read_sparse);
        break;
      default:
        m.skip();
    }
}

inline void read_function(wire_message m, function& f) {
  while (m.next()) switch (m.field()) {
      case 1:
        f.name = m.text("name");
        break;
      case 4:
        f.inputs.push_back(m.text("input"));
        break;
      case 5:
        f.outputs.push_back(m.text("output"));
        break;
      case 6:
        f.attributes.push_back(m.text("attribute"));
        break;
      case 7:
        append(m, "node", f.nodes, read_node);
        break;
      case 9:
        append(m, "opset_import", f.opset_imports, read_opset);
        break;
      case 10:
        f.domain = m.text("domain");
        break;
      case 11:
        append(m, "attribute_proto", f.default_attributes, read_attribute);
        break;
      case 12:
        append(m, "value_info", f.value_infos, read_value_info);
        break;
      case 13:
        f.overload = m.text("overload");
        break;
      default:
        m.skip();
    }
}

// One field of the outermost message; false for one that a ModelProto does not have.
inline bool read_model_field(wire_message& m, model& to, bool& has_graph) {
  switch (m.field()) {
    case 1:
      to.ir_version = m.integer("ir_version");
      return true;
    case 2:
      to.producer_name = m.text("producer_name");
      return true;
    case 3:
      to.producer_version = m.text("producer_version");
      return true;
    case 4:
      to.domain = m.text("domain");
      return true;
    case 5:
      to.model_version = m.integer("model_version");
      return true;
    case 7:
      if (std::exchange(has_graph, true)) m.fail("model has two graphs", "graph");
      read_graph(m.message("graph"), to.graph);
      return true;
    case 8:
      append(m, "opset_import", to.opset_imports, read_opset);
      return true;
    case 14:
      append(m, "metadata_props", to.metadata, read_entry);
      return true;
    case 25:
      append(m, "functions", to.functions, read_function);
      return true;
    default:
      m.skip();
      return false;
  }
}

// What fails before anything of a model was read is no damaged model, but none.
inline void read_model(wire_message m, model& to) {
  bool has_graph = false, is_model = false;
  try {
    while (m.next()) is_model |= read_model_field(m, to, has_graph);
  } catch (const error& e) {
    if (is_model) throw;
    throw error("is no ONNX model: " + e.problem(), e.where(), e.expected(), e.found());
  }
  if (!has_graph) m.fail("is no ONNX model: it has no graph");
}

}  // namespace dnnkit::onnx::detail
