// SPDX-License-Identifier: MIT
// Text from a file inside generated text: one function for each kind of text. Whatever the file says, what comes back
// is one literal, or stays within its line of a comment.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "dnnkit/weights/json_header.hpp"

namespace dnnkit::generation {

constexpr bool is_printable(char c) { return c >= 0x20 && c < 0x7f; }

// A byte as a backslash and three octal digits, which end by themselves, whatever follows: C++ and assemblers agree.
inline std::string octal(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return {'\\', static_cast<char>('0' + byte / 64), static_cast<char>('0' + byte / 8 % 8),
          static_cast<char>('0' + byte % 8)};
}

// Between the quotes: printable characters of ASCII but for the quote, the backslash and, where a question mark stands
// before it, the question mark, which old compilers take for a trigraph.
inline std::string quoted(std::string_view s, char quote) {
  std::string q(1, quote);
  char before = '\0';
  for (const char c : s) {
    if (c == quote || c == '\\' || (c == '?' && before == '?')) (q += '\\') += c;
    else if (is_printable(c)) q += c;
    else q += octal(c);
    before = c;
  }
  return q + quote;
}

// An expression that a std::string_view can be made of, with the same bytes: a string literal.
inline std::string string_literal(std::string_view s) {
  const std::string q = quoted(s, '"');
  return s.find('\0') == s.npos ? q : "std::string_view(" + q + ", " + std::to_string(s.size()) + ")";
}

inline std::string character_literal(char c) { return quoted({&c, 1}, '\''); }

// A string as assemblers read it, behind .incbin and the like.
inline std::string assembly_string(std::string_view s) {
  std::string q = "\"";
  for (const char c : s) {
    if (c == '"' || c == '\\' || !is_printable(c)) q += octal(c);
    else q += c;
  }
  return q + "\"";
}

// Part of a `//` comment. What is not a printable character of ASCII is said by its number, <U+2028> or <0xff>: there
// are letters that end a line for some readers, and such that turn its direction. So is the backslash, which would make
// the next line part of the comment, and a second question mark, which may stand for one.
inline std::string comment_text(std::string_view s) {
  const auto number = [](std::string_view prefix, std::uint32_t code, int digits) {
    std::string n = "<" + std::string(prefix);
    while (digits < 6 && code >> (4 * digits) != 0) ++digits;
    while (digits-- > 0) n += "0123456789ABCDEF"[code >> (4 * digits) & 15];
    return n + ">";
  };
  std::string out;
  for (std::size_t i = 0; i < s.size();) {
    const auto byte = [&](std::size_t k) { return static_cast<std::uint32_t>(static_cast<unsigned char>(s[k])); };
    const bool plain = is_printable(s[i]) && s[i] != '\\' && !(s[i] == '?' && i > 0 && s[i - 1] == '?');
    std::size_t length = byte(i) < 0x80 ? 1 : byte(i) < 0xe0 ? 2 : byte(i) < 0xf0 ? 3 : 4;
    if (plain) out += s[i];
    else if (detail::first_invalid_utf8(s.substr(i, length)) != s.npos) {
      out += number("0x", byte(i), 2);
      length = 1;
    } else {
      std::uint32_t code = length == 1 ? byte(i) : byte(i) & (0xffu >> (length + 1));
      for (std::size_t k = 1; k < length; ++k) code = code << 6 | (byte(i + k) & 0x3f);
      out += number("U+", code, 4);
    }
    i += length;
  }
  return out;
}

}  // namespace dnnkit::generation
