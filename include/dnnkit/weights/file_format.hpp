// SPDX-License-Identifier: MIT
// What a file is, by its first bytes, for readers that are given a file of another format.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "dnnkit/core/error.hpp"

namespace dnnkit::detail {

struct file_format {
  std::string_view name;    // "a PyTorch archive"
  std::string_view advice;  // what to do with it; may be empty
};

inline constexpr std::string_view save_as_safetensors =
    "its tensors can be saved with safetensors.torch.save_file(model.state_dict(), ...)";

// Zip archives by what is in them: a name found near their beginning.
inline constexpr std::array<std::pair<std::string_view, file_format>, 3> zip_contents{{
    {"data.pkl", {"a PyTorch archive (a zip file)", save_as_safetensors}},
    {".npy", {"a NumPy archive (.npz)", "its arrays can be saved one by one with numpy.save"}},
    {"", {"a zip archive", {}}},
}};

inline constexpr std::array<std::pair<std::string_view, file_format>, 5> beginnings{{
    {"\x93NUMPY", {"a NumPy array (.npy)", {}}},
    {"GGUF", {"a GGUF file", {}}},
    {"\x89HDF\r\n\x1a\n", {"an HDF5 file (.h5)", {}}},
    {{"\x1f\x8b", 2}, {"a gzip archive", "it must be unpacked first"}},
    {"version https://git-lfs", {"a pointer of Git LFS instead of the file", "`git lfs pull` fetches it"}},
}};

// Has it characters, and at its beginning no bytes that texts are without?
inline bool is_text(std::string_view bytes) {
  constexpr std::size_t beginning = 512;
  constexpr std::string_view white("\t\n\v\f\r");
  return !bytes.empty() && std::ranges::all_of(bytes.substr(0, beginning), [&](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte >= ' ' && byte < 0xf8 && byte != 0x7f) || white.find(c) != white.npos;  // none above 0xf7 is in UTF-8
  });
}

// The format of these bytes; its name is empty when they are none of those known.
inline file_format format_of(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  // first, as the length of its header may have the bytes of another beginning
  std::uint64_t length = 0;
  if (bytes.size() > 8) std::memcpy(&length, bytes.data(), 8);
  if (byte(8) == '{' && length <= bytes.size() - 8) return {"a safetensors file", {}};
  for (const auto& [beginning, format] : beginnings)
    if (text.starts_with(beginning)) return format;
  if (text.starts_with("PK\x03\x04")) {
    constexpr std::size_t near = 1024;
    for (const auto& [content, format] : zip_contents)
      if (text.substr(0, near).find(content) != text.npos) return format;
  }
  if (byte(0) == 0x80 && byte(1) >= 2 && byte(1) <= 5)  // the operation PROTO and the protocol
    return {"a Python pickle, as PyTorch wrote its models before 1.6", save_as_safetensors};
  // a ModelProto as every exporter writes it: ir_version, a small number, then the producer, the opsets or the graph
  constexpr std::string_view next_fields("\x12\x1a\x22\x28\x32\x3a\x42");
  if (byte(0) == 0x08 && byte(1) >= 1 && byte(1) <= 32 && text.size() > 2 && next_fields.find(text[2]) != text.npos)
    return {"an ONNX model", {}};
  if (is_text(text)) return {"text", {}};
  return {};
}

// Throws the error of a reader of `expected` ("a safetensors file") if the bytes are known to be something else.
inline void refuse_other_format(std::span<const std::byte> bytes, const std::string& file, std::string_view expected) {
  const file_format format = format_of(bytes);
  if (format.name.empty() || format.name == expected) return;
  throw error("is a file of another format", file, std::string(expected),
              std::string(format.name) + (format.advice.empty() ? "" : "; ") + std::string(format.advice));
}

}  // namespace dnnkit::detail
