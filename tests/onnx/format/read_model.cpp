// SPDX-License-Identifier: MIT
// Tests of ONNX files as a whole: mapped and in memory, moved, and single tensors.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/onnx/format/read_model.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/support/error_of.hpp"
#include "tests/support/onnx_messages.hpp"
#include "tests/support/temporary_folder.hpp"

namespace dk = dnnkit;
namespace message = onnx_message;

static_assert(std::is_move_constructible_v<dk::onnx::file> && !std::is_copy_constructible_v<dk::onnx::file>);

namespace {

std::span<const std::byte> as_bytes(const std::string& s) { return std::as_bytes(std::span(s)); }
std::vector<float> floats(dk::onnx::file& f, std::size_t initializer) {
  return dk::read_values<float>(f.elements(f.model().graph.initializers.at(initializer)).tensor());
}

}  // namespace

TEST_CASE("a file stays valid when it moves") {
  const temporary_folder folder;
  write_file(folder / "m.onnx", message::one_of_everything());
  dk::onnx::file first(folder / "m.onnx");
  CHECK(first.name() == (folder / "m.onnx").string());
  const auto* model = &first.model();
  dk::onnx::file second = std::move(first);
  CHECK(&second.model() == model);
  CHECK(second.model().graph.nodes.at(0).op_type == "Conv");
  CHECK(floats(second, 0) == std::vector<float>{1.5f, -2});
}

TEST_CASE("external data is beside the model") {
  const temporary_folder folder;
  write_file(folder / "m.onnx", message::one_of_everything());
  dk::onnx::file f(folder / "m.onnx");
  const dk::onnx::tensor_data& far = f.model().graph.initializers.at(2);
  CHECK(error_of([&] { return f.elements(far); }) == (folder / "m.onnx").string() +
                                                         ", tensor 'far': external data 'far.bin': cannot open file "
                                                         "(No such file or directory), expected 16 bytes at 64");
  write_file(folder / "far.bin", std::string(64, 'x') + std::string(16, 'y'));
  const dk::onnx::tensor_bytes found = f.elements(far);
  const dk::onnx::file moved = std::move(f);
  CHECK(dk::read_values<std::uint16_t>(found.tensor()) == std::vector<std::uint16_t>(8, 0x7979));
}

TEST_CASE("a model in memory") {
  const std::string bytes = message::one_of_everything();
  dk::onnx::file f = dk::onnx::file::from_memory(as_bytes(bytes), "embedded");
  CHECK(floats(f, 0) == std::vector<float>{1.5f, -2});
  CHECK(error_of([&] { return f.elements(f.model().graph.initializers.at(2)); }) ==
        "embedded, tensor 'far': external data of a model in memory is not supported, found 'far.bin'");
  CHECK(error_of([&] { return f.elements(f.model().graph.initializers.at(3)); }) ==
        "embedded, tensor 'names': element type is not supported, found STRING");

  const temporary_folder folder;
  write_file(folder / "far.bin", std::string(80, 'y'));
  dk::onnx::file g = dk::onnx::file::from_memory(as_bytes(bytes), "embedded", folder.path());
  CHECK(g.elements(g.model().graph.initializers.at(2)).data().size() == 16);
}

TEST_CASE("what is no model is refused with its name") {
  const temporary_folder folder;
  write_file(folder / "text", "this is no model");
  CHECK(error_of([&] { return dk::onnx::file(folder / "text"); }) ==
        (folder / "text").string() + ": is a file of another format, expected an ONNX model, found text");
  write_file(folder / "bytes", "\x73\x01");
  CHECK(error_of([&] { return dk::onnx::file(folder / "bytes"); }) ==
        (folder / "bytes").string() + ", byte 1: is no ONNX model: groups are not supported, found field 14");
  const std::string damaged = message::one_of_everything() + "\x73";
  CHECK(error_of([&] { return dk::onnx::file::from_memory(as_bytes(damaged), "damaged"); }) ==
        "damaged, byte " + std::to_string(damaged.size()) + ": groups are not supported, found field 14");
  CHECK(error_of([&] { return dk::onnx::file(folder / "none"); }).find("cannot open file") != std::string::npos);
  CHECK(error_of([&] { return dk::onnx::file::from_memory({}, "nothing"); }) ==
        "nothing, byte 0: is no ONNX model: it has no graph");
}

TEST_CASE("a tensor's own file") {
  const temporary_folder folder;
  write_file(folder / "input_0.pb", message::tensor("x", 7, {2}).integers(7, {-1, 5}).bytes());
  dk::onnx::tensor_file first(folder / "input_0.pb");
  const dk::onnx::tensor_file second = std::move(first);
  CHECK(second.tensor().name == "x");
  CHECK(dk::read_values<std::int64_t>(second.tensor()) == std::vector<std::int64_t>{-1, 5});

  const std::string raw = message::tensor("y", 1, {1}).text(9, wire::fixed(2.f)).bytes();
  const dk::onnx::tensor_file third = dk::onnx::tensor_file::from_memory(as_bytes(raw), "y.pb");
  CHECK(dk::read_values<float>(third.tensor()) == std::vector<float>{2});
}

TEST_CASE("values that are no tensors are refused by name") {
  using dk::onnx::value_kind;
  const std::string bytes = message::tensor("x", 1, {0}).bytes();
  const auto complaint = [&](value_kind kind) {
    return error_of([&] { return dk::onnx::tensor_file::from_memory(as_bytes(bytes), "f", kind); });
  };
  CHECK(complaint(value_kind::tensor) == "no error");
  CHECK(complaint(value_kind::undeclared) == "no error");
  CHECK(complaint(value_kind::sequence) ==
        "f: values of this kind are not supported, expected a tensor, found sequence");
  CHECK(complaint(value_kind::optional).ends_with("found optional"));
  CHECK(complaint(value_kind::map).ends_with("found map"));
  CHECK(complaint(value_kind::sparse_tensor).ends_with("found sparse tensor"));
  CHECK(complaint(value_kind::opaque).ends_with("found opaque"));
  // SequenceProto: a name, the kind of its elements, the elements
  const std::string sequence = wire().text(1, "s").integer(2, 1).message(3, message::tensor("x", 1, {0})).bytes();
  CHECK(error_of([&] {
          return dk::onnx::tensor_file::from_memory(as_bytes(sequence), "f");
        }).ends_with("is no whole tensor: a segment of one, a sequence or an optional, which are not supported"));
}

TEST_CASE("the fuzzer's seeds and findings are refused or read") {
  int read = 0, refused = 0;
  for (const auto& entry : std::filesystem::directory_iterator(DNNKIT_ASSETS "/../../tests/fuzz/seeds/onnx")) {
    CAPTURE(entry.path());
    const std::string message = error_of([&] { return dk::onnx::file(entry.path()); });
    ++(message == "no error" ? read : refused);
    CHECK((message == "no error" || message.starts_with(entry.path().string())));
  }
  CHECK(read >= 4);
  CHECK(refused >= 4);
}
