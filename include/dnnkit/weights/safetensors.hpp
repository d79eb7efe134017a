// SPDX-License-Identifier: MIT
// Reader of .safetensors files over a mapped file: named tensors, untrusted input, nothing copied.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dnnkit/core/dtype.hpp"
#include "dnnkit/core/error.hpp"
#include "dnnkit/weights/file_format.hpp"
#include "dnnkit/weights/json_header.hpp"
#include "dnnkit/weights/mapped_file.hpp"
#include "dnnkit/weights/stored_tensor.hpp"
#include "dnnkit/weights/weight_file.hpp"

namespace dnnkit {

static_assert(std::endian::native == std::endian::little, "safetensors data is little-endian and is used in place");

using string_map = std::map<std::string, std::string, std::less<>>;

// The tensors of one file. The format: 8 bytes little-endian header length; a JSON object of that length,
// {"name": {"dtype": "F32", "shape": [2,3], "data_offsets": [begin, end]}, "__metadata__": {"key": "text"}}; the data,
// which the offsets cover without overlap or hole. All of this is checked; whatever deviates raises dnnkit::error with
// the file and the tensor.
class safetensors : public weight_file {
 public:
  // Maps the file; it stays mapped while this object lives, and so do the spans of its tensors.
  explicit safetensors(const std::filesystem::path& path)
      : safetensors(std::make_shared<const mapped_file>(path), path.string()) {}

  // Reads a file held in memory, which must outlive the object; `name` stands for the path in messages.
  [[nodiscard]] static safetensors from_memory(std::span<const std::byte> bytes, std::string name) {
    return safetensors(bytes, std::move(name), nullptr);
  }

  // The header's "__metadata__", empty when there is none.
  const string_map& metadata() const noexcept { return metadata_; }

 private:
  static constexpr std::uint64_t largest_header = 100'000'000;  // as in the reference implementation
  static constexpr std::size_t largest_rank = 64;

  struct offsets {
    std::uint64_t begin, end;
  };

  safetensors(std::shared_ptr<const mapped_file> file, std::string name)
      : safetensors(file->bytes(), std::move(name), file) {}
  safetensors(std::span<const std::byte> bytes, std::string name, tensor_storage storage)
      : weight_file(unread{}, std::move(name), std::move(storage)) {
    parse(bytes);
  }

  void parse(std::span<const std::byte> bytes) {
    detail::refuse_other_format(bytes, name(), "a safetensors file");
    const std::string_view header = header_of(bytes);
    const std::span<const std::byte> data = bytes.subspan(8 + header.size());
    if (!header.starts_with('{')) throw error("header does not begin with '{'", name(), "a safetensors file");
    if (const std::size_t bad = detail::first_invalid_utf8(header); bad != std::string_view::npos)
      throw error("header is not UTF-8 at header byte " + std::to_string(bad), name());

    detail::json_cursor cursor(header, name());
    std::vector<stored_tensor> tensors;
    std::vector<offsets> places;
    cursor.object([&](const std::string& key) {
      if (key == "__metadata__") {
        cursor.set_context("metadata");
        cursor.object([&](const std::string& entry) { metadata_.emplace(entry, cursor.string()); });
      } else {
        cursor.set_context("tensor " + detail::quoted(key));
        tensors.push_back({key, {}, {}, {}});
        places.push_back(read_entry(cursor, tensors.back(), data));
      }
      cursor.set_context({});
    });
    cursor.end();
    assign(placed(std::move(tensors), places, data.size()));
  }

  std::string_view header_of(std::span<const std::byte> bytes) const {
    if (bytes.size() < 8)
      throw error("file is too short for a safetensors header", name(), "at least 8 bytes",
                  std::to_string(bytes.size()));
    std::uint64_t length = 0;
    std::memcpy(&length, bytes.data(), 8);
    if (length > largest_header)
      throw error("is no safetensors file: its header would be too large", name(),
                  "at most " + std::to_string(largest_header) + " bytes", std::to_string(length));
    if (length > bytes.size() - 8)
      throw error("header is truncated", name(), std::to_string(length) + " bytes after the length",
                  std::to_string(bytes.size() - 8));
    return {reinterpret_cast<const char*>(bytes.data() + 8), static_cast<std::size_t>(length)};
  }

