// SPDX-License-Identifier: MIT
// The messages of onnx.proto as tables of their fields, and the one function that reads a message by its table into a
// struct of onnx/format/model.hpp. Fields that no table has are passed over.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "dnnkit/onnx/format/model.hpp"
#include "dnnkit/onnx/format/wire.hpp"
#include "dnnkit/weights/stored_tensor.hpp"

namespace dnnkit::onnx::detail {

// A field of a message that is read into T: its number, what ONNX calls it, and how it is taken.
template <class T> struct field {
  std::uint64_t number;
  const char* name;
  void (*take)(wire_message&, const char* name, T&);
};

// message<T>::fields is the table of what is read into T.
template <class T> struct message;

// The field that the message stands at, if the table has it.
template <class T> bool read_field(wire_message& m, T& to) {
  for (const field<T>& f : message<T>::fields)
    if (f.number == m.field()) {
      f.take(m, f.name, to);
      return true;
    }
  m.skip();
  return false;
}
template <class T> void read(wire_message m, T& to) {
  while (m.next()) read_field(m, to);
  if constexpr (requires { message<T>::check(m, to); }) message<T>::check(m, to);
}
// Those of which a file says something else than the struct.
void read(wire_message m, tensor_data& to);
void read(wire_message m, attribute& to);
void read(wire_message m, graph& to);

// How a member is encoded follows from its type: text and bytes, varints (of which an int32 keeps the lowest bits), 4
// bytes of a float, repeated numbers, repeated texts, repeated messages, one message.
inline void take(wire_message& m, const char* name, std::string_view& to) { to = m.text(name); }
inline void take(wire_message& m, const char* name, std::optional<std::span<const std::byte>>& to) {
  to = m.bytes(name);
}
inline void take(wire_message& m, const char* name, std::int64_t& to) { to = m.integer(name); }
inline void take(wire_message& m, const char* name, std::int32_t& to) {
  to = static_cast<std::int32_t>(m.integer(name));
}
inline void take(wire_message& m, const char* name, float& to) { to = m.real(name); }
inline void take(wire_message& m, const char* name, name_list& to) { to.push_back(m.text(name)); }
template <class T>
requires std::is_arithmetic_v<T>
void take(wire_message& m, const char* name, std::vector<T>& to) { m.numbers(name, to); }
template <class T>
requires std::is_class_v<T>
void take(wire_message& m, const char* name, std::vector<T>& to) {
  wire_message inner = m.message(name, to.size());
  read(std::move(inner), to.emplace_back());
}
template <class T>
requires std::is_class_v<T>
void take(wire_message& m, const char* name, T& to) { read(m.message(name), to); }

// What tables of fields are written with: member<&T::name> takes the field into that member.
template <class T> struct read_into {
  template <auto Member> static void member(wire_message& m, const char* name, T& to) { take(m, name, to.*Member); }
};

template <> struct message<metadata_entry> : read_into<metadata_entry> {
  using to = metadata_entry;
  static constexpr field<to> fields[] = {{1, "key", member<&to::key>}, {2, "value", member<&to::value>}};
};

template <> struct message<opset_import> : read_into<opset_import> {
  using to = opset_import;
  static constexpr field<to> fields[] = {{1, "domain", member<&to::domain>}, {2, "version", member<&to::version>}};
};

inline std::uint64_t decimal(const wire_message& m, const metadata_entry& e) {
  std::uint64_t value = 0;
  const char* end = e.value.data() + e.value.size();
  const auto [stop, failure] = std::from_chars(e.value.data(), end, value);
  if (failure != std::errc() || stop != end)
    m.fail("is not a number of bytes", e.key, "", dnnkit::detail::quoted(e.value));
  return value;
}

// A TensorProto as it is stored: where external data lies is a list of words.
struct stored_tensor_fields : tensor_data {
  std::vector<metadata_entry> external_data;
  std::int64_t data_location = 0;
};

template <> struct message<stored_tensor_fields> : read_into<stored_tensor_fields> {
  using to = stored_tensor_fields;
  // also where SequenceProto and OptionalProto have their elements
  static void refuse_segment(wire_message& m, const char*, to&) {
    m.fail("is no whole tensor: a segment of one, a sequence or an optional, which are not supported");
  }
  static constexpr field<to> fields[] = {{1, "dims", member<&to::dims>},
                                         {2, "data_type", member<&to::data_type>},
                                         {3, "segment", refuse_segment},
                                         {4, "float_data", member<&to::float_data>},
                                         {5, "int32_data", member<&to::int32_data>},
                                         {6, "string_data", member<&to::string_data>},
                                         {7, "int64_data", member<&to::int64_data>},
                                         {8, "name", member<&to::name>},
                                         {9, "raw_data", member<&to::raw_data>},
                                         {10, "double_data", member<&to::double_data>},
                                         {11, "uint64_data", member<&to::uint64_data>},
                                         {13, "external_data", member<&to::external_data>},
                                         {14, "data_location", member<&to::data_location>}};
  static void check(const wire_message& m, to& t) {
    if (t.data_location != 1) return;
    onnx::external_data x;
    for (const metadata_entry& e : t.external_data) {
      if (e.key == "location") x.location = e.value;
      if (e.key == "offset") x.offset = decimal(m, e);
      if (e.key == "length") x.length = decimal(m, e);
    }
    if (x.location.empty()) m.fail("external data has no location", "external_data");
    t.external = x;
  }
};
inline void read(wire_message m, tensor_data& to) {
  stored_tensor_fields t;
  read(std::move(m), t);
  to = static_cast<tensor_data&&>(t);
}

// The name of a SparseTensorProto is that of its `values`, of which nothing else is read.
struct sparse_values {
  std::string_view name;
};
template <> struct message<sparse_values> : read_into<sparse_values> {
  using to = sparse_values;
  static constexpr field<to> fields[] = {{8, "name", member<&to::name>}};
};
struct sparse_tensor {
  sparse_values values;
};
template <> struct message<sparse_tensor> : read_into<sparse_tensor> {
  using to = sparse_tensor;
  static constexpr field<to> fields[] = {{1, "values", member<&to::values>}};
};

template <> struct message<dimension> : read_into<dimension> {
  using to = dimension;
  // One of the two: the last one counts.
  static void number(wire_message& m, const char* name, to& d) { d = {m.integer(name), {}}; }
  static void symbol(wire_message& m, const char* name, to& d) { d = {{}, m.text(name)}; }
  static constexpr field<to> fields[] = {{1, "dim_value", number}, {2, "dim_param", symbol}};
};

struct tensor_shape {
  std::vector<dimension> dims;
};
template <> struct message<tensor_shape> : read_into<tensor_shape> {
  using to = tensor_shape;
  static constexpr field<to> fields[] = {{1, "dim", member<&to::dims>}};
};

struct tensor_type_fields {
  std::int32_t data_type = 0;
  std::optional<std::vector<dimension>> shape;
};
template <> struct message<tensor_type_fields> : read_into<tensor_type_fields> {
  using to = tensor_type_fields;
  static void shape(wire_message& m, const char* name, to& t) {
    tensor_shape s;
    take(m, name, s);
    t.shape = std::move(s.dims);
  }
  static constexpr field<to> fields[] = {{1, "elem_type", member<&to::data_type>}, {2, "shape", shape}};
};

struct type_fields {
  value_kind kind = value_kind::undeclared;
  tensor_type_fields tensor;
};
template <> struct message<type_fields> : read_into<type_fields> {
  using to = type_fields;
  static void tensor(wire_message& m, const char* name, to& t) {
    t.kind = value_kind::tensor;
    take(m, name, t.tensor);
  }
  template <value_kind Kind> static void other(wire_message& m, const char*, to& t) {
    t.kind = Kind;
    m.skip();
  }
  static constexpr field<to> fields[] = {{1, "tensor_type", tensor},
                                         {4, "sequence_type", other<value_kind::sequence>},
                                         {5, "map_type", other<value_kind::map>},
                                         {7, "opaque_type", other<value_kind::opaque>},
                                         {8, "sparse_tensor_type", other<value_kind::sparse_tensor>},
                                         {9, "optional_type", other<value_kind::optional>}};
};

template <> struct message<value_info> : read_into<value_info> {
  using to = value_info;
  static void type(wire_message& m, const char* name, to& v) {
    type_fields t{v.kind, {v.data_type, std::move(v.shape)}};
    take(m, name, t);
    v.kind = t.kind;
    v.data_type = t.tensor.data_type;
    v.shape = std::move(t.tensor.shape);
  }
  static constexpr field<to> fields[] = {{1, "name", member<&to::name>}, {2, "type", type}};
};

// The field that holds a value of type i, attribute_type being numbered as AttributeProto.AttributeType.
inline constexpr std::array<std::uint64_t, 15> value_field{0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 22, 23, 14, 15};
static_assert(static_cast<int>(attribute_type::sparse_tensor) == 11 &&
              static_cast<int>(attribute_type::type_protos) == 14);

// An AttributeProto as it is stored: the type that it states, and the one that its values have.
struct attribute_fields : attribute {
  std::int64_t stated = 0;
  attribute_type found = attribute_type::undefined;

