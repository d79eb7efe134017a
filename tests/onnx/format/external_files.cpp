// SPDX-License-Identifier: MIT
// Tests of external data: where it may lie, and what is said about files elsewhere.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/onnx/format/external_files.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dnnkit/onnx/format/tensor_bytes.hpp"
#include "dnnkit/onnx/onnx_weights.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/onnx_messages.hpp"
#include "tests/support/temporary_folder.hpp"

namespace dk = dnnkit;
using dk::onnx::external_files;
using dk::onnx::linked_data;
using dk::onnx::tensor_bytes;
using dk::onnx::tensor_data;

namespace {

template <class T> std::vector<T> values(const tensor_bytes& t) { return dk::read_values<T>(t.tensor()); }

tensor_data external(std::string_view location, std::uint64_t offset, std::optional<std::uint64_t> length) {
  tensor_data t;
  t.name = "t";
  t.data_type = dk::onnx::data_type_of(dk::f32);
  t.dims = {2};
  t.external = {location, offset, length};
  return t;
}

std::string bytes_of_four_floats() {
  const float stored[] = {1, 2, 3, 4};
  return {reinterpret_cast<const char*>(stored), sizeof stored};
}

}  // namespace

TEST_CASE("external data") {
  const temporary_folder folder;
  const std::string bytes = bytes_of_four_floats();
  std::filesystem::create_directory(folder / "data");
  write_file(folder / "f.bin", bytes);
  write_file(folder / "data/g.bin", bytes);
  external_files files(folder.path());
  const auto read_external = [&](const tensor_data& t) { return tensor_bytes(t, files, "f"); };
  const auto complaint_about = [&](const tensor_data& t) {  // of reading, and of checking as well
    const std::string text = error_of([&] { return read_external(t); });
    CHECK(text == error_of([&] { return tensor_bytes::check(t, files, "f"), 0; }));
    return text;
  };

  SUBCASE("is mapped, each file once") {
    const tensor_bytes a = read_external(external("f.bin", 0, 8)), b = read_external(external("f.bin", 8, {}));
    CHECK(values<float>(a) == std::vector<float>{1, 2});
    CHECK(values<float>(b) == std::vector<float>{3, 4});
    CHECK(a.data().data() + 8 == b.data().data());
    CHECK(values<float>(read_external(external("data/g.bin", 4, 8))) == std::vector<float>{2, 3});
    CHECK(values<float>(read_external(external("./f.bin", 4, 8))) == std::vector<float>{2, 3});
    const external_files moved = std::move(files);
    CHECK(values<float>(a) == std::vector<float>{1, 2});
  }
  SUBCASE("must be in the file") {
    CHECK(complaint_about(external("f.bin", 9, 8)) ==
          "f, tensor 't': external data is truncated, expected 8 bytes at 9 of 'f.bin', found a file of 16 bytes");
    CHECK(complaint_about(external("f.bin", 17, {})).find("external data is truncated") != std::string::npos);
    CHECK(complaint_about(external("f.bin", ~0ull, 8)).find("external data is truncated") != std::string::npos);
    CHECK(complaint_about(external("f.bin", ~0ull - 7, {})).find("external data is truncated") != std::string::npos);
  }
  SUBCASE("of elements narrower than a byte is as long as they are packed") {
    tensor_data t = external("f.bin", 12, 4);
    t.data_type = 22;  // INT4
    t.dims = {8};
    CHECK(complaint_about(t) == "no error");
    t.dims = {7};
    CHECK(complaint_about(t) == "no error");
    t.external->length.reset();
    t.dims = {9};
    CHECK(complaint_about(t) ==
          "f, tensor 't': external data is truncated, expected 5 bytes at 12 of 'f.bin', found a file of 16 bytes");
  }
  SUBCASE("has the length of the tensor") {
    CHECK(complaint_about(external("f.bin", 0, 12)) ==
          "f, tensor 't': length of external data does not fit the shape, expected 8 bytes of 'f.bin', found "
          "12");
    CHECK(complaint_about(external("f.bin", 0, ~0ull)).find("does not fit the shape") != std::string::npos);
  }
  SUBCASE("must be in the model's folder") {
    const std::string inside =
        "f, tensor 't': location of external data is outside the model's folder, expected a "
        "relative path without '..', found ";
    CHECK(complaint_about(external("../f.bin", 0, 8)) == inside + "'../f.bin'");
    CHECK(complaint_about(external("data/../../f.bin", 0, 8)) == inside + "'data/../../f.bin'");
    CHECK(complaint_about(external("..", 0, 8)) == inside + "'..'");
    const std::string absolute = (folder / "f.bin").string();
    CHECK(complaint_about(external(absolute, 0, 8)) == inside + "'" + absolute + "'");
    CHECK(complaint_about(external(std::string_view("f.bin\0x", 7), 0, 8)) == inside + "'f.bin\\x00x'");
    CHECK(values<float>(read_external(external("f.bin", 0, 8))).size() == 2);
    write_file(folder / "..f", bytes);  // dots in a name climb nowhere
    CHECK(values<float>(read_external(external("..f", 0, 8))).size() == 2);
  }
  SUBCASE("must be a file") {
    CHECK(complaint_about(external("none.bin", 0, 8)) ==
          "f, tensor 't': external data 'none.bin': cannot open file (No such file or directory), expected 8 "
          "bytes at 0");
    CHECK(complaint_about(external("data", 0, 8)) ==
          "f, tensor 't': external data 'data': is a directory, expected 8 bytes at 0");
    CHECK(complaint_about(external("", 0, 8)).find("is a directory") != std::string::npos);
  }
  SUBCASE("is refused for a model in memory") {
    external_files none;
    CHECK(error_of([&] { return tensor_bytes(external("f.bin", 0, 8), none, "f"); }) ==
          "f, tensor 't': external data of a model in memory is not supported, found 'f.bin'");
  }
  SUBCASE("of an empty tensor is not looked for") {
    tensor_data t = external("none.bin", 0, 0);
    t.dims = {0};
    CHECK(read_external(t).data().empty());
  }
}