  // Reads {"dtype": ..., "shape": ..., "data_offsets": ...}; other members are skipped, as the reference reader does.
  static offsets read_entry(detail::json_cursor& cursor, stored_tensor& tensor, std::span<const std::byte> data) {
    std::optional<dtype> type;
    std::optional<std::vector<std::int64_t>> extents;
    std::vector<std::int64_t> ends;
    cursor.object([&](const std::string& key) {
      if (key == "dtype") {
        type = dtype_named(cursor.string("the dtype as a string"), cursor);
      } else if (key == "shape") {
        extents.emplace();
        cursor.array(
            [&] {
              if (extents->size() == largest_rank)
                cursor.fail("shape has too many dimensions", "at most " + std::to_string(largest_rank));
              extents->push_back(cursor.natural("shape"));
            },
            "the shape as an array");
      } else if (key == "data_offsets") {
        cursor.array(
            [&] {
              if (ends.size() == 2) cursor.fail("data_offsets has too many values", "[begin, end]");
              ends.push_back(cursor.natural("data_offsets"));
            },
            "data_offsets as an array");
        if (ends.size() != 2) cursor.fail("data_offsets has too few values before this", "[begin, end]");
      } else {
        cursor.skip();
      }
    });
    if (!type) throw error("dtype is missing", cursor.where());
    if (!extents) throw error("shape is missing", cursor.where());
    if (ends.empty()) throw error("data_offsets is missing", cursor.where());

    const auto begin = static_cast<std::uint64_t>(ends[0]), end = static_cast<std::uint64_t>(ends[1]);
    const std::string range = "[" + std::to_string(begin) + "," + std::to_string(end) + "]";
    if (begin > end) throw error("data_offsets are reversed", cursor.where(), "begin <= end", range);
    if (end > data.size())
      throw error("data is truncated: data_offsets exceed the data section", cursor.where(),
                  "at most " + std::to_string(data.size()), range);
    const std::optional<std::uint64_t> bytes = detail::dense_bytes(*type, *extents);
    if (!bytes)
      throw error("shape is too large", cursor.where(), "fewer than 2^63 bytes", detail::shape_text(*extents));
    if (end - begin != *bytes)
      throw error("data_offsets do not fit the shape", cursor.where(),
                  std::to_string(*bytes) + " bytes for " + detail::tensor_text(*type, *extents),
                  std::to_string(end - begin) + " bytes at " + range);
    tensor.dtype = *type;
    tensor.shape = std::move(*extents);
    tensor.data = data.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(*bytes));
    return {begin, end};
  }

  static dtype dtype_named(std::string_view text, const detail::json_cursor& cursor) {
    std::string known;
    for (std::size_t i = 0; i < dtype_table.size(); ++i) {
      if (dtype_table[i].safetensors == text) return static_cast<dtype>(i);
      (known += i ? " " : "one of ") += dtype_table[i].safetensors;
    }
    throw error("dtype is not known", cursor.where(), known, detail::quoted(text));
  }

  // Orders the tensors by their data and checks that the data section is covered exactly once.
  std::vector<stored_tensor> placed(std::vector<stored_tensor> tensors, const std::vector<offsets>& places,
                                    std::size_t data_bytes) const {
    std::vector<std::size_t> order(places.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(places[i].begin, places[i].end); });
    std::vector<stored_tensor> sorted;
    sorted.reserve(order.size());
    std::uint64_t covered = 0;
    for (const std::size_t i : order) {
      if (places[i].begin < covered)
        throw error("data overlaps that of tensor " + detail::quoted(sorted.back().name), where(tensors[i].name),
                    "data_offsets from " + std::to_string(covered), std::to_string(places[i].begin));
      if (places[i].begin > covered)
        throw error("bytes before the data belong to no tensor", where(tensors[i].name),
                    "data_offsets from " + std::to_string(covered), std::to_string(places[i].begin));
      covered = places[i].end;
      sorted.push_back(std::move(tensors[i]));
    }
    if (covered != data_bytes)
      throw error("bytes after the last tensor belong to no tensor", name(),
                  "a data section of " + std::to_string(covered) + " bytes", std::to_string(data_bytes));
    return sorted;
  }

  string_map metadata_;
};

}  // namespace dnnkit