  void note_value(const wire_message& m) {
    const auto at = std::ranges::find(value_field, m.field());
    if (m.field() == 0 || at == value_field.end()) return;
    const auto of_field = static_cast<attribute_type>(at - value_field.begin());
    if (found != attribute_type::undefined && found != of_field)
      m.fail("attribute has values of two types", "", std::string(onnx::name(found)),
             std::string(onnx::name(of_field)));
    if (found == of_field && (of_field == attribute_type::tensor || of_field == attribute_type::graph))
      m.fail("attribute has two values", "", "one " + std::string(onnx::name(of_field)));
    found = of_field;
  }
};
template <> struct message<attribute_fields> : read_into<attribute_fields> {
  using to = attribute_fields;
  static constexpr field<to> fields[] = {{1, "name", member<&to::name>},
                                         {2, "f", member<&to::f>},
                                         {3, "i", member<&to::i>},
                                         {4, "s", member<&to::s>},
                                         {5, "t", member<&to::tensors>},
                                         {6, "g", member<&to::graphs>},
                                         {7, "floats", member<&to::floats>},
                                         {8, "ints", member<&to::ints>},
                                         {9, "strings", member<&to::strings>},
                                         {10, "tensors", member<&to::tensors>},
                                         {11, "graphs", member<&to::graphs>},
                                         {20, "type", member<&to::stated>},
                                         {21, "ref_attr_name", member<&to::ref_attr_name>}};
  static void check(const wire_message& m, to& a) {
    if (a.stated < 0 || static_cast<std::size_t>(a.stated) >= value_field.size())
      m.fail("attribute's type is not known", "type", "0 to 14", std::to_string(a.stated));
    a.type = a.stated == 0 ? a.found : static_cast<attribute_type>(a.stated);
    if (a.found != attribute_type::undefined && a.found != a.type)
      m.fail("attribute " + dnnkit::detail::quoted(a.name) + " has a value of another type than it says", "",
             std::string(onnx::name(a.type)), std::string(onnx::name(a.found)));
    if (a.ref_attr_name.empty() && a.found == attribute_type::undefined &&
        (a.type == attribute_type::tensor || a.type == attribute_type::graph))
      m.fail("attribute " + dnnkit::detail::quoted(a.name) + " has no value", "", std::string(onnx::name(a.type)));
  }
};
// The type may be left out (by the first versions of the format); the one field with a value tells it then.
inline void read(wire_message m, attribute& to) {
  attribute_fields a;
  while (m.next()) {
    a.note_value(m);
    read_field(m, a);
  }
  message<attribute_fields>::check(m, a);
  to = static_cast<attribute&&>(a);
}

template <> struct message<node> : read_into<node> {
  using to = node;
  static constexpr field<to> fields[] = {{1, "input", member<&to::inputs>},
                                         {2, "output", member<&to::outputs>},
                                         {3, "name", member<&to::name>},
                                         {4, "op_type", member<&to::op_type>},
                                         {5, "attribute", member<&to::attributes>},
                                         {7, "domain", member<&to::domain>},
                                         {8, "overload", member<&to::overload>}};
  static void check(const wire_message& m, const to& n) {
    if (n.op_type.empty()) m.fail("node has no operator", "op_type");
  }
};

struct graph_fields : graph {
  std::vector<sparse_tensor> sparse;
};
template <> struct message<graph_fields> : read_into<graph_fields> {
  using to = graph_fields;
  static constexpr field<to> fields[] = {{1, "node", member<&to::nodes>},
                                         {2, "name", member<&to::name>},
                                         {5, "initializer", member<&to::initializers>},
                                         {11, "input", member<&to::inputs>},
                                         {12, "output", member<&to::outputs>},
                                         {13, "value_info", member<&to::value_infos>},
                                         {15, "sparse_initializer", member<&to::sparse>}};
  static void check(const wire_message&, to& g) {
    for (const sparse_tensor& t : g.sparse) g.sparse_initializers.push_back(t.values.name);
  }
};
inline void read(wire_message m, graph& to) {
  graph_fields g;
  read(std::move(m), g);
  to = static_cast<graph&&>(g);
}

template <> struct message<function> : read_into<function> {
  using to = function;
  static constexpr field<to> fields[] = {{1, "name", member<&to::name>},
                                         {4, "input", member<&to::inputs>},
                                         {5, "output", member<&to::outputs>},
                                         {6, "attribute", member<&to::attributes>},
                                         {7, "node", member<&to::nodes>},
                                         {9, "opset_import", member<&to::opset_imports>},
                                         {10, "domain", member<&to::domain>},
                                         {11, "attribute_proto", member<&to::default_attributes>},
                                         {12, "value_info", member<&to::value_infos>},
                                         {13, "overload", member<&to::overload>}};
};

struct model_fields : model {
  bool has_graph = false;
};
template <> struct message<model_fields> : read_into<model_fields> {
  using to = model_fields;
  static void graph(wire_message& m, const char* name, to& t) {
    if (std::exchange(t.has_graph, true)) m.fail("model has two graphs", name);
    take(m, name, t.graph);
  }
  static constexpr field<to> fields[] = {{1, "ir_version", member<&to::ir_version>},
                                         {2, "producer_name", member<&to::producer_name>},
                                         {3, "producer_version", member<&to::producer_version>},
                                         {4, "domain", member<&to::domain>},
                                         {5, "model_version", member<&to::model_version>},
                                         {7, "graph", graph},
                                         {8, "opset_import", member<&to::opset_imports>},
                                         {14, "metadata_props", member<&to::metadata>},
                                         {25, "functions", member<&to::functions>}};
};

// What fails before anything of a model was read is no damaged model, but none.
inline void read_model(wire_message m, model& to) {
  model_fields all;
  bool is_model = false;
  try {
    while (m.next()) is_model |= read_field(m, all);
  } catch (const error& e) {
    if (is_model) throw;
    throw error("is no ONNX model: " + e.problem(), e.where(), e.expected(), e.found());
  }
  if (!all.has_graph) m.fail("is no ONNX model: it has no graph");
  to = static_cast<model&&>(all);
}

}  // namespace dnnkit::onnx::detail
