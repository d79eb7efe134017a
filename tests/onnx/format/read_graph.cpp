// SPDX-License-Identifier: MIT
// Tests of the decoded messages: every field that is read, and every file that is refused.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/onnx/format/read_graph.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/error_of.hpp"
#include "tests/support/onnx_messages.hpp"
#include "tests/support/random_source.hpp"

using namespace dnnkit::onnx;
namespace message = onnx_message;

namespace {

// The model's views point into `bytes`.
model read(const std::string& bytes) {
  model m;
  detail::read_model(wire_message(std::as_bytes(std::span(bytes)), "f"), m);
  return m;
}
std::string complaint(const std::string& bytes) {
  return error_of([&] { return read(bytes); });
}
// What is said about a model whose graph has this node or this initializer.
std::string node_complaint(const wire& node) { return complaint(message::model(wire().message(1, node)).bytes()); }
std::string attribute_complaint(const wire& attribute) {
  return node_complaint(message::node("Op", {}, {}, {attribute}));
}
std::string tensor_complaint(const wire& tensor) {
  return complaint(message::model(wire().message(5, tensor)).bytes());
}

}  // namespace

TEST_CASE("every field") {
  const std::string bytes = message::one_of_everything();
  const model m = read(bytes);
  CHECK(m.ir_version == 8);
  CHECK(m.producer_name == "tests");
  CHECK(m.producer_version == "1.0");
  CHECK(m.domain == "org.example");
  CHECK(m.model_version == 7);
  CHECK(m.opset() == 17);
  REQUIRE(m.opset_imports.size() == 2);
  CHECK(m.opset_imports[1].domain == "local");
  REQUIRE(m.metadata.size() == 1);
  CHECK(m.metadata[0].key == "key");
  CHECK(m.metadata[0].value == "value");

  const graph& g = m.graph;
  CHECK(g.name == "main");
  REQUIRE(g.nodes.size() == 3);
  const node& conv = g.nodes[0];
  CHECK(conv.op_type == "Conv");
  CHECK(conv.name == "c0");
  CHECK(conv.domain.empty());
  CHECK(conv.inputs == name_list{"x", "w", ""});
  CHECK(conv.outputs == name_list{"h"});
  REQUIRE(conv.find("pads") != nullptr);
  CHECK(conv.find("pads")->type == attribute_type::integers);
  CHECK(conv.find("pads")->ints == std::vector<std::int64_t>{1, 1, 1, 1});
  CHECK(conv.find("group")->i == 1);
  CHECK(conv.find("strides") == nullptr);

  const graph& branch = g.nodes[1].find("else_branch")->g();
  CHECK(branch.name == "else");
  CHECK(branch.nodes.at(0).op_type == "Neg");
  CHECK(branch.outputs.at(0).name == "n");

  const node& extra = g.nodes[2];
  CHECK(extra.domain == "com.example");
  CHECK(extra.overload == "fast");
  CHECK(extra.outputs.size() == 2);
  CHECK(extra.find("f")->f == 0.5f);
  CHECK(extra.find("s")->s == "text");
  CHECK(extra.find("t")->t().int64_data == std::vector<std::int64_t>{-1, 1LL << 40});
  CHECK(extra.find("fs")->floats == std::vector<float>{1, 2});
  CHECK(extra.find("ss")->strings == name_list{"a", ""});
  CHECK(extra.find("ts")->tensors.at(0).int32_data == std::vector<std::int32_t>{-7});
  CHECK(extra.find("gs")->graphs.at(0).nodes.size() == 1);
  CHECK(name(extra.find("sp")->type) == "SPARSE_TENSOR");
  CHECK(name(extra.find("tp")->type) == "TYPE_PROTO");
  CHECK(extra.find("r")->ref_attr_name == "alpha");

  REQUIRE(g.initializers.size() == 5);
  CHECK(g.initializers[0].name == "w");
  CHECK(g.initializers[0].data_type == 1);
  CHECK(g.initializers[0].dims == std::vector<std::int64_t>{1, 1, 2, 1});
  REQUIRE(g.initializers[0].raw_data.has_value());
  CHECK(g.initializers[0].raw_data->size() == 8);
  CHECK(!g.initializers[0].external.has_value());
  CHECK(g.initializers[1].double_data == std::vector<double>{0.25, 4});
  REQUIRE(g.initializers[2].external.has_value());
  CHECK(g.initializers[2].external->location == "far.bin");
  CHECK(g.initializers[2].external->offset == 64);
  CHECK(g.initializers[2].external->length == 16);
  CHECK(g.initializers[3].string_data == name_list{"cat"});
  CHECK(g.initializers[4].uint64_data == std::vector<std::uint64_t>{~std::uint64_t{0}});
  CHECK(g.sparse_initializers == name_list{"sparse"});

  REQUIRE(g.inputs.size() == 2);
  CHECK(g.inputs[0].kind == value_kind::tensor);
  CHECK(g.inputs[0].data_type == 1);
  REQUIRE(g.inputs[0].shape.has_value());
  const std::vector<dimension>& dims = *g.inputs[0].shape;
  REQUIRE(dims.size() == 4);
  CHECK(dims[0].value == 1);
  CHECK(dims[1].symbol == "C");
  CHECK(!dims[1].value.has_value());
  CHECK(dims[3].is_unknown());
  CHECK(g.inputs[1].shape->empty());
  CHECK(!g.outputs.at(0).shape.has_value());
  CHECK(name(g.value_infos.at(0).kind) == "sequence");

  REQUIRE(m.functions.size() == 1);
  const function& f = m.functions[0];
  CHECK(f.name == "Twice");
  CHECK(f.domain == "local");
  CHECK(f.overload == "v2");
  CHECK(f.inputs == name_list{"a"});
  CHECK(f.outputs == name_list{"b"});
  CHECK(f.attributes == name_list{"alpha"});
  CHECK(f.default_attributes.at(0).i == 3);
  CHECK(f.nodes.at(0).op_type == "Add");
  CHECK(f.opset_imports.at(0).version == 17);
}

