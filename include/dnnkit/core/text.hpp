// SPDX-License-Identifier: MIT
// Short texts made in constant expressions (error messages, reasons), and their way into a template argument.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace dnnkit {

// A text of at most 255 characters; what does not fit is cut off and ends in "...".
struct text {
  static constexpr std::size_t capacity = 255;

  constexpr text() = default;
  constexpr text(std::string_view s) { *this << s; }
  constexpr text(const char* s) { *this << std::string_view(s); }

  constexpr text& operator<<(std::string_view s) {
    const char* const from = s.data();
    const std::size_t size = s.size(), room = capacity - length, n = size < room ? size : room;
    char* const to = chars + length;
    for (std::size_t i = 0; i < n; ++i) to[i] = from[i];
    length += n;
    if (n < size)
      for (std::size_t i = capacity - 3; i < capacity; ++i) chars[i] = '.';
    return *this;
  }
  constexpr text& operator<<(const char* s) { return *this << std::string_view(s); }
  constexpr text& operator<<(std::int64_t n) {
    constexpr std::size_t most_digits = 24;
    char digits[most_digits]{};
    std::size_t i = most_digits;
    std::uint64_t rest = n < 0 ? 0 - static_cast<std::uint64_t>(n) : static_cast<std::uint64_t>(n);
    do digits[--i] = static_cast<char>('0' + rest % 10);
    while (rest /= 10);
    if (n < 0) digits[--i] = '-';
    return *this << std::string_view(digits + i, most_digits - i);
  }
  constexpr text& operator<<(int n) { return *this << std::int64_t{n}; }
  constexpr text& operator<<(std::size_t n) { return *this << static_cast<std::int64_t>(n); }
  constexpr text& operator<<(const text& t) { return *this << t.view(); }

  constexpr bool empty() const { return length == 0; }
  constexpr std::string_view view() const { return {chars, length}; }
  constexpr operator std::string_view() const { return view(); }
  std::string str() const { return std::string(view()); }
  friend constexpr bool operator==(const text& a, const text& b) { return a.view() == b.view(); }

  char chars[capacity]{};
  std::size_t length = 0;
};

// The error of a model in which a static assertion has named the mistake already.
inline constexpr std::string_view said_by_compiler = "a static assertion says what is wrong";

// A string as a template argument: compilers print it when they report an error in the template.
template <std::size_t N> struct fixed_string {
  constexpr fixed_string() = default;
  constexpr fixed_string(const char (&s)[N]) {
    for (std::size_t i = 0; i < N; ++i) chars[i] = s[i];
  }
  constexpr std::string_view view() const { return {chars, N - 1}; }
  char chars[N]{};
};

template <std::size_t N> constexpr fixed_string<N + 1> to_fixed(std::string_view first_characters) {
  fixed_string<N + 1> s;
  for (std::size_t i = 0; i < N; ++i) s.chars[i] = first_characters[i];
  s.chars[N] = '\0';  // it is zero, but clang shows as text only what ends in a zero that was written
  return s;
}

}  // namespace dnnkit
