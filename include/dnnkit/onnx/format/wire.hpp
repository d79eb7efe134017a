// SPDX-License-Identifier: MIT
// Reader of protobuf's wire format ("Encoding", protobuf.dev): the fields of one message, and of the messages inside
// it.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "dnnkit/core/error.hpp"

namespace dnnkit::onnx {

static_assert(std::endian::native == std::endian::little, "fixed-size fields are little-endian and are copied as is");

// Walks the fields of one message in order:
//   while (m.next()) switch (m.field()) { case 1: name = m.text("name"); break; default: m.skip(); }
// Each field that next() stops at is taken by exactly one call. The bytes are untrusted: every length is checked before
// it is used, groups are refused, messages nest at most `deepest` deep. What is wrong raises dnnkit::error with the
// file, the path of the field ("graph.node[3].attribute[0]") and the byte. A field that ends behind the file, and not
// only behind the message it is in, tells that the file is probably truncated. A message lives no longer than the one
// it was taken from.
class wire_message {
 public:
  static constexpr std::size_t deepest = 100;
  static constexpr std::size_t not_repeated = std::numeric_limits<std::size_t>::max();

  // The outermost message is the whole of `bytes`; `file` is named in errors and must live as long.
  wire_message(std::span<const std::byte> bytes, std::string_view file)
      : begin_(bytes.data()), at_(bytes.data()), end_(bytes.data() + bytes.size()), file_(file) {}