TEST_CASE("every kind of value") {
  const auto kind = [](std::uint64_t field) {
    const std::string bytes =
        message::model(wire().message(11, wire().text(1, "v").message(2, wire().message(field, wire())))).bytes();
    return read(bytes).graph.inputs[0].kind;
  };
  CHECK(kind(1) == value_kind::tensor);
  CHECK(kind(4) == value_kind::sequence);
  CHECK(kind(5) == value_kind::map);
  CHECK(kind(7) == value_kind::opaque);
  CHECK(kind(8) == value_kind::sparse_tensor);
  CHECK(kind(9) == value_kind::optional);
  CHECK(kind(33) == value_kind::undeclared);
}

TEST_CASE("an attribute without a type has the type of its value") {
  const auto type = [](const wire& rest) {
    const std::string bytes =
        message::model(wire().message(1, message::node("Op", {}, {}, {wire().text(1, "a").raw(rest.bytes())}))).bytes();
    return read(bytes).graph.nodes[0].attributes[0].type;
  };
  CHECK(type(wire().real(2, 1.f)) == attribute_type::real);
  CHECK(type(wire().integer(3, 1)) == attribute_type::integer);
  CHECK(type(wire().text(4, "s")) == attribute_type::string);
  CHECK(type(wire().message(5, wire())) == attribute_type::tensor);
  CHECK(type(wire().message(6, wire())) == attribute_type::graph);
  CHECK(type(wire().integers(8, {1, 2})) == attribute_type::integers);
  CHECK(type(wire().message(23, wire())) == attribute_type::sparse_tensors);
  CHECK(type(wire()) == attribute_type::undefined);
}

TEST_CASE("a scalar attribute without a value is zero, as protobuf has it") {
  const std::string bytes =
      message::model(wire().message(1, message::node("Op", {}, {}, {message::attribute("i", 2)}))).bytes();
  CHECK(read(bytes).graph.nodes[0].find("i")->i == 0);
}

TEST_CASE("attributes that contradict themselves are refused") {
  const std::string node = "f, graph.node[0].attribute[0]";
  CHECK(attribute_complaint(message::attribute("a", 15)).starts_with(node + ".type, byte "));
  CHECK(attribute_complaint(message::attribute("a", 15)).ends_with("type is not known, expected 0 to 14, found 15"));
  CHECK(attribute_complaint(message::attribute("a", -1)).ends_with("expected 0 to 14, found -1"));
  CHECK(attribute_complaint(message::attribute("a", 2).real(2, 1.f))
            .ends_with("attribute 'a' has a value of another type than it says, expected INT, found FLOAT"));
  CHECK(attribute_complaint(message::attribute("a", 1).real(2, 1.f).integer(3, 1))
            .ends_with("attribute has values of two types, expected FLOAT, found INT"));
  CHECK(attribute_complaint(message::attribute("a", 4)).ends_with("attribute 'a' has no value, expected TENSOR"));
  CHECK(attribute_complaint(message::attribute("a", 5)).ends_with("attribute 'a' has no value, expected GRAPH"));
  CHECK(attribute_complaint(message::attribute("a", 5).message(6, wire()).message(6, wire()))
            .ends_with("attribute has two values, expected one GRAPH"));
}

