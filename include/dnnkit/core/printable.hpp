// SPDX-License-Identifier: MIT
// Names and other text from files, as it may be shown: a terminal obeys what control characters say, and a file may
// hold any.
//
// Where this happens. Sentences are made of names in many places and printed in a few, so escaping where they are
// printed would catch them all; but by then a line feed of a name cannot be told from one of the sentence. So a name is
// escaped where it enters a sentence that somebody prints (import_problem, quoted(), the tool's lines), line feeds
// included, and dnnkit::error, whose what() everybody prints, escapes whatever else comes in by another way, line feeds
// excepted. Escaping twice changes nothing: a backslash stays as it is.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace dnnkit {

enum class line_feeds : bool { escaped, kept };  // with them, tabs

namespace detail {

// A character of UTF-8: its code point and how many bytes it takes; none where there is no such character.
struct utf8_character {
  std::uint32_t code = 0;
  std::size_t bytes = 0;
};
constexpr utf8_character utf8_at(std::string_view s, std::size_t i) {
  const auto byte = [&](std::size_t k) { return static_cast<std::uint32_t>(static_cast<unsigned char>(s[i + k])); };
  const std::uint32_t first = byte(0);
  if (first < 0x80) return {first, 1};
  const std::size_t bytes = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  if (bytes == 0 || bytes > s.size() - i) return {};
  std::uint32_t code = first & (0x7fu >> bytes);
  for (std::size_t k = 1; k < bytes; ++k) {
    if ((byte(k) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(k) & 0x3f);
  }
  constexpr std::array<std::uint32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  if (code < least[bytes] || code > 0x10ffff || surrogate) return {};
  return {code, bytes};
}

// Characters that a terminal acts on: those of ASCII, their 8-bit siblings, and those that turn the direction of text.
constexpr bool is_control(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c || (code >= 0x200e && code <= 0x200f) ||
         (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

}  // namespace detail

// `s` with each byte of control characters, and of what is no UTF-8, as \x and two digits: "a\x1b[31m".
inline std::string printable(std::string_view s, line_feeds feeds = line_feeds::escaped) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  text.reserve(s.size());
  for (std::size_t i = 0; i < s.size();) {
    const detail::utf8_character c = detail::utf8_at(s, i);
    const std::size_t bytes = c.bytes == 0 ? 1 : c.bytes;
    const bool kept = feeds == line_feeds::kept && (s[i] == '\n' || s[i] == '\t');
    if (kept || (c.bytes != 0 && !detail::is_control(c.code))) {
      text += s.substr(i, bytes);
    } else {
      for (std::size_t k = 0; k < bytes; ++k) {
        const auto byte = static_cast<unsigned char>(s[i + k]);
        (text += "\\x") += digits[byte >> 4];
        text += digits[byte & 15];
      }
    }
    i += bytes;
  }
  return text;
}

}  // namespace dnnkit