  // Goes on to the next field; false at the end of the message.
  bool next() {
    if (at_ == end_) return false;
    const std::uint64_t tag = varint("a field's tag");
    field_ = tag >> 3;
    type_ = static_cast<kind>(tag & 7);
    if (field_ == 0 || field_ > 0x1fff'ffff)
      fail("number of a field is out of range", "", "1 to 536870911", std::to_string(field_));
    if (type_ == kind::begin_group || type_ == kind::end_group)
      fail("groups are not supported", "", "", "field " + std::to_string(field_));
    if (static_cast<int>(type_) > 5) fail("wire type is not known", "", "0, 1, 2 or 5", std::to_string(tag & 7));
    return true;
  }
  std::uint64_t field() const noexcept { return field_; }

  // An int64 or enum; an int32 keeps the lowest bits, as protobuf's readers do.
  std::int64_t integer(const char* name) {
    require(kind::varint, name);
    return static_cast<std::int64_t>(varint(name));
  }
  float real(const char* name) {
    require(kind::fixed32, name);
    return fixed<float>(name);
  }
  std::span<const std::byte> bytes(const char* name) {
    require(kind::delimited, name);
    return delimited(name);
  }
  std::string_view text(const char* name) {
    const std::span<const std::byte> b = bytes(name);
    return {reinterpret_cast<const char*>(b.data()), b.size()};
  }
  // A message inside this one; `index` is its position when the field is repeated.
  wire_message message(const char* name, std::size_t index = not_repeated) {
    wire_message inner(bytes(name), file_);
    inner.begin_ = begin_;
    inner.parent_ = this;
    inner.name_ = name;
    inner.index_ = index;
    inner.depth_ = depth_ + 1;
    if (inner.depth_ > deepest) inner.fail("messages are nested too deeply", "", "at most " + std::to_string(deepest));
    return inner;
  }
  // A repeated number, packed or one a field: float, double, or any integer type.
  template <class T> void numbers(const char* name, std::vector<T>& into) {
    if (type_ != kind::delimited) {
      require(std::is_integral_v<T> ? kind::varint : sizeof(T) == 4 ? kind::fixed32 : kind::fixed64, name);
      if constexpr (std::is_integral_v<T>) into.push_back(static_cast<T>(varint(name)));
      else into.push_back(fixed<T>(name));
      return;
    }
    const std::span<const std::byte> packed = delimited(name);
    const std::size_t before = into.size();
    if constexpr (std::is_integral_v<T>) {
      const auto last_of_varint = [](std::byte b) { return (b & std::byte{0x80}) == std::byte{0}; };
      into.reserve(before + static_cast<std::size_t>(std::ranges::count_if(packed, last_of_varint)));
      wire_message inner(packed, file_);
      inner.begin_ = begin_;
      inner.parent_ = this;
      inner.name_ = name;
      while (inner.at_ != inner.end_) into.push_back(static_cast<T>(inner.varint("")));
    } else {
      if (packed.size() % sizeof(T) != 0)
        fail("packed numbers have a part left over", name, "a multiple of " + std::to_string(sizeof(T)) + " bytes",
             std::to_string(packed.size()));
      into.resize(before + packed.size() / sizeof(T));
      if (!packed.empty()) std::memcpy(into.data() + before, packed.data(), packed.size());
    }
  }
  // Passes over a field of no interest.
  void skip() {
    if (type_ == kind::varint) varint("");
    else if (type_ == kind::fixed64) take(8, "");
    else if (type_ == kind::fixed32) take(4, "");
    else delimited("");
  }

  // "model.onnx, graph.node[3].attribute[0], byte 1234"
  std::string where(std::string_view name = "") const {
    std::string path(name);
    for (const wire_message* m = this; m->parent_; m = m->parent_) {
      const std::string step =
          m->index_ == not_repeated ? m->name_ : m->name_ + ("[" + std::to_string(m->index_) + "]");
      path = path.empty() ? step : step + "." + path;
    }
    return std::string(file_) + (path.empty() ? "" : ", " + path) + ", byte " + std::to_string(at_ - begin_);
  }
  [[noreturn]] void fail(std::string problem, std::string_view name = "", std::string expected = "",
                         std::string found = "") const {
    throw error(std::move(problem), where(name), std::move(expected), std::move(found));
  }

 private:
  enum class kind : std::uint8_t {
    varint = 0,
    fixed64 = 1,
    delimited = 2,
    begin_group = 3,
    end_group = 4,
    fixed32 = 5
  };

  std::size_t left() const noexcept { return static_cast<std::size_t>(end_ - at_); }

  // The outermost message ends where the file does.
  bool is_file() const noexcept { return parent_ == nullptr; }

  // The field whose content begins here says that this is `size` bytes long, which are more than are left.
  [[noreturn]] void fail_behind_end(std::uint64_t size, const char* name) const {
    const std::string end = std::to_string(end_ - begin_), bytes = std::to_string(size) + " bytes";
    if (!is_file())
      fail("field is longer than what is left of its message, which ends at byte " + end, name,
           "at most " + std::to_string(left()) + " bytes", bytes);
    fail("the file ends at byte " + end + ", inside a field that says that it has " + bytes + " from byte " +
             std::to_string(at_ - begin_) + " on: it is probably truncated",
         name);
  }

  void require(kind expected, const char* name) const {
    constexpr const char* words[] = {"a varint", "8 bytes", "a length and bytes", "", "", "4 bytes"};
    if (type_ != expected)
      fail("field is encoded as another type", name, words[static_cast<int>(expected)], words[static_cast<int>(type_)]);
  }
  // At most ten bytes of seven bits each, the lowest first.
  std::uint64_t varint(const char* name) {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      if (at_ == end_)
        fail(is_file() ? "the file ends inside a varint: it is probably truncated" : "message ends inside a varint",
             name);
      const auto b = static_cast<std::uint64_t>(*at_);
      if (shift == 63 && b > 1) fail("varint has more than 64 bits", name);
      ++at_;
      value |= (b & 0x7f) << shift;
      if (b < 0x80) return value;
    }
    return value;  // not reached: the tenth byte ends the varint or fails
  }
  const std::byte* take(std::size_t n, const char* name) {
    if (n > left()) fail_behind_end(n, name);
    at_ += n;
    return at_ - n;
  }
  template <class T> T fixed(const char* name) {
    T value;
    std::memcpy(&value, take(sizeof(T), name), sizeof(T));
    return value;
  }
  std::span<const std::byte> delimited(const char* name) {
    const std::uint64_t length = varint(name);
    if (length > left()) fail_behind_end(length, name);
    return {take(static_cast<std::size_t>(length), name), static_cast<std::size_t>(length)};
  }

  const std::byte *begin_, *at_, *end_;  // of the file; of what is left; of this message
  std::string_view file_;
  const wire_message* parent_ = nullptr;
  const char* name_ = "";
  std::size_t index_ = not_repeated, depth_ = 0;
  std::uint64_t field_ = 0;
  kind type_ = kind::varint;
};

}  // namespace dnnkit::onnx