TEST_CASE("malformed messages are refused with their path") {
  CHECK(complaint("") == "f, byte 0: is no ONNX model: it has no graph");
  CHECK(complaint(message::model(wire()).message(7, wire()).bytes()).ends_with("model has two graphs"));
  CHECK(node_complaint(wire().text(1, "x")) == "f, graph.node[0].op_type, byte 13: node has no operator");
  CHECK(node_complaint(wire().integer(4, 1)).starts_with("f, graph.node[0].op_type, byte 11: field is encoded"));
  CHECK(tensor_complaint(wire().real(1, 1.f)).starts_with("f, graph.initializer[0].dims, byte "));
  CHECK(tensor_complaint(wire().text(2, "x")).starts_with("f, graph.initializer[0].data_type, byte "));
  CHECK(tensor_complaint(wire().text(4, "abc")).ends_with("expected a multiple of 4 bytes, found 3"));
  CHECK(tensor_complaint(wire().text(5, "\xff")).ends_with("ends inside a varint"));
  CHECK(tensor_complaint(wire().message(3, wire()))
            .ends_with("is no whole tensor: a segment of one, a sequence or an optional, which are not supported"));
}

TEST_CASE("external data says where it is") {
  const auto complaint_about = [](std::initializer_list<wire> entries) {
    wire t = message::tensor("t", 1, {2});
    for (const wire& e : entries) t.message(13, e);
    return tensor_complaint(t.integer(14, 1));
  };
  const wire location = message::external("location", "f.bin");
  CHECK(complaint_about({}).ends_with("external data has no location"));
  CHECK(complaint_about({message::external("offset", "0")}).ends_with("external data has no location"));
  CHECK(complaint_about({location, message::external("offset", "")}).ends_with("is not a number of bytes, found ''"));
  CHECK(
      complaint_about({location, message::external("offset", "-1")}).ends_with("is not a number of bytes, found '-1'"));
  CHECK(
      complaint_about({location, message::external("length", "8x")}).ends_with("is not a number of bytes, found '8x'"));
  CHECK(complaint_about({location, message::external("length", "18446744073709551616")})
            .ends_with("is not a number of bytes, found '18446744073709551616'"));
  CHECK(complaint_about({location, message::external("checksum", "x")}) == "no error");
}

TEST_CASE("subgraphs nested a thousand deep are refused") {
  wire graph;
  for (int i = 0; i < 1000; ++i) {
    wire outer;
    graph = outer.message(1, message::node("If", {}, {}, {message::subgraph("then_branch", graph)}));
  }
  CHECK(complaint(message::model(graph).bytes()).find("messages are nested too deeply") != std::string::npos);
}

TEST_CASE("every prefix of a model is refused or read") {
  const std::string bytes = message::one_of_everything();
  std::size_t refused = 0;
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    const std::string prefix = bytes.substr(0, n);  // its own allocation, so that a sanitizer sees a read beyond it
    if (complaint(prefix) != "no error") ++refused;
  }
  CHECK(complaint(bytes) == "no error");
  CHECK(refused > bytes.size() * 3 / 4);  // those that end between two fields behind the graph are models
}

TEST_CASE("changed bytes are refused or read") {
  constexpr std::uint64_t seed = 20'240'101;
  INFO("seed ", seed);
  random_source random(seed);
  const std::string bytes = message::one_of_everything();
  for (int i = 0; i < 20'000; ++i) {
    std::string changed = bytes;
    for (int k = 0; k < 3; ++k) changed[random.below(changed.size())] = static_cast<char>(random.next());
    const std::string answer = complaint(changed);
    REQUIRE((answer == "no error" || answer.starts_with("f")));
  }
}

TEST_CASE("what is read takes memory in proportion to the file") {
  // Two bytes each: the smallest messages there are.
  std::string many;
  for (int i = 0; i < 10'000; ++i) many += wire().message(5, wire()).bytes();
  const std::string bytes = message::model(wire().raw(many)).bytes();
  const model m = read(bytes);
  CHECK(m.graph.initializers.size() == 10'000);
  CHECK(m.graph.initializers.capacity() * sizeof(tensor_data) < 400 * bytes.size());
}
