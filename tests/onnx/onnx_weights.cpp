// SPDX-License-Identifier: MIT
// Tests of an ONNX model's weights by name, and of a session that is opened with them.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/onnx/onnx_weights.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dnnkit/graph.hpp"
#include "dnnkit/weights/host_weights.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/onnx_messages.hpp"
#include "tests/support/resident_memory.hpp"
#include "tests/support/temporary_folder.hpp"

namespace dk = dnnkit;
namespace message = onnx_message;

namespace {

std::span<const std::byte> as_bytes(const std::string& s) { return std::as_bytes(std::span(s)); }

struct scaled {
  static constexpr void build(dk::builder& g) {
    const auto x = g.input("x", dk::f32, {1, 3});
    g.output("y", x * g.weight("scale", {3}) + g.weight("far", {3}));
  }
};
using net = dk::compile<scaled>;

// A model whose weights lie in each of the places there are.
std::string model_bytes() {
  wire graph;
  graph.message(5, message::tensor("scale", 1, {3}).reals(4, {1.f, 2.f, 3.f}));
  graph.message(5, message::tensor("far", 1, {3})
                       .message(13, message::external("location", "w.bin"))
                       .message(13, message::external("offset", "4"))
                       .integer(14, 1));
  graph.message(5, message::tensor("words", 8, {1}).text(6, "cat"));
  graph.message(5, message::tensor("short", 1, {3}).reals(4, {1.f}));
  graph.message(5, message::tensor("twice", 1, {1}).reals(4, {1.f}));
  graph.message(5, message::tensor("twice", 1, {1}).reals(4, {2.f}));
  const wire value = message::attribute("value", 4).message(5, message::tensor("", 6, {1}).integers(5, {9}));
  graph.message(1, message::node("Constant", {}, {"c"}, {value}));
  const wire branch = wire().message(5, message::tensor("inner", 7, {1}).integers(7, {-1}));
  graph.message(1, message::node("If", {"b"}, {"i"}, {message::subgraph("then_branch", branch)}));
  return message::model(graph).bytes();
}

struct files {
  temporary_folder folder;

  files() {
    write_file(folder / "m.onnx", model_bytes());
    write_file(folder / "w.bin", wire::fixed(0.f) + wire::fixed(10.f) + wire::fixed(20.f) + wire::fixed(30.f));
  }
};

}  // namespace

TEST_CASE("initializers, constants and those of subgraphs") {
  const files f;
  const dk::onnx_weights weights(f.folder / "m.onnx");
  CHECK(dk::read_values<float>(weights.check("scale", dk::f32, {3})) == std::vector<float>{1, 2, 3});
  CHECK(dk::read_values<float>(weights.at("far")) == std::vector<float>{10, 20, 30});
  CHECK(dk::read_values<std::int32_t>(weights.at("c")) == std::vector<std::int32_t>{9});
  CHECK(dk::read_values<std::int64_t>(weights.at("inner")) == std::vector<std::int64_t>{-1});
  CHECK(weights.tensors().size() == 4);
  CHECK(weights.name() == (f.folder / "m.onnx").string());
}

TEST_CASE("a tensor that cannot be read is refused when it is asked for") {
  const files f;
  const dk::onnx_weights weights(f.folder / "m.onnx");
  const std::string prefix = weights.name() + ", tensor ";
  CHECK(error_of([&] { return &weights.at("words"); }) ==
        prefix + "'words': element type is not supported, found STRING");
  CHECK(error_of([&] { return &weights.at("short"); }) ==
        prefix + "'short': number of elements differs, expected 3 for f32 [3], found 1");
  CHECK(error_of([&] { return &weights.at("twice"); }) == prefix + "'twice': two tensors of the model have this name");
  CHECK(error_of([&] { return &weights.at("absent"); }) ==
        prefix + "'absent': tensor is missing, found 4 tensors: 'c', 'far', 'inner', 'scale'");
  const dk::required_tensor required[] = {{"scale", dk::f32, {3}}, {"words", dk::f32, {1}}, {"absent", dk::f32, {2}}};
  CHECK(error_of([&] { return weights.check_all(required), 0; }) ==
        weights.name() +
            ": 2 of the 3 tensors needed are missing or differ:\n"
            "  'words': expected f32 [1], found one that cannot be read: element type is not supported, found STRING\n"
            "  'absent': expected f32 [2], found nothing");
}

