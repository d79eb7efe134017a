// SPDX-License-Identifier: MIT
// Writer of .safetensors files: equal tensors give equal bytes, those of the reference implementation.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dnnkit/core/dtype.hpp"
#include "dnnkit/core/error.hpp"
#include "dnnkit/weights/json_header.hpp"
#include "dnnkit/weights/replacing_file.hpp"
#include "dnnkit/weights/safetensors.hpp"
#include "dnnkit/weights/stored_tensor.hpp"

namespace dnnkit {

namespace detail {

// The order of the data, widest elements first so that all tensors are aligned: the dtypes of the reference
// implementation from its last to its first.
inline constexpr std::array<dtype, 13> safetensors_order{u64, i64, f64, f32, u32, i32,    bf16,
                                                         f16, u16, i16, i8,  u8,  boolean};

inline std::size_t safetensors_rank(dtype type) {
  return static_cast<std::size_t>(std::ranges::find(safetensors_order, type) - safetensors_order.begin());
}

// [2,3]
inline std::string json_list(std::span<const std::int64_t> numbers) {
  std::string json = "[";
  for (std::size_t i = 0; i < numbers.size(); ++i) (json += i ? "," : "") += std::to_string(numbers[i]);
  return json + "]";
}

// The header with its length in front, padded with spaces to a multiple of 8 bytes. `tensors` are in the order of data.
inline std::string safetensors_header(std::span<const stored_tensor* const> tensors, const string_map& metadata) {
  std::string json = "{";
  const auto key = [&](std::string_view name) { (json += json.size() > 1 ? "," : "") += json_string(name) + ":"; };
  if (!metadata.empty()) {
    key("__metadata__");
    json += "{";
    for (const char* comma = ""; const auto& [name, value] : metadata) {
      json += comma + json_string(name) + ":" + json_string(value);
      comma = ",";
    }
    json += "}";
  }
  std::size_t begin = 0;
  for (const stored_tensor* tensor : tensors) {
    const std::size_t end = begin + tensor->data.size();
    key(tensor->name);
    json += "{\"dtype\":" + json_string(info(tensor->dtype).safetensors) + ",\"shape\":" + json_list(tensor->shape) +
            ",\"data_offsets\":[" + std::to_string(begin) + "," + std::to_string(end) + "]}";
    begin = end;
  }
  json += "}";
  json.resize((json.size() + 7) / 8 * 8, ' ');
  std::string length(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) length[i] = static_cast<char>(json.size() >> (8 * i) & 0xff);
  return length + json;
}

}  // namespace detail

// Writes `tensors`, in whatever order they come, and `metadata` to `path`; an existing file is replaced once the new
// one is complete. Throws dnnkit::error when a name is used twice, reserved or not UTF-8, when data does not have the
// size of its dtype and shape, or when the file cannot be written.
inline void save_safetensors(const std::filesystem::path& path, std::span<const stored_tensor> tensors,
                             const string_map& metadata = {}) {
  const std::string file = path.string();
  const auto check_utf8 = [&](std::string_view text, const std::string& what) {
    if (detail::first_invalid_utf8(text) != std::string_view::npos)
      throw error("text is not UTF-8", file + ", " + what);
  };
  for (const auto& [name, value] : metadata) {
    check_utf8(name, "metadata");
    check_utf8(value, "metadata " + detail::quoted(name));
  }
  std::vector<const stored_tensor*> order;
  for (const stored_tensor& tensor : tensors) {
    const std::string culprit = "tensor " + detail::quoted(tensor.name);
    check_utf8(tensor.name, culprit);
    if (tensor.name == "__metadata__") throw error("name is reserved", file + ", " + culprit);
    const std::optional<std::uint64_t> bytes = detail::dense_bytes(tensor.dtype, tensor.shape);
    const std::string text = detail::tensor_text(tensor.dtype, tensor.shape);
    if (!bytes) throw error("shape is negative or too large", file + ", " + culprit, {}, text);
    if (*bytes != tensor.data.size())
      throw error("data does not have the size of the tensor", file + ", " + culprit,
                  std::to_string(*bytes) + " bytes for " + text, std::to_string(tensor.data.size()));
    order.push_back(&tensor);
  }
  const auto name_of = [](const stored_tensor* tensor) -> const std::string& { return tensor->name; };
  std::ranges::sort(order, {}, name_of);
  if (const auto twice = std::ranges::adjacent_find(order, {}, name_of); twice != order.end())
    throw error("tensor appears twice", file + ", tensor " + detail::quoted((*twice)->name));
  std::ranges::stable_sort(order, {}, [](const stored_tensor* t) { return detail::safetensors_rank(t->dtype); });

  replacing_file out(path);
  const std::string header = detail::safetensors_header(order, metadata);
  out.write(std::as_bytes(std::span(header)));
  for (const stored_tensor* tensor : order) out.write(tensor->data);
  out.commit();
}

}  // namespace dnnkit
