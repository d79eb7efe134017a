// SPDX-License-Identifier: MIT
// OpenCL C as it is written in constant expressions, a piece at a time.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace dnnkit::opencl {

class source_writer {
 public:
  // Into the caller's memory, `room` characters. What does not fit is left out, but counted.
  constexpr source_writer(char* to, std::size_t room) : to_(to), room_(room) {}

  // Characters of all that was to be written.
  constexpr std::size_t size() const { return size_; }

  constexpr source_writer& operator<<(std::string_view s) {
    const std::size_t n = s.size();
    if (size_ + n <= room_) {
      const char* const from = s.data();
      char* const to = to_ + size_;
      for (std::size_t i = 0; i < n; ++i) to[i] = from[i];
    }
    size_ += n;
    return *this;
  }
  constexpr source_writer& operator<<(const char* s) { return *this << std::string_view(s); }
  constexpr source_writer& operator<<(char c) { return *this << std::string_view(&c, 1); }
  template <std::integral N> constexpr source_writer& operator<<(N n) {
    char digits[24]{};
    std::size_t first = sizeof digits;
    auto rest = static_cast<std::uint64_t>(n);
    if (n < N(0)) rest = 0 - rest;
    do digits[--first] = static_cast<char>('0' + rest % 10);
    while (rest /= 10);
    if (n < N(0)) digits[--first] = '-';
    return *this << std::string_view(digits + first, sizeof digits - first);
  }
  // The very number: in hexadecimal, as text_of(0.1f) == "0x1.99999ap-4f".
  constexpr source_writer& operator<<(float x) {
    constexpr unsigned most = 255, bias = 127, mantissa_bits = 23;
    const auto bits = std::bit_cast<std::uint32_t>(x);
    const std::uint32_t exponent = bits >> mantissa_bits & most, mantissa = bits << 9;
    if (bits >> 31 != 0) *this << '-';
    if (exponent == most) return *this << (mantissa != 0 ? "NAN" : "INFINITY");
    if (exponent == 0 && mantissa == 0) return *this << "0.0f";
    *this << (exponent == 0 ? "0x0" : "0x1");
    if (mantissa != 0) *this << '.';
    for (std::uint32_t rest = mantissa; rest != 0; rest <<= 4) *this << "0123456789abcdef"[rest >> 28];
    return *this << 'p' << (exponent == 0 ? 1 : static_cast<int>(exponent)) - static_cast<int>(bias) << 'f';
  }

  // Numbers a variable that there is none of yet.
  constexpr int new_name() { return names_++; }

  // There is no text for this function of integers. The first one is remembered.
  constexpr void refuse(std::string_view function) {
    if (refused_.empty()) refused_ = function;
  }
  constexpr std::string_view refused() const { return refused_; }

 private:
  char* to_;
  std::size_t room_, size_ = 0;
  int names_ = 0;
  std::string_view refused_;
};

}  // namespace dnnkit::opencl