TEST_CASE("external data behind links") {
  const temporary_folder outer;
  const std::string bytes = bytes_of_four_floats();
  const std::filesystem::path folder = outer / "model", elsewhere = outer / "elsewhere";
  std::filesystem::create_directories(folder / "data");
  std::filesystem::create_directory(elsewhere);
  write_file(folder / "f.bin", bytes);
  write_file(elsewhere / "secret", bytes);
  const auto first = [&](std::string_view location, linked_data linked) {
    external_files files(folder, linked);
    return values<float>(tensor_bytes(external(location, 0, 8), files, "f")).front();
  };
  const auto complaint = [&](std::string_view location) {
    return error_of([&] { return first(location, linked_data::refused); });
  };
  const std::string how =
      "; if these links are yours, allow them (linked_data::allowed, --allow-linked-data, ALLOW_LINKED_DATA), expected "
      "8 "
      "bytes at 0";
  const auto outside = [&](const std::string& location) {
    return "f, tensor 't': external data '" + location + "': lies outside the model's folder, behind a link" + how;
  };

  SUBCASE("symbolic links in the folder are followed") {
    std::filesystem::create_symlink("f.bin", folder / "link");
    std::filesystem::create_symlink("../f.bin", folder / "data/up");
    std::filesystem::create_directory_symlink("data", folder / "again");
    for (const char* location : {"link", "data/up", "again/up"}) CHECK(first(location, linked_data::refused) == 1);
    CHECK(complaint("again") == "f, tensor 't': external data 'again': is a directory, expected 8 bytes at 0");
    std::filesystem::create_directory_symlink(folder, outer / "alias");  // the folder itself may be a link
    external_files files(outer / "alias");
    CHECK(values<float>(tensor_bytes(external("f.bin", 0, 8), files, "f")).front() == 1);
  }
  SUBCASE("a symbolic link that leads outside is refused unless it is allowed") {
    std::filesystem::create_symlink(elsewhere / "secret", folder / "absolute");
    std::filesystem::create_symlink("../elsewhere/secret", folder / "relative");
    std::filesystem::create_symlink("absolute", folder / "twice");
    for (const char* location : {"absolute", "relative", "twice"}) {
      CHECK(complaint(location) == outside(location));
      CHECK(first(location, linked_data::allowed) == 1);
    }
  }
  SUBCASE("so is a linked folder, and one whose name begins like the model's") {
    std::filesystem::create_directory_symlink(elsewhere, folder / "inner");
    CHECK(complaint("inner/secret") == outside("inner/secret"));
    CHECK(first("inner/secret", linked_data::allowed) == 1);
    std::filesystem::create_directory(outer / "model2");
    write_file(outer / "model2/f.bin", bytes);
    std::filesystem::create_directory_symlink(outer / "model2", folder / "sibling");
    CHECK(complaint("sibling/f.bin") == outside("sibling/f.bin"));
  }
  SUBCASE("a file of several names is refused unless it is allowed") {
    std::filesystem::create_hard_link(elsewhere / "secret", folder / "hard");
    CHECK(complaint("hard") ==
          "f, tensor 't': external data 'hard': has 2 names (hard links), which may be those of a file outside the "
          "model's folder" +
              how);
    CHECK(first("hard", linked_data::allowed) == 1);
  }
  SUBCASE("links that lead nowhere, or in a circle") {
    std::filesystem::create_symlink("none", folder / "broken");
    std::filesystem::create_symlink("circle", folder / "circle");
    CHECK(complaint("broken") ==
          "f, tensor 't': external data 'broken': cannot open file (No such file or directory), expected 8 bytes at 0");
    CHECK(complaint("circle").find("cannot open file (") != std::string::npos);
    CHECK(complaint("f.bin/x").find("cannot open file (Not a directory)") != std::string::npos);
  }
  SUBCASE("'..' and absolute paths are refused even where links are allowed") {
    CHECK(error_of([&] { return first("../elsewhere/secret", linked_data::allowed); }).find("is outside") !=
          std::string::npos);
    const std::string absolute = (elsewhere / "secret").string();
    CHECK(error_of([&] { return first(absolute, linked_data::allowed); }).find("is outside") != std::string::npos);
  }
  SUBCASE("the weights of a model say the same") {
    std::filesystem::create_symlink(elsewhere / "secret", folder / "w.bin");
    wire graph;
    graph.message(
        5, onnx_message::tensor("w", 1, {2}).message(13, onnx_message::external("location", "w.bin")).integer(14, 1));
    write_file(folder / "m.onnx", onnx_message::model(graph).bytes());
    CHECK(error_of([&] {
            return dk::onnx_weights(folder / "m.onnx").at("w").data.size();
          }).find("lies outside the model's folder, behind a link" + how) != std::string::npos);
    CHECK(dk::onnx_weights(folder / "m.onnx", linked_data::allowed).at("w").data.size() == 8);
  }
}
