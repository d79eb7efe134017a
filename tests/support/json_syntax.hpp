// SPDX-License-Identifier: MIT
// A check that a text is one JSON value and nothing else (RFC 8259), written without the library's own reader.
#pragma once

#include <cctype>
#include <cstddef>
#include <string_view>

class json_syntax {
 public:
  static bool valid(std::string_view text) {
    json_syntax j(text);
    return j.value() && (j.space(), j.at_ == text.size());
  }

 private:
  explicit json_syntax(std::string_view text) : text_(text) {}

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char c) { return peek() == c && at_ < text_.size() ? (++at_, true) : false; }
  bool word(std::string_view w) { return text_.substr(at_).starts_with(w) ? (at_ += w.size(), true) : false; }
  void space() {
    while (peek() == ' ' || peek() == '\n' || peek() == '\r' || peek() == '\t') ++at_;
  }
  bool value() {
    space();
    switch (peek()) {
      case '{':
        return list('}', [this] { return space(), string() && (space(), take(':')) && value(); });
      case '[':
        return list(']', [this] { return value(); });
      case '"':
        return string();
      default:
        return word("true") || word("false") || word("null") || number();
    }
  }
  template <class Entry> bool list(char end, Entry entry) {
    ++at_;
    space();
    if (take(end)) return true;
    do
      if (!entry()) return false;
    while (space(), take(','));
    return take(end);
  }
  bool string() {
    if (!take('"')) return false;
    while (at_ < text_.size() && peek() != '"') {
      if (static_cast<unsigned char>(peek()) < 0x20) return false;
      if (take('\\')) {
        if (take('u')) {
          for (int i = 0; i < 4; ++i, ++at_)
            if (!std::isxdigit(static_cast<unsigned char>(peek()))) return false;
          continue;
        }
        if (std::string_view("\"\\/bfnrt").find(peek()) == std::string_view::npos) return false;
      }
      ++at_;
    }
    return take('"');
  }
  bool digits() {
    const std::size_t first = at_;
    while (std::isdigit(static_cast<unsigned char>(peek()))) ++at_;
    return at_ > first;
  }
  bool number() {
    take('-');
    const bool zero = peek() == '0';
    const std::size_t first = at_;
    if (!digits() || (zero && at_ > first + 1)) return false;
    if (take('.') && !digits()) return false;
    if (take('e') || take('E')) {
      if (!take('+')) take('-');
      return digits();
    }
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};
