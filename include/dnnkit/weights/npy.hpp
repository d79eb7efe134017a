// SPDX-License-Identifier: MIT
// Reader and writer of NumPy's .npy files (numpy.lib.format, versions 1 to 3): one array each.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dnnkit/core/dtype.hpp"
#include "dnnkit/core/error.hpp"
#include "dnnkit/weights/file_format.hpp"
#include "dnnkit/weights/mapped_file.hpp"
#include "dnnkit/weights/replacing_file.hpp"
#include "dnnkit/weights/stored_tensor.hpp"

namespace dnnkit {

static_assert(std::endian::native == std::endian::little, "little-endian elements are used in place");

namespace detail {

inline constexpr std::string_view npy_magic{"\x93NUMPY", 6};

// NumPy's kind letter and size of each dtype, without the byte order; bf16 has none.
inline constexpr std::array<std::string_view, 13> npy_descr{"f4", "f8", "f2", "",   "i1", "i2", "i4",
                                                            "i8", "u1", "u2", "u4", "u8", "b1"};

// What the header of a file says.
struct npy_header {
  dnnkit::dtype dtype = dnnkit::dtype::f32;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
};

// Reads the header, the text of a Python dictionary: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
class npy_header_reader {
 public:
  npy_header_reader(std::string_view text, std::string_view file) : text_(text), file_(file) {}

  npy_header read() {
    npy_header h;
    std::array<bool, 3> seen{};
    const auto once = [&](std::size_t key, std::string_view name) {
      if (std::exchange(seen[key], true)) fail("header names a key twice", {}, quoted(name));
    };
    expect('{', "a dictionary");
    while (!accept('}')) {
      const std::string_view key = string();
      expect(':', "':' after a key");
      if (key == "descr") {
        once(0, key);
        h.dtype = dtype_named(string());
      } else if (key == "fortran_order") {
        once(1, key);
        h.fortran_order = boolean_word();
      } else if (key == "shape") {
        once(2, key);
        h.shape = tuple();
      } else {
        fail("header has an unknown key", "descr, fortran_order or shape", quoted(key));
      }
      if (accept(',')) continue;
      expect('}', "',' or '}' after a value");
      break;
    }
    skip_space();
    if (at_ != text_.size()) fail("header has text after the dictionary");
    if (std::ranges::find(seen, false) != seen.end()) fail("header is incomplete", "descr, fortran_order and shape");
    return h;
  }

 private:
  static constexpr std::size_t largest_rank = 64;

  [[noreturn]] void fail(std::string problem, std::string expected = {}, std::string found = {}) const {
    throw error(std::move(problem), std::string(file_) + ", header byte " + std::to_string(at_), std::move(expected),
                std::move(found));
  }
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r'))
      ++at_;
  }
  bool accept(char c) {
    skip_space();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c, const char* what) {
    if (!accept(c)) fail("header is malformed", what);
  }
  std::string_view string() {
    skip_space();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') fail("header is malformed", "a string");
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) fail("header is malformed", "the end of a string");
    const std::string_view s = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return s;
  }
  bool boolean_word() {
    skip_space();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return value;
    }
    fail("header is malformed", "True or False");
  }
  std::vector<std::int64_t> tuple() {
    std::vector<std::int64_t> values;
    expect('(', "the shape as a tuple");
    while (!accept(')')) {
      skip_space();
      std::int64_t value = 0;
      const char* begin = text_.data() + at_;
      const auto [end, failure] = std::from_chars(begin, text_.data() + text_.size(), value);
      if (failure != std::errc() || value < 0) fail("header is malformed", "an extent from 0 to 2^63 - 1");
      if (values.size() == largest_rank)
        fail("shape has too many dimensions", "at most " + std::to_string(largest_rank));
      values.push_back(value);
      at_ += static_cast<std::size_t>(end - begin);
      accept('L');  // a long integer, as Python 2 wrote it
      if (accept(',')) continue;
      expect(')', "',' or ')' after an extent");
      break;
    }
    return values;
  }
  dtype dtype_named(std::string_view descr) const {
    const char order = descr.empty() ? '\0' : descr.front();
    const bool has_order = order == '<' || order == '>' || order == '|' || order == '=';
    const auto found = std::ranges::find(npy_descr, descr.substr(has_order ? 1 : 0));
    if (descr.size() < 2 || found == npy_descr.end())
      fail("element type is not supported", "bool, an integer or a float of 16, 32 or 64 bits", quoted(descr));
    const auto type = static_cast<dtype>(found - npy_descr.begin());
    if (order == '>' && size_of(type) > 1) fail("elements are big-endian", "little-endian ones", quoted(descr));
    return type;
  }

  std::string_view text_, file_;
  std::size_t at_ = 0;
};

// `from` is in Fortran's order (the first coordinate moves fastest); the same elements in C's.
inline std::vector<std::byte> row_major(std::span<const std::byte> from, const npy_header& h) {
  const std::size_t each = size_of(h.dtype), rank = h.shape.size();
  std::vector<std::byte> to(from.size());
  std::vector<std::size_t> stride(rank, each), at(rank);
  for (std::size_t d = 1; d < rank; ++d) stride[d] = stride[d - 1] * static_cast<std::size_t>(h.shape[d - 1]);
  std::size_t read = 0;
  for (std::size_t write = 0; write < to.size(); write += each) {
    std::memcpy(to.data() + write, from.data() + read, each);
    for (std::size_t d = rank; d-- > 0;) {
      read += stride[d];
      if (++at[d] < static_cast<std::size_t>(h.shape[d])) break;
      read -= stride[d] * at[d];
      at[d] = 0;
    }
  }
  return to;
}

}  // namespace detail

