// SPDX-License-Identifier: MIT
// The messages of onnx.proto that tests write.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "tests/support/wire_writer.hpp"

namespace onnx_message {

using extents = std::initializer_list<std::int64_t>;

inline wire attribute(std::string_view name, std::int64_t type) { return wire().text(1, name).integer(20, type); }
inline wire integer(std::string_view name, std::int64_t i) { return attribute(name, 2).integer(3, i); }
inline wire integers(std::string_view name, extents list) {
  wire a = attribute(name, 7);
  for (const std::int64_t i : list) a.integer(8, i);  // not packed, as protobuf 2 writes them
  return a;
}
inline wire subgraph(std::string_view name, const wire& g) { return attribute(name, 5).message(6, g); }

inline wire node(std::string_view op, std::initializer_list<std::string_view> inputs,
                 std::initializer_list<std::string_view> outputs, std::initializer_list<wire> attributes = {}) {
  wire n;
  for (const std::string_view i : inputs) n.text(1, i);
  for (const std::string_view o : outputs) n.text(2, o);
  n.text(4, op);
  for (const wire& a : attributes) n.message(5, a);
  return n;
}

// Without elements.
inline wire tensor(std::string_view name, std::int64_t data_type, extents dims) {
  wire t;
  for (const std::int64_t d : dims) t.integer(1, d);
  return t.integer(2, data_type).text(8, name);
}
inline wire external(std::string_view key, std::string_view value) { return wire().text(1, key).text(2, value); }

inline wire known(std::int64_t d) { return wire().integer(1, d); }
inline wire symbol(std::string_view s) { return wire().text(2, s); }
inline wire value(std::string_view name, std::int64_t data_type, std::initializer_list<wire> dims) {
  wire shape;
  for (const wire& d : dims) shape.message(1, d);
  return wire().text(1, name).message(2, wire().message(1, wire().integer(1, data_type).message(2, shape)));
}

inline wire opset(std::string_view domain, std::int64_t version) {
  wire o;
  if (!domain.empty()) o.text(1, domain);
  return o.integer(2, version);
}
inline wire model(const wire& graph, std::int64_t version = 17) {
  return wire().integer(1, 8).message(8, opset("", version)).message(7, graph);
}

// Every kind of field the reader knows, once: y = If(c, Conv(x, w), Neg(x)) and a function.
inline std::string one_of_everything() {
  const wire branch = wire().message(1, node("Neg", {"x"}, {"n"})).text(2, "else").message(12, value("n", 1, {}));
  wire graph;
  graph.message(
      1, node("Conv", {"x", "w", ""}, {"h"}, {integers("pads", {1, 1, 1, 1}), integer("group", 1)}).text(3, "c0"));
  graph.message(1, node("If", {"c"}, {"y"}, {subgraph("then_branch", branch), subgraph("else_branch", branch)}));
  graph.message(1, node("Extra", {}, {"e", "f"},
                        {attribute("f", 1).real(2, 0.5f), attribute("s", 3).text(4, "text"),
                         attribute("t", 4).message(5, tensor("", 7, {2}).integers(7, {-1, 1LL << 40})),
                         attribute("fs", 6).reals(7, {1.f, 2.f}), attribute("ss", 8).text(9, "a").text(9, ""),
                         attribute("ts", 9).message(10, tensor("t0", 6, {1}).integers(5, {-7})),
                         attribute("gs", 10).message(11, branch), attribute("sp", 11).message(22, wire()),
                         attribute("tp", 13).message(14, wire()), attribute("r", 1).text(21, "alpha")})
                       .text(7, "com.example")
                       .text(8, "fast"));
  graph.text(2, "main");
  graph.message(5, tensor("w", 1, {1, 1, 2, 1}).text(9, wire::fixed(1.5f) + wire::fixed(-2.f)));
  graph.message(5, tensor("d", 11, {2}).reals(10, {0.25, 4.}));
  graph.message(5, tensor("far", 10, {8})
                       .message(13, external("location", "far.bin"))
                       .message(13, external("offset", "64"))
                       .message(13, external("length", "16"))
                       .integer(14, 1));
  graph.message(5, tensor("names", 8, {1}).text(6, "cat"));
  graph.message(5, tensor("u", 13, {1}).integers(11, {-1}));
  graph.message(11, value("x", 1, {known(1), symbol("C"), known(8), wire()}));
  graph.message(11, value("c", 9, {}));
  graph.message(12, wire().text(1, "y").message(2, wire().message(1, wire().integer(1, 1))));
  graph.message(13, wire().text(1, "list").message(2, wire().message(4, wire())));
  graph.message(15, wire().message(1, tensor("sparse", 1, {1})).integer(3, 4));
  const wire function = wire()
                            .text(1, "Twice")
                            .text(4, "a")
                            .text(5, "b")
                            .text(6, "alpha")
                            .message(7, node("Add", {"a", "a"}, {"b"}))
                            .message(9, opset("", 17))
                            .text(10, "local")
                            .message(11, integer("beta", 3))
                            .text(13, "v2");
  return model(graph)
      .text(2, "tests")
      .text(3, "1.0")
      .text(4, "org.example")
      .integer(5, 7)
      .text(6, "a doc string")
      .message(8, opset("local", 1))
      .message(14, external("key", "value"))
      .message(25, function)
      .bytes();
}

}  // namespace onnx_message
