// SPDX-License-Identifier: MIT
// A strict, bounded reader (and escaper) for the JSON subset of a safetensors header: RFC 8259 syntax, unique keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "dnnkit/core/error.hpp"
#include "dnnkit/core/printable.hpp"

namespace dnnkit::detail {

// The position of the first byte that is not part of well-formed UTF-8 (RFC 3629), or npos.
constexpr std::size_t first_invalid_utf8(std::string_view text) {
  struct lead {
    unsigned char from, to;   // range of the first byte
    unsigned char low, high;  // range of the second byte; excludes overlong forms, surrogates, beyond U+10FFFF
    std::size_t length;
  };
  constexpr lead leads[] = {{0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
                            {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4},
                            {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4}};
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  for (std::size_t i = 0; i < text.size();) {
    if (byte(i) < 0x80) {
      ++i;
      continue;
    }
    std::size_t length = 0;
    for (const lead& row : leads)
      if (byte(i) >= row.from && byte(i) <= row.to && row.length <= text.size() - i && byte(i + 1) >= row.low &&
          byte(i + 1) <= row.high)
        length = row.length;
    for (std::size_t k = 2; k < length; ++k)
      if (byte(i + k) < 0x80 || byte(i + k) > 0xbf) return i;
    if (length == 0) return i;
    i += length;
  }
  return std::string_view::npos;
}

// `text` as a JSON string with its quotes. Characters outside ASCII stand for themselves, but for those that a terminal
// acts on; bytes that are no UTF-8, which no JSON text may have, become U+FFFD.
inline std::string json_string(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  constexpr std::string_view special = "\"\\\b\f\n\r\t", letters = "\"\\bfnrt";
  std::string out = "\"";
  for (std::size_t i = 0; i < text.size();) {
    const utf8_character c = utf8_at(text, i);
    if (const std::size_t k = special.find(text[i]); k != std::string_view::npos) {
      (out += '\\') += letters[k];
    } else if (c.bytes == 0) {
      out += "\\ufffd";
    } else if (is_control(c.code)) {
      out += "\\u";
      for (int shift = 12; shift >= 0; shift -= 4) out += digits[c.code >> shift & 15];
    } else {
      out += text.substr(i, c.bytes);
    }
    i += c.bytes == 0 ? 1 : c.bytes;
  }
  return out + '"';
}

// Walks a JSON text from front to back. Every failure is a dnnkit::error with the file, the context the caller has set
// ("tensor 'x'"), the byte of the header, what was expected there and what was found.
class json_cursor {
 public:
  json_cursor(std::string_view text, std::string file) : text_(text), file_(std::move(file)) {}

  // What the values being read belong to, for messages; empty for the header as a whole.
  void set_context(std::string context) { context_ = std::move(context); }
  std::string where() const { return context_.empty() ? file_ : file_ + ", " + context_; }

  [[noreturn]] void fail(const std::string& problem, std::string expected) const {
    throw error(problem + " at header byte " + std::to_string(at_), where(), std::move(expected), here());
  }

  // Calls member(key) once a member, with the cursor at its value, which member must consume. Keys must be unique.
  template <class Member> void object(Member&& member) {
    const nested guard(*this);
    expect('{', "an object");
    if (accept('}')) return;
    std::set<std::string, std::less<>> seen;
    do {
      skip_space();
      const std::size_t begin = at_;
      const auto [key, is_new] = seen.insert(string("a key"));
      if (!is_new) {
        at_ = begin;
        fail("key appears twice", "unique keys");
      }
      expect(':', "':' after a key");
      member(*key);
    } while (accept(','));
    expect('}', "',' or '}' after a member");
  }

  // Calls element() once an element, with the cursor at it.
  template <class Element> void array(Element&& element, std::string_view what = "an array") {
    const nested guard(*this);
    expect('[', what);
    if (accept(']')) return;
    do { element(); } while (accept(','));
    expect(']', "',' or ']' after an element");
  }

  // The characters of a string, as UTF-8.
  std::string string(std::string_view what = "a string") {
    expect('"', what);
    std::string out;
    for (;;) {
      if (at_ == text_.size()) fail(not_json, "the end of the string");
      const char c = text_[at_];
      if (static_cast<unsigned char>(c) < 0x20) fail(not_json, "control characters as escapes");
      ++at_;
      if (c == '"') return out;
      if (c == '\\') {
        append_escape(out);
      } else {
        out += c;
      }
    }
  }

  // An integer from 0 to 2^63 - 1, written without sign, fraction or exponent.
  std::int64_t natural(std::string_view what) {
    constexpr std::int64_t limit = std::numeric_limits<std::int64_t>::max();
    skip_space();
    const std::size_t begin = at_;
    const auto refuse = [&] {
      at_ = begin;
      fail(std::string(what) + " is not an integer from 0 to 2^63 - 1", "such an integer");
    };
    std::int64_t value = 0;
    while (is_digit()) {
      const std::int64_t digit = text_[at_] - '0';
      if (value > (limit - digit) / 10) refuse();
      value = value * 10 + digit;
      ++at_;
    }
    const bool leading_zero = at_ - begin > 1 && text_[begin] == '0';
    if (at_ == begin || leading_zero || is_one_of(".eE")) refuse();
    return value;
  }

  // Any one value, checked for syntax and dropped.
  void skip() {
    skip_space();
    if (is_one_of("{")) return object([this](const std::string&) { skip(); });
    if (is_one_of("[")) return array([this] { skip(); });
    if (is_one_of("\"")) return static_cast<void>(string());
    for (const std::string_view word : {"true", "false", "null"}) {
      if (text_.substr(at_, word.size()) != word) continue;
      at_ += word.size();
      return;
    }
    skip_number();
  }

  // Only white space may follow.
  void end() {
    skip_space();
    if (at_ != text_.size()) fail(not_json, "nothing but spaces after the header's object");
  }

 private:
  static constexpr const char* not_json = "header is not valid JSON";
  static constexpr int deepest = 16;  // a safetensors header needs 3 levels

  // Bounds the recursion, for the stack's sake.
  struct nested {
    explicit nested(json_cursor& c) : cursor(c) {
      if (++cursor.depth_ > deepest)
        cursor.fail("header is nested too deeply", "at most " + std::to_string(deepest) + " levels");
    }
    nested(const nested&) = delete;
    nested& operator=(const nested&) = delete;
    ~nested() { --cursor.depth_; }
    json_cursor& cursor;
  };

  bool is_digit() const { return at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; }
  bool is_one_of(std::string_view set) const {
    return at_ < text_.size() && set.find(text_[at_]) != std::string_view::npos;
  }
  void skip_space() {
    while (is_one_of(" \t\n\r")) ++at_;
  }
  bool accept(char c) {
    skip_space();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c, std::string_view what) {
    if (!accept(c)) fail(not_json, std::string(what));
  }

  // The next few characters, for a message.
  std::string here() const {
    if (at_ >= text_.size()) return "the end of the header";
    std::string next = "'";
    for (std::size_t i = at_; i < text_.size() && i < at_ + 16; ++i)
      next += text_[i] >= 0x20 && text_[i] < 0x7f ? text_[i] : '?';
    return next + "'";
  }

  void skip_digits() {
    if (!is_digit()) fail(not_json, "a value");
    while (is_digit()) ++at_;
  }
  void skip_number() {
    if (is_one_of("-")) ++at_;
    const std::size_t first = at_;
    skip_digits();
    if (text_[first] == '0' && at_ - first > 1) fail(not_json, "a number without leading zeros");
    if (is_one_of(".")) {
      ++at_;
      skip_digits();
    }
    if (is_one_of("eE")) {
      ++at_;
      if (is_one_of("+-")) ++at_;
      skip_digits();
    }
  }

  std::uint32_t four_hex_digits() {
    std::uint32_t value = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      if (!is_one_of("0123456789abcdefABCDEF")) fail(not_json, "four hexadecimal digits");
      const char c = text_[at_];
      value = value * 16 + static_cast<std::uint32_t>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return value;
  }

  void append_escape(std::string& out) {
    constexpr std::string_view letters = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
    if (is_one_of("u")) {
      ++at_;
      std::uint32_t code = four_hex_digits();
      if (code >= 0xd800 && code < 0xdc00 && text_.substr(at_, 2) == "\\u") {
        at_ += 2;
        const std::uint32_t low = four_hex_digits();
        if (low < 0xdc00 || low > 0xdfff) fail(not_json, "the second half of a surrogate pair before this");
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
      }
      if (code >= 0xd800 && code <= 0xdfff) fail(not_json, "both halves of a surrogate pair before this");
      return append_utf8(out, code);
    }
    if (!is_one_of(letters)) fail(not_json, "an escape of JSON");
    out += meanings[letters.find(text_[at_++])];
  }

  static void append_utf8(std::string& out, std::uint32_t code) {
    const auto tail = [&](unsigned shift) { out += static_cast<char>(0x80 | ((code >> shift) & 0x3f)); };
    if (code < 0x80) {
      out += static_cast<char>(code);
    } else if (code < 0x800) {
      out += static_cast<char>(0xc0 | (code >> 6)), tail(0);
    } else if (code < 0x10000) {
      out += static_cast<char>(0xe0 | (code >> 12)), tail(6), tail(0);
    } else {
      out += static_cast<char>(0xf0 | (code >> 18)), tail(12), tail(6), tail(0);
    }
  }

  std::string_view text_;
  std::string file_, context_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace dnnkit::detail