TEST_CASE("missing external data leaves the other tensors") {
  const std::string bytes = model_bytes();
  const dk::onnx_weights weights = dk::onnx_weights::from_memory(as_bytes(bytes), "embedded");
  CHECK(weights.find("scale") != nullptr);
  CHECK(error_of([&] { return &weights.at("far"); }) ==
        "embedded, tensor 'far': external data of a model in memory is not supported, found 'w.bin'");
}

TEST_CASE("a session is opened with a model's weights, mapped or in memory") {
  const files f;
  const std::array<float, 3> x{1, 1, 2};
  std::array<float, 3> y{};
  dk::session<net> mapped(dk::onnx_weights(f.folder / "m.onnx"));
  mapped.run(x, y);
  CHECK(y == std::array<float, 3>{11, 22, 36});

  const std::string bytes = model_bytes();
  dk::session<net> embedded(dk::onnx_weights::from_memory(as_bytes(bytes), "embedded", f.folder.path()));
  y = {};
  embedded.run(x, y);
  CHECK(y == std::array<float, 3>{11, 22, 36});

  std::filesystem::remove(f.folder / "w.bin");
  CHECK(error_of([&] {
          return dk::session<net>(dk::onnx_weights(f.folder / "m.onnx"));
        }).find("'far': expected f32 [3], found one that cannot be read: external data 'w.bin': cannot open file") !=
        std::string::npos);
  mapped.run(x, y);  // what is mapped stays
  CHECK(y == std::array<float, 3>{11, 22, 36});
}

TEST_CASE("elements that are not needed leave memory, whether the model has them or a file beside it") {
  constexpr std::size_t count = 1 << 18;
  const temporary_folder folder;
  std::string near, far;
  for (std::size_t i = 0; i < count; ++i) {
    near += wire::fixed(static_cast<float>(i));
    far += wire::fixed(-static_cast<float>(i));
  }
  wire graph;
  graph.message(5, message::tensor("near", 1, {count}).text(9, near));
  graph.message(5,
                message::tensor("far", 1, {count}).message(13, message::external("location", "w.bin")).integer(14, 1));
  write_file(folder / "m.onnx", message::model(graph).bytes());
  write_file(folder / "w.bin", far);
  const dk::onnx_weights weights(folder / "m.onnx");
  const auto all_right = [&] {
    std::size_t right = 0;
    const std::vector<float> n = dk::read_values<float>(weights.at("near")),
                             f = dk::read_values<float>(weights.at("far"));
    for (std::size_t i = 0; i < count; ++i)
      right += n[i] == static_cast<float>(i) && f[i] == -static_cast<float>(i) ? 1 : 0;
    return right == count;
  };
  CHECK(all_right());
  const auto resident = [&](const char* name) { return resident_bytes(folder / name).value_or(0); };
  const std::size_t near_before = resident("m.onnx"), far_before = resident("w.bin");
  weights.evict(weights.at("near"));
  if (near_before > 0) CHECK(resident("m.onnx") < near_before / 8);
  CHECK(resident("w.bin") == far_before);
  weights.evict(weights.at("far"));
  CHECK(resident("w.bin") == 0);
  CHECK(all_right());
}

TEST_CASE("the reference evaluator reads them too") {
  const files f;
  const dk::onnx_weights weights(f.folder / "m.onnx");
  CHECK(dk::weights_of(weights)("far").reals == std::vector<double>{10, 20, 30});
}
