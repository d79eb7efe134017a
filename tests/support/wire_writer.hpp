// SPDX-License-Identifier: MIT
// Messages in protobuf's wire format, written field by field: the ONNX files of tests.
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>

// wire().text(4, "Relu").integer(20, 2): the fields of one message, in this order.
class wire {
 public:
  static std::string varint(std::uint64_t x) {
    std::string s;
    for (; x >= 0x80; x >>= 7) s += static_cast<char>((x & 0x7f) | 0x80);
    return s + static_cast<char>(x);
  }
  template <class T> static std::string fixed(T x) {
    std::string s(sizeof x, '\0');
    std::memcpy(s.data(), &x, sizeof x);
    return s;
  }

  wire& tag(std::uint64_t field, std::uint64_t kind) { return raw(varint(field << 3 | kind)); }
  wire& integer(std::uint64_t field, std::int64_t x) {
    return tag(field, 0).raw(varint(static_cast<std::uint64_t>(x)));
  }
  wire& real(std::uint64_t field, float x) { return tag(field, 5).raw(fixed(x)); }
  wire& real(std::uint64_t field, double x) { return tag(field, 1).raw(fixed(x)); }
  wire& text(std::uint64_t field, std::string_view s) { return tag(field, 2).raw(varint(s.size())).raw(s); }
  wire& message(std::uint64_t field, const wire& m) { return text(field, m.bytes_); }
  wire& integers(std::uint64_t field, std::initializer_list<std::int64_t> list) {  // packed
    std::string s;
    for (const std::int64_t x : list) s += varint(static_cast<std::uint64_t>(x));
    return text(field, s);
  }
  template <class T> wire& reals(std::uint64_t field, std::initializer_list<T> list) {  // packed
    std::string s;
    for (const T x : list) s += fixed(x);
    return text(field, s);
  }
  wire& raw(std::string_view s) {
    bytes_ += s;
    return *this;
  }

  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};