// The array of one file: its elements stay in the mapped file, unless they are in Fortran's order or are bools other
// than 0 and 1, of which a copy in order is kept.
class npy {
 public:
  // Maps the file; it stays mapped while this object lives. Throws dnnkit::error naming the file when it is none,
  // truncated or longer than its array, or has elements dnnkit does not (records, strings, complex numbers,
  // big-endian ones).
  explicit npy(const std::filesystem::path& path) : file_(path), name_(path.string()) { parse(file_->bytes()); }

  // A file held in memory, which must outlive the object; `name` stands for the path in messages.
  [[nodiscard]] static npy from_memory(std::span<const std::byte> bytes, std::string name) {
    return npy(bytes, std::move(name));
  }

  npy(npy&&) noexcept = default;
  npy& operator=(npy&&) noexcept = default;
  npy(const npy&) = delete;

  // Named like the file.
  const stored_tensor& tensor() const noexcept { return tensor_; }

 private:
  npy(std::span<const std::byte> bytes, std::string name) : name_(std::move(name)) { parse(bytes); }

  void parse(std::span<const std::byte> bytes) {
    detail::refuse_other_format(bytes, name_, "a NumPy array (.npy)");
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (!text.starts_with(detail::npy_magic)) throw error("is not a .npy file", name_);
    if (text.size() < 10) throw error("file is truncated in the header", name_);
    const auto version = static_cast<unsigned char>(text[6]);
    if (version < 1 || version > 3)
      throw error("version of the .npy format is not known", name_, "1, 2 or 3", std::to_string(version));
    const std::size_t length_bytes = version == 1 ? 2 : 4, begin = 8 + length_bytes;
    if (text.size() < begin) throw error("file is truncated in the header", name_);
    std::uint32_t length = 0;
    std::memcpy(&length, text.data() + 8, length_bytes);
    if (length > text.size() - begin)
      throw error("header is truncated", name_, std::to_string(length) + " bytes after the length",
                  std::to_string(text.size() - begin));
    const detail::npy_header h = detail::npy_header_reader(text.substr(begin, length), name_).read();

    const std::span<const std::byte> data = bytes.subspan(begin + length);
    const std::optional<std::uint64_t> size = detail::dense_bytes(h.dtype, h.shape);
    if (!size) throw error("shape is too large", name_, "fewer than 2^63 bytes", detail::shape_text(h.shape));
    if (*size != data.size())
      throw error("data does not have the size of the array", name_,
                  std::to_string(*size) + " bytes for " + detail::tensor_text(h.dtype, h.shape),
                  std::to_string(data.size()));
    tensor_ = {name_, h.dtype, h.shape, data};
    if (h.fortran_order) copy_ = detail::row_major(data, h);
    if (h.dtype == boolean && std::ranges::any_of(data, [](std::byte b) { return b > std::byte{1}; })) {
      if (copy_.empty()) copy_.assign(data.begin(), data.end());
      for (std::byte& b : copy_) b = std::byte{b != std::byte{0}};
    }
    if (!copy_.empty()) tensor_.data = copy_;
  }

  std::optional<mapped_file> file_;  // nothing when the bytes are the caller's
  std::string name_;
  std::vector<std::byte> copy_;
  stored_tensor tensor_;
};

namespace detail {

// The bytes in front of the elements, padded to a multiple of 64 as NumPy does: version 1, or 2 when it is long.
inline std::string npy_header_text(dtype type, std::span<const std::int64_t> shape) {
  std::string extents;
  for (std::size_t d = 0; d < shape.size(); ++d) extents += (d ? ", " : "") + std::to_string(shape[d]);
  if (shape.size() == 1) extents += ",";
  std::string text = "{'descr': '" + std::string(size_of(type) == 1 ? "|" : "<") +
                     std::string(npy_descr[static_cast<std::size_t>(type)]) + "', 'fortran_order': False, 'shape': (" +
                     extents + "), }";
  const bool is_long = 10 + text.size() + 64 > 65535;
  const std::size_t before = is_long ? 12 : 10;
  const std::size_t length = (before + text.size() + 1 + 63) / 64 * 64 - before;
  text.resize(length - 1, ' ');
  std::string header(npy_magic);
  header += is_long ? '\2' : '\1';
  header += '\0';
  for (std::size_t i = 0; i < before - 8; ++i) header += static_cast<char>(length >> (8 * i) & 0xff);
  return header + text + "\n";
}

}  // namespace detail

// Writes `tensor` to `path`, an existing file being replaced once the new one is complete. Throws dnnkit::error when
// the element type is bf16, which NumPy does not have, when the data does not have the size of its dtype and shape, or
// when the file cannot be written.
inline void save_npy(const std::filesystem::path& path, const stored_tensor& tensor) {
  const std::string text = detail::tensor_text(tensor.dtype, tensor.shape);
  if (tensor.dtype == bf16) throw error("NumPy has no such element type", path.string(), {}, text);
  const std::optional<std::uint64_t> bytes = detail::dense_bytes(tensor.dtype, tensor.shape);
  if (!bytes) throw error("shape is negative or too large", path.string(), {}, text);
  if (*bytes != tensor.data.size())
    throw error("data does not have the size of the tensor", path.string(),
                std::to_string(*bytes) + " bytes for " + text, std::to_string(tensor.data.size()));
  replacing_file out(path);
  const std::string header = detail::npy_header_text(tensor.dtype, tensor.shape);
  out.write(std::as_bytes(std::span(header)));
  out.write(tensor.data);
  out.commit();
}

}  // namespace dnnkit
