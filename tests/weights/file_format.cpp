// SPDX-License-Identifier: MIT
// Tests of files that are given to a reader of another format: the message says what they are.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/weights/file_format.hpp"

#include <doctest/doctest.h>

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dnnkit/onnx/format/read_model.hpp"
#include "dnnkit/weights/npy.hpp"
#include "dnnkit/weights/safetensors.hpp"
#include "tests/support/error_of.hpp"

namespace dk = dnnkit;
using namespace std::string_literals;

namespace {

// The first bytes of files as their writers make them: zipfile's local header is 30 bytes and the name.
std::string zip_of(std::string_view name) {
  return "PK\3\4\0\0\x08\x08\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x10\0\0\0"s + std::string(name) + "rest";
}
const std::vector<std::pair<std::string, std::string>> files{
    {zip_of("archive/data.pkl"), "a PyTorch archive (a zip file)"},
    {zip_of("arr_0.npy"), "a NumPy archive (.npz)"},
    {zip_of("readme.txt"), "a zip archive"},
    {"\x80\x02\x8a\x0al\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.",
     "a Python pickle, as PyTorch wrote its models before 1.6"},
    {"\x93NUMPY\1\0v\0{'descr': ", "a NumPy array (.npy)"},
    {"GGUF\3\0\0\0\1\0\0\0", "a GGUF file"},
    {"\x89HDF\r\n\x1a\n\0\0", "an HDF5 file (.h5)"},
    {"\x1f\x8b\x08\0", "a gzip archive"},
    {"version https://git-lfs.github.com/spec/v1\n", "a pointer of Git LFS instead of the file"},
    {"\x08\x08\x12\x07pytorch:", "an ONNX model"},
    {"\2\0\0\0\0\0\0\0{}"s, "a safetensors file"},
    {"Gr\xc3\xbc\xc3\x9f"
     "e:\tsome text\r\n",
     "text"},
};

std::span<const std::byte> bytes_of(const std::string& s) { return std::as_bytes(std::span(s)); }

}  // namespace

TEST_CASE("formats by their first bytes, and no shorter part of them is another one") {
  for (const auto& [file, name] : files) {
    CHECK(dk::detail::format_of(bytes_of(file)).name == name);
    for (std::size_t n = 0; n < file.size(); ++n) {
      const std::string_view found = dk::detail::format_of(bytes_of(file).first(n)).name;
      CHECK_MESSAGE((found.empty() || found == name || found == "a zip archive" || found == "text"), found);
    }
  }
  CHECK(dk::detail::format_of(bytes_of("no text\1")).name.empty());
}

TEST_CASE("each reader says what it was given") {
  for (const auto& [file, name] : files) {
    const auto check = [&](const std::string& message, std::string_view expected) {
      if (name == expected) return;
      CHECK_MESSAGE(
          message.starts_with("f: is a file of another format, expected " + std::string(expected) + ", found " + name),
          message);
    };
    check(error_of([&] { return dk::safetensors::from_memory(bytes_of(file), "f"); }), "a safetensors file");
    check(error_of([&] { return dk::npy::from_memory(bytes_of(file), "f"); }), "a NumPy array (.npy)");
    check(error_of([&] { return dk::onnx::file::from_memory(bytes_of(file), "f"); }), "an ONNX model");
  }
  CHECK(error_of([&] { return dk::safetensors::from_memory(bytes_of(files[0].first), "model.pt"); }) ==
        "model.pt: is a file of another format, expected a safetensors file, found a PyTorch archive (a zip file); its "
        "tensors can be saved with safetensors.torch.save_file(model.state_dict(), ...)");
}
